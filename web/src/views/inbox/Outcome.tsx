// What a decision changed, with the event in the chain that proves it.

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
    staleTime: Infinity,
  });
  return (
    <section className="outcome" aria-label="What happened">
      <h2 className={isApproved ? "outcome-done" : "outcome-failed"}>
        <Icon name={isApproved ? "check" : "close"} />
        {isApproved ? "Approved" : "Denied"} by {names.actor(decision.actor_id)} <Time at={decision.created_at} />
      </h2>
      <ul>
        <li>{changed(decision, outcome, document)}</li>
        {outcome?.rebased && <li>The text had moved on since, so the lines were put under their heading anew.</li>}
        {outcome?.task_status && <li>The task is now {words(outcome.task_status).toLowerCase()}.</li>}
        {outcome?.execution?.launched_job_ids.map((job) => (
          <li key={job}>
            Started the job <JobLink workspace={workspace} dir={dir} project={decision.project_id} job={job} />
          </li>
        ))}
        {outcome?.execution && (
          <li>
            {outcome.execution.executed_actions} done, {outcome.execution.deduped_actions} done before,{" "}
            {outcome.execution.skipped_actions} left, {outcome.execution.queued_for_approval} waiting for another
            approval
          </li>
        )}
        {decision.notes && <li>Note: {decision.notes}</li>}
        <li>
          Review <span className="mono">{shortId(decision.review_id)}</span>
          {run && event && (
            <>
              , <Link to={at.run(workspace, decision.project_id, run, event.seq)}>event {event.seq} of its run</Link>
              {event.presence && `, decided ${event.presence}`}
            </>
          )}
        </li>
      </ul>
    </section>
  );
}

/** The event that tells of a decision: its place and how the person was present. */
interface DecisionEvent {
  seq: number;
  presence: string;
}

/** None if the run has no log any more. */
async function eventOf(dir: string, { project_id, run_id, review_id }: InboxDecision): Promise<DecisionEvent | null> {
  // The list is that of the index, which may not have the newest events yet.
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

/** How the person who decided was present, in words; blank if the event does not say it. */
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
    return isApproved ? "The departments may give their workers tasks." : "Nobody gets a task for this plan.";
  }
  switch (decision.subject_kind) {
    case "memory_delta":
      return isApproved
        ? `${document.text("target_file")} has the lines below.`
        : `${document.text("target_file")} was not changed.`;
    case "milestone":
      return isApproved ? `The milestone is ${outcome?.milestone_status ?? "done"}.` : "The milestone stays as it was.";
    default:
      return isApproved ? "The action below was carried out." : "The action below was not carried out.";
  }
}
