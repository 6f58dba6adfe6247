// The text that comes from above, for reading only, and where it comes from.

import type { ThreadAgentsDocResolvedPayload } from "@accord/client";
import { address } from "../../address.ts";
import { Editor } from "../../editor/Editor.tsx";
import { Link } from "../../router.tsx";
import { sourceName } from "./source.ts";

export function Inherited({ workspace, inherited }: { workspace: string; inherited: ThreadAgentsDocResolvedPayload }) {
  return (
    <section className="inherited" aria-label="Inherited text">
      <p>
        Until something is written here, threads follow{" "}
        <Link to={address.agentsDoc(workspace, inherited.source_folder_id)}>{sourceName(inherited)}</Link>, version{" "}
        {inherited.doc.version}
      </p>
      <Editor label={`Inherited from ${sourceName(inherited)}, read only`} value={inherited.doc.content} readOnly />
    </section>
  );
}
