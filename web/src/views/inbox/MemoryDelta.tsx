// A proposed addition to the memory of a project or the guidance of an agent, with its evidence.

import { Patch } from "../../parts/Patch.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import { shortId } from "../company/names.ts";
import { JobLink, RunLink } from "../company/RunLink.tsx";
import type { ProposalProps, ProposedDocument } from "./document.ts";

export function MemoryDelta({ document, workspace, dir, names, isDecided }: ProposalProps) {
  // Shows the patch file, because approval applies the patch and not the description in the document.
  const [patch] = document.files("patch");
  const isGuidance = document.text("scope_kind") === "agent_guidance";
  return (
    <>
      <p className="proposal-lead">
        {names.actor(document.text("produced_by"))} {isDecided ? "proposed" : "proposes"} an addition to{" "}
        {isGuidance ? (
          <>
            the guidance of{" "}
            <Link to={at.agent(workspace, document.text("scope_ref"))}>{names.actor(document.text("scope_ref"))}</Link>
          </>
        ) : (
          <>
            the memory of <Link to={at.project(workspace, document.project)}>{names.project(document.project)}</Link>
          </>
        )}
        {document.text("rationale") && <>. Reason: {document.text("rationale")}</>}
      </p>
      {patch?.text ? (
        <Patch text={patch.text} />
      ) : (
        <p className="muted">The patch is missing, so approving changes nothing.</p>
      )}
      {patch?.truncated && <p className="muted">Only the first MiB of the patch is shown.</p>}
      <Evidence document={document} workspace={workspace} dir={dir} />
    </>
  );
}

function Evidence({ document, workspace, dir }: { document: ProposedDocument; workspace: string; dir: string }) {
  const evidence = document.list("evidence");
  if (evidence.length === 0) return null;
  return (
    <section className="block">
      <h2>Evidence</h2>
      <ul className="plain-lines">
        {evidence.map((one) => (
          <li key={one}>
            {one.startsWith("run:") ? (
              <>
                Run <RunLink workspace={workspace} dir={dir} project={document.project} run={one.slice(4)} />
              </>
            ) : one.startsWith("job:") ? (
              <>
                Job <JobLink workspace={workspace} dir={dir} project={document.project} job={one.slice(4)} />
              </>
            ) : (
              <Link to={at.document(workspace, document.project, one)}>Document {shortId(one)}</Link>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
