// The plan of a project that came in from a client: what approving allows, and the plan itself.

import { useCall } from "../../data/calls.ts";
import { Markdown } from "../../parts/Markdown.tsx";
import { Await } from "../../parts/states.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import { body, withoutTitle } from "../company/Code.tsx";
import { ME } from "../company/me.ts";
import type { ProposalProps, ProposedDocument } from "./document.ts";

/** The executive plan a proposal is about, if it is about one. */
export function executivePlanOf(document: ProposedDocument): string | undefined {
  return /(?:^|[\s,;])executive_plan_artifact_id=(\w+)/.exec(document.text("rationale"))?.[1];
}

export function PlanApproval({ document, plan, workspace, dir, names, isDecided }: ProposalProps & { plan: string }) {
  const { project } = document;
  const query = useCall("artifact.read", { workspace_dir: dir, project_id: project, artifact_id: plan, ...ME });
  return (
    <>
      <p className="proposal-lead">
        {isDecided ? "The decision was about" : "Approving opens the gate for"}{" "}
        <Link to={at.document(workspace, project, plan)}>the executive plan</Link> of{" "}
        <Link to={at.pipeline(workspace, project)}>{names.project(project)}</Link>
        {!isDecided && ": its departments may then give their workers tasks. Nothing else changes."}
      </p>
      <section className="block">
        <h2>The plan</h2>
        <Await query={query}>{({ markdown }) => <Markdown text={withoutTitle(body(markdown))} />}</Await>
      </section>
    </>
  );
}
