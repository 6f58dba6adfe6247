// The approval of the executive plan of a client intake.

import { Markdown } from "../../parts/Markdown.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import { body, withoutTitle } from "../company/Code.tsx";
import type { ProposalProps, ProposedDocument } from "./document.ts";

/** Returns the id of the executive plan that a proposal refers to; undefined if it refers to none. */
export function executivePlanOf(document: ProposedDocument): string | undefined {
  return /(?:^|[\s,;])executive_plan_artifact_id=(\w+)/.exec(document.text("rationale"))?.[1];
}

export function PlanApproval({ document, plan, workspace, names, isDecided }: ProposalProps & { plan: string }) {
  const { project } = document;
  const text = document.files("plan").find(({ relpath }) => relpath.endsWith(`/${plan}.md`))?.text;
  return (
    <>
      <p className="proposal-lead">
        {isDecided ? "Decision on" : "Approve"}{" "}
        <Link to={at.document(workspace, project, plan)}>the executive plan</Link> for{" "}
        <Link to={at.pipeline(workspace, project)}>{names.project(project)}</Link>
        {!isDecided && " to let its departments assign tasks. Nothing else changes."}
      </p>
      <section className="block">
        <h2>Plan</h2>
        {text ? <Markdown text={withoutTitle(body(text))} /> : <p className="muted">The plan is missing.</p>}
      </section>
    </>
  );
}
