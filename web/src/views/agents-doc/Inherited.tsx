// The inherited text, read only, with its source.

import type { ThreadAgentsDocResolvedPayload } from "@accord/client";
import { address } from "../../address.ts";
import { Editor } from "../../editor/Editor.tsx";
import { Link } from "../../router.tsx";
import { sourceName } from "./source.ts";

export function Inherited({ workspace, inherited }: { workspace: string; inherited: ThreadAgentsDocResolvedPayload }) {
  return (
    <section className="inherited" aria-label="Inherited text">
      <p>
        This file is empty. Threads here use{" "}
        <Link to={address.agentsDoc(workspace, inherited.source_folder_id)}>{sourceName(inherited)}</Link>, version{" "}
        {inherited.doc.version}
      </p>
      <Editor label={`Inherited from ${sourceName(inherited)}, read only`} value={inherited.doc.content} readOnly />
    </section>
  );
}
