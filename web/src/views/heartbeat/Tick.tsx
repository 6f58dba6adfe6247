// The result of a heartbeat: woken workers with reasons, and the scores of all workers.

import "../company/card.css";
import type { HeartbeatCandidate, HeartbeatTickResponse } from "@accord/client";
import { Status } from "../../parts/Status.tsx";
import { Table } from "../../parts/Table.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import { words, type Names } from "../company/names.ts";

interface Props {
  tick: HeartbeatTickResponse;
  names: Names;
  workspace: string;
}

export function Wakes({ tick, names, workspace }: Props) {
  if (tick.woken_workers.length === 0) {
    return <p className="muted">No worker reached the minimum wake score.</p>;
  }
  return (
    <div className="cards">
      {tick.woken_workers.map((wake) => {
        const job = tick.jobs_submitted.find(({ worker_agent_id }) => worker_agent_id === wake.worker_agent_id);
        return (
          <section key={wake.worker_agent_id} className="card">
            <h3 className="card-title">
              <Link to={at.agent(workspace, wake.worker_agent_id)}>{names.actor(wake.worker_agent_id)}</Link>
              <span>Score {wake.score}</span>
            </h3>
            <ul>
              {wake.reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
            <p className="card-line">
              {wake.project_id && <span>{names.project(wake.project_id)}</span>}
              <span>starts after {wake.jitter_seconds} s</span>
              {job && <Link to={at.job(workspace, job.project_id, job.job_id)}>View job</Link>}
            </p>
          </section>
        );
      })}
    </div>
  );
}

const COLUMNS: { title: string; points: keyof HeartbeatCandidate["components"] }[] = [
  { title: "New signals", points: "new_signal_points" },
  { title: "Due soon", points: "due_points" },
  { title: "Overdue", points: "overdue_points" },
  { title: "Stuck", points: "stuck_points" },
  { title: "Recently OK", points: "recent_ok_penalty" },
  { title: "Quiet hours", points: "quiet_hours_penalty" },
];

export function Candidates({ tick, names, workspace }: Props) {
  const woken = new Set(tick.woken_workers.map(({ worker_agent_id }) => worker_agent_id));
  const rows = [...tick.candidates].sort((a, b) => b.score - a.score);
  return (
    <Table
      label="Evaluated workers"
      columns={[
        "Worker",
        { title: "Score", as: "number" },
        { title: "Decision", as: "wide" },
        ...COLUMNS.map(({ title }) => ({ title, as: "number" as const })),
      ]}
    >
      {rows.map((row) => (
        <tr key={row.worker_agent_id}>
          <td>
            <Link to={at.agent(workspace, row.worker_agent_id)}>{names.actor(row.worker_agent_id)}</Link>
          </td>
          <td className="number">
            <strong>{row.score}</strong>
          </td>
          <td className="wide">
            {woken.has(row.worker_agent_id) ? (
              <Status meaning="running">{tick.dry_run ? "Would be woken" : "Woken"}</Status>
            ) : (
              <Status meaning="idle">
                {row.suppressed ? words(row.suppression_reason ?? "suppressed") : "Not woken"}
              </Status>
            )}
          </td>
          {COLUMNS.map(({ title, points }) => (
            <td key={title} className="number">
              {row.components[points] || <span className="muted">0</span>}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}
