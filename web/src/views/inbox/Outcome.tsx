// The outcome of a decision, with a link to its event.

import type { InboxDecision, InboxResolveResponse } from "@accord/client";
import { useQuery } from "@tanstack/react-query";
import { call } from "../../data/calls.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import { shortId, words, type Names } from "../company/names.ts";
import { JobLink } from "../company/RunLink.tsx";
import type { ProposedDocument } from "./document.ts";
import { executivePlanOf } from "./PlanApproval.tsx";

export function Outcome({
  workspace,
  dir,
  decision,
  outcome,
  names,
  document,
}: {
  workspace: string;
  dir: string;
  decision: InboxDecision;
  outcome: InboxResolveResponse | undefined;
  names: Names;
  document: ProposedDocument;
}) {
  const isApproved = decision.decision === "approved";
  const run = decision.run_id;
  const { data: event } = useQuery({
    queryKey: ["event of a review", dir, decision.review_id],
    queryFn: () => eventOf(dir, decision),
    enabled: Boolean(run),
    // The event of a decision never changes.
    staleTime: Infinity,
  });
  return (
    <section className="outcome" aria-label="Outcome">
      <h2 className={isApproved ? "outcome-done" : "outcome-failed"}>
        <Icon name={isApproved ? "check" : "close"} />
        {isApproved ? "Approved" : "Denied"} by {names.actor(decision.actor_id)} <Time at={decision.created_at} />
      </h2>
      <ul>
        <li>{changed(decision, outcome, document)}</li>
        {outcome?.rebased && <li>The target file had changed, so the lines were added again under their heading.</li>}
        {outcome?.task_status && <li>The task is now {words(outcome.task_status).toLowerCase()}.</li>}
        {outcome?.execution?.launched_job_ids.map((job) => (
          <li key={job}>
            Started job <JobLink workspace={workspace} dir={dir} project={decision.project_id} job={job} />
          </li>
        ))}
        {outcome?.execution && (
          <li>
            {outcome.execution.executed_actions} executed, {outcome.execution.deduped_actions} already done,{" "}
            {outcome.execution.skipped_actions} skipped, {outcome.execution.queued_for_approval} waiting for approval
          </li>
        )}
        {decision.notes && <li>Note: {decision.notes}</li>}
        <li>
          Review <span className="mono">{shortId(decision.review_id)}</span>
          {run && event && (
            <>
              , <Link to={at.run(workspace, decision.project_id, run, event.seq)}>event {event.seq} of the run</Link>
              {event.presence && `, decided ${event.presence}`}
            </>
          )}
        </li>
      </ul>
    </section>
  );
}

/** The event of a decision: its position in the log, and how the person was connected. */
interface DecisionEvent {
  seq: number;
  presence: string;
}

/** Returns the event of a decision; null if the log of the run no longer exists. */
async function eventOf(dir: string, { project_id, run_id, review_id }: InboxDecision): Promise<DecisionEvent | null> {
  // The index may not contain the newest events yet.
  await call("index.sync", { workspace_dir: dir });
  const events = await call("index.list_events", {
    workspace_dir: dir,
    project_id,
    run_id: run_id ?? "",
    type: "approval.decided",
  });
  const event = events.find(({ payload_json }) => payload_json.includes(review_id));
  return event?.seq ? { seq: event.seq, presence: presenceIn(event.payload_json) } : null;
}

/** Describes how the person was connected; blank if the event does not contain it. */
function presenceIn(payload: string): string {
  const { presence } = JSON.parse(payload) as { presence?: { via?: string; token?: { name?: string } } };
  switch (presence?.via) {
    case "desktop":
      return "on the desktop";
    case "terminal":
      return "in a terminal";
    case "token":
      return `with the token ${presence.token?.name ?? ""}`.trim();
    default:
      return "";
  }
}

function changed(
  decision: InboxDecision,
  outcome: InboxResolveResponse | undefined,
  document: ProposedDocument,
): string {
  const isApproved = decision.decision === "approved";
  if (executivePlanOf(document)) {
    return isApproved ? "Departments can now assign tasks." : "No tasks are assigned for this plan.";
  }
  switch (decision.subject_kind) {
    case "memory_delta":
      return isApproved
        ? `${document.text("target_file")} was changed as shown below.`
        : `${document.text("target_file")} was not changed.`;
    case "milestone":
      return isApproved ? `The milestone is ${outcome?.milestone_status ?? "done"}.` : "The milestone was not changed.";
    default:
      return isApproved ? "The action below was executed." : "The action below was not executed.";
  }
}
