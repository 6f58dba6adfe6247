// The preview of a launch: policy, queue, budget and command.

import type { CompanySessionExplanation } from "@accord/client";
import { Icon } from "../../parts/Icon.tsx";
import { count } from "../../parts/size.ts";
import { Status } from "../../parts/Status.tsx";
import { meaningOf } from "../company/meaning.ts";
import { Code } from "../company/Code.tsx";

const hours = (ms: number) =>
  ms >= 3_600_000 ? `${Math.round(ms / 360_000) / 10} h` : `${Math.round(ms / 60_000)} min`;

export function Explanation({ explained }: { explained: CompanySessionExplanation }) {
  const { would_launch, refusal, policy, lane, budget, command, instructions } = explained;
  const isFree = lane.queue_position == null;
  return (
    <section className="explained" aria-label="Preview">
      <div className={would_launch ? "notice done" : "notice failed"}>
        <Icon name={would_launch ? "check" : "alert"} />
        <span>
          {would_launch ? (isFree ? "Starts immediately." : `Queued at position ${lane.queue_position}.`) : refusal}
        </span>
      </div>
      <dl className="facts">
        <dt>Policy</dt>
        <dd>
          <Status meaning={policy.allowed ? "done" : "failed"}>
            {policy.allowed ? "Allowed" : "Denied"} by {policy.rule_id} ({policy.reason.replace(/_/g, " ")})
          </Status>
        </dd>
        <dt>Queue</dt>
        <dd>
          {lane.running} of {lane.workspace_limit} slots in use; limit {lane.provider_limit} for {lane.provider}
          {lane.team_id && <>, {lane.team_limit} for the team</>}
          {lane.cooldown_until && (
            <>
              ; {lane.provider} is rate limited until {lane.cooldown_until}
            </>
          )}
        </dd>
        <dt>Budget</dt>
        <dd>
          {budget.length === 0 && "No limit"}
          {budget.map(({ scope, metric, severity, actual, threshold, result }) => (
            <div key={scope + metric + severity}>
              <Status meaning={meaningOf(result)}>
                {scope}: {count(actual)} of {count(threshold)} {metric === "tokens" ? "tokens" : "USD"} ({severity})
              </Status>
            </div>
          ))}
        </dd>
        {command && (
          <>
            <dt>Working directory</dt>
            <dd className="mono">{command.worktree_relpath ?? command.cwd}</dd>
            <dt>Timeout</dt>
            <dd>
              {hours(command.timeout_ms)}, or {hours(command.idle_timeout_ms)} without output
            </dd>
            <dt>Instructions</dt>
            <dd>{instructions.map(({ path }) => path).join(", ") || "Prompt only"}</dd>
          </>
        )}
      </dl>
      {command && <Code text={command.argv.join(" ")} label="Command" />}
    </section>
  );
}
