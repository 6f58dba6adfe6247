// The plan of a project that came in from a client: what approving allows, and the plan itself.

import { Markdown } from "../../parts/Markdown.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import { body, withoutTitle } from "../company/Code.tsx";
import type { ProposalProps, ProposedDocument } from "./document.ts";

/** The executive plan a proposal is about, if it is about one. */
export function executivePlanOf(document: ProposedDocument): string | undefined {
  return /(?:^|[\s,;])executive_plan_artifact_id=(\w+)/.exec(document.text("rationale"))?.[1];
}

export function PlanApproval({ document, plan, workspace, names, isDecided }: ProposalProps & { plan: string }) {
  const { project } = document;
  const text = document.files("plan").find(({ relpath }) => relpath.endsWith(`/${plan}.md`))?.text;
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
        {text ? <Markdown text={withoutTitle(body(text))} /> : <p className="muted">The plan is not there.</p>}
      </section>
    </>
  );
}
