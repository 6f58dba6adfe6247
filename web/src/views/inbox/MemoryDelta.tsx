// Lines for the memory of a project or the guidance of an agent: where they go and what they are based on.

import { Diff } from "../../parts/Diff.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import { firstCode } from "../company/Code.tsx";
import { shortId } from "../company/names.ts";
import { JobLink, RunLink } from "../company/RunLink.tsx";
import type { ProposalProps, ProposedDocument } from "./document.ts";

/** The line of the heading and the lines that go below it, as the document says them. */
function insertion(markdown: string): { heading: string; lines: string } {
  const heading = /inserted_under:\s*`?([^`\n]+)`?/.exec(markdown)?.[1]?.trim() ?? "";
  return { heading, lines: firstCode(markdown) };
}

export function MemoryDelta({ document, workspace, dir, names, isDecided }: ProposalProps) {
  const { heading, lines } = insertion(document.markdown);
  const target = document.text("target_file");
  const isGuidance = document.text("scope_kind") === "agent_guidance";
  return (
    <>
      <p className="proposal-lead">
        {names.actor(document.text("produced_by"))} {isDecided ? "wanted" : "wants"} to add to{" "}
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
        {document.text("rationale") && <>, because: {document.text("rationale")}</>}
      </p>
      <Diff before={heading} after={`${heading}\n${lines}`} label={target} />
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
