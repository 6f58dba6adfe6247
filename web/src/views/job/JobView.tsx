// A job: its goal, result and attempts.

import "../company/company.css";
import type { CompanySessionRow, JobAttempt, JobPollResponse } from "@accord/client";
import { Page } from "../../app/Page.tsx";
import { attempt, call, invalidate, useCall } from "../../data/calls.ts";
import { reworded } from "../../data/wording.ts";
import { Button } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Markdown } from "../../parts/Markdown.tsx";
import { Await } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { isOver } from "../company/jobs.ts";
import { attemptStanding, jobStatusOf, meaningOf, standingOf } from "../company/meaning.ts";
import { jobName, shortId, useNames, words } from "../company/names.ts";
import { queueOf, queueReason } from "../run/queue.ts";

/** The polling interval in milliseconds. */
const LOOK = 3_000;

export default function JobView({ workspace, dir, params }: CompanyViewProps) {
  const where = { workspace_dir: dir, project_id: params["project"] ?? "", job_id: params["job"] ?? "" };
  const names = useNames(dir);
  const query = useCall("job.collect", where, { everyMs: LOOK });
  const isDone = query.data !== undefined && isOver(query.data);
  const last = query.data?.attempts.at(-1);
  const sessions = useCall(
    "session.list",
    { workspace_dir: dir, run_id: last?.run_id ?? "" },
    { enabled: last !== undefined && !isDone, everyMs: LOOK },
  ).data;
  const session = sessions?.find(({ session_ref }) => session_ref === last?.session_ref);
  const queue = isDone ? undefined : queueOf(session);
  const cancel = () =>
    attempt("Canceling the job", async () => {
      await call("job.cancel", where);
      invalidate(["job.collect", "job.list"], { workspace_dir: dir });
    });
  return (
    <Page
      title={query.data ? jobName(query.data) : shortId(where.job_id)}
      back={at.jobs(workspace)}
      crumbs={[
        { label: "Runs", to: at.live(workspace) },
        { label: "Jobs", to: at.jobs(workspace) },
      ]}
      state={query.data && <JobStatus job={query.data} session={session} />}
      actions={
        query.data &&
        !isDone && (
          <Button kind="danger" icon="stop" disabled={query.data.cancellation_requested} onClick={() => void cancel()}>
            {query.data.cancellation_requested ? "Canceling…" : "Cancel job"}
          </Button>
        )
      }
    >
      <Await query={query}>
        {({ result, attempts, heartbeat_report, goal }) => (
          <div className="wide-column">
            {queue && (
              <p className="notice waiting">
                <Icon name="history" />
                <span>{["The current attempt is queued", queueReason(queue)].filter(Boolean).join(": ")}.</span>
              </p>
            )}
            {goal && (
              <section className="block">
                <h2>Goal</h2>
                <Markdown text={goal} />
              </section>
            )}
            {result ? (
              <section className="block stack">
                <h2>
                  Result <Status meaning={meaningOf(result.status)}>{words(result.status)}</Status>
                </h2>
                <p>{reworded(result.summary)}</p>
                {result.errors.map(({ code, message }) => (
                  <p key={code + message} className="notice failed">
                    <Icon name="alert" />
                    <span>
                      {reworded(message)} <span className="mono">{code}</span>
                    </span>
                  </p>
                ))}
                <Lines
                  title="Files changed"
                  list={result.files_changed.map(({ path, change_type }) => `${path} ${change_type ?? ""}`)}
                />
                <Lines
                  title="Commands"
                  list={result.commands_run.map(({ command, exit_code }) => `${command}  → ${exit_code ?? "?"}`)}
                />
                <Lines title="Next steps" list={result.next_actions.map(({ action }) => action)} />
              </section>
            ) : (
              <p className="muted">No result yet. It appears here when the worker finishes.</p>
            )}
            {heartbeat_report && <p className="notice">{heartbeat_report.summary}</p>}
            <section className="block">
              <h2>Attempts</h2>
              {attempts.length === 0 && <p className="muted">No attempts yet.</p>}
              <ul className="lines">
                {attempts.map((one) => (
                  <li key={one.run_id} className="line-row">
                    <Link className="line" to={at.run(workspace, where.project_id, one.run_id)}>
                      <AttemptStatus
                        attempt={one}
                        job={query.data}
                        isQueued={queue !== undefined && one.run_id === last?.run_id}
                      />
                      <span className="line-text">{one.error ? reworded(one.error) : `Attempt ${one.attempt}`}</span>
                      <span className="muted">
                        {names.actor(one.worker_agent_id)} on {one.worker_kind}
                      </span>
                      <Time at={one.started_at} />
                    </Link>
                    <Link className="line-more" to={at.output(workspace, where.project_id, one.run_id)}>
                      Full output
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          </div>
        )}
      </Await>
    </Page>
  );
}

function JobStatus({ job, session }: { job: JobPollResponse; session: CompanySessionRow | undefined }) {
  const { meaning, word } = standingOf(jobStatusOf(job, session));
  return <Status meaning={meaning}>{word}</Status>;
}

function AttemptStatus({
  attempt: { status, run_id },
  job,
  isQueued,
}: {
  attempt: JobAttempt;
  job: JobPollResponse | undefined;
  isQueued: boolean;
}) {
  const { meaning, word } = isQueued ? standingOf("queued") : attemptStanding(status, run_id, job);
  return <Status meaning={meaning}>{word}</Status>;
}

function Lines({ title, list }: { title: string; list: string[] }) {
  if (list.length === 0) return null;
  return (
    <div>
      <h3>{title}</h3>
      <ul>
        {list.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}
