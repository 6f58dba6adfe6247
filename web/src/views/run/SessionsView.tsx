// The processes of runs with their status and queue position.

import "../company/company.css";
import "./run.css";
import type { CompanySessionRow } from "@accord/client";
import { Page } from "../../app/Page.tsx";
import { attempt, call, invalidate, useCall } from "../../data/calls.ts";
import { reworded } from "../../data/wording.ts";
import { Button } from "../../parts/Button.tsx";
import { Await, Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table } from "../../parts/Table.tsx";
import { Time, useNow } from "../../parts/Time.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { jobIdOf, useJobsOf } from "../company/jobs.ts";
import { attemptStanding, standingOf } from "../company/meaning.ts";
import { runName, useNames } from "../company/names.ts";
import { useNew } from "../company/new.ts";
import { CancelJob } from "../job/CancelJob.tsx";
import { LaunchDialog } from "./LaunchDialog.tsx";
import { queueOf, queueReason, queueWords } from "./queue.ts";

/** The polling interval of the queue in milliseconds; no event reports queue positions. */
const LOOK = 5_000;

export default function SessionsView({ workspace, dir }: CompanyViewProps) {
  const names = useNames(dir);
  const query = useCall("session.list", { workspace_dir: dir }, { everyMs: LOOK });
  const runs = useCall("run.list", { workspace_dir: dir }).data;
  const [isLaunching, setLaunching] = useNew();
  const jobOf = useJobsOf(dir, query.data);
  const runOf = (run: string) => runs?.find(({ run_id }) => run_id === run);
  const launch = (
    <Button kind="primary" icon="play" onClick={() => setLaunching(true)}>
      Start run
    </Button>
  );
  const stop = (session: CompanySessionRow) =>
    attempt("Stopping", async () => {
      await call("session.stop", { session_ref: session.session_ref, workspace_dir: dir });
      invalidate(["session.list"]);
    });
  return (
    <Page
      title="Processes"
      back={at.runs(workspace)}
      crumbs={[{ label: "Runs", to: at.live(workspace) }]}
      actions={launch}
    >
      <Await query={query}>
        {(sessions) =>
          sessions.length === 0 ? (
            <Empty icon="run" title="No runs yet" action={launch}>
              A run starts a worker or a shell command. Policy and budget limits apply to every run. Its process appears
              here.
            </Empty>
          ) : (
            <div className="wide-column">
              <Table
                label="Processes"
                columns={[
                  "Status",
                  { title: "Run", as: "wide" },
                  "Agent",
                  "Project",
                  "Started",
                  { title: "Duration", as: "number" },
                  { title: "Result", as: "wide" },
                  { title: "Actions", as: "unsaid" },
                ]}
              >
                {sessions.map((session) => (
                  <tr key={session.session_ref}>
                    <td>
                      <SessionStatus session={session} jobOf={jobOf} />
                    </td>
                    <td className="wide">
                      <Link className="run-name" to={at.run(workspace, session.project_id, session.run_id)}>
                        {runName(runOf(session.run_id), names)}
                      </Link>
                      <QueueNote session={session} />
                    </td>
                    <td>{names.actor(runOf(session.run_id)?.agent_id)}</td>
                    <td>{names.project(session.project_id)}</td>
                    <td className="muted">
                      <Time at={session.started_at_ms / 1000} />
                    </td>
                    <td className="number">
                      <Took from={session.started_at_ms} to={session.ended_at_ms} />
                    </td>
                    <td className="wide muted">
                      {(session.error && reworded(session.error)) ??
                        session.signal ??
                        (session.exit_code == null ? "" : `exit code ${session.exit_code}`)}
                    </td>
                    <td>
                      {session.status === "running" && (
                        <End session={session} dir={dir} onStop={() => void stop(session)} />
                      )}
                    </td>
                  </tr>
                ))}
              </Table>
            </div>
          )
        }
      </Await>
      {isLaunching && names.isKnown && (
        <LaunchDialog workspace={workspace} dir={dir} names={names} onClose={() => setLaunching(false)} />
      )}
    </Page>
  );
}

function SessionStatus({ session, jobOf }: { session: CompanySessionRow; jobOf: ReturnType<typeof useJobsOf> }) {
  const { status, session_ref, run_id } = session;
  const queue = queueOf(session);
  if (queue) return <Status meaning="waiting">{queueWords(queue)}</Status>;
  const { meaning, word } = jobIdOf(session_ref) ? attemptStanding(status, run_id, jobOf(run_id)) : standingOf(status);
  return <Status meaning={meaning}>{word}</Status>;
}

/** The reason why a session is queued. */
function QueueNote({ session }: { session: CompanySessionRow }) {
  const queue = queueOf(session);
  const reason = queue && queueReason(queue);
  return reason ? <p className="queue-note">{reason}</p> : null;
}

function End({ session, dir, onStop }: { session: CompanySessionRow; dir: string; onStop: () => void }) {
  const job = jobIdOf(session.session_ref);
  if (job) return <CancelJob dir={dir} project={session.project_id} job={job} />;
  return (
    <Button kind="danger" onClick={onStop}>
      Stop
    </Button>
  );
}

function Took({ from, to }: { from: number; to: number | null | undefined }) {
  const now = useNow();
  const milliseconds = Math.max(0, (to ?? now) - from);
  if (milliseconds < 10_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
