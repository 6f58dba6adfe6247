// The jobs of all projects with their status.

import "../company/company.css";
import type { JobPollResponse } from "@accord/client";
import { useQueries } from "@tanstack/react-query";
import { Page } from "../../app/Page.tsx";
import { attempt, call, callOptions, invalidate, useCall } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Empty, Loading } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { isOver } from "../company/jobs.ts";
import { jobStatusOf, standingOf } from "../company/meaning.ts";
import { jobName, useNames } from "../company/names.ts";
import { useNew } from "../company/new.ts";
import { queueOf, queueReason } from "../run/queue.ts";
import { JobDialog } from "./JobDialog.tsx";

/** The polling interval in milliseconds. */
const LOOK = 5_000;

export default function JobsView({ workspace, dir }: CompanyViewProps) {
  const names = useNames(dir);
  const [isAsking, setAsking] = useNew();
  const reads = useQueries({
    queries: names.projects.map(({ project_id }) => ({
      ...callOptions("job.list", { workspace_dir: dir, project_id }),
      refetchInterval: LOOK,
    })),
  });
  const jobs = reads.flatMap(({ data }) => data ?? []).sort((a, b) => (startOf(b) > startOf(a) ? 1 : -1));
  const sessions = useCall(
    "session.list",
    { workspace_dir: dir, status: "running" },
    { enabled: jobs.some((job) => !isOver(job)), everyMs: LOOK },
  ).data;
  const ask = (
    <Button kind="primary" icon="plus" onClick={() => setAsking(true)}>
      New job
    </Button>
  );
  const cancel = ({ project_id, job_id }: JobPollResponse) =>
    attempt("Canceling the job", async () => {
      await call("job.cancel", { workspace_dir: dir, project_id, job_id });
      invalidate(["job.list"], { workspace_dir: dir });
    });
  return (
    <Page title="Jobs" back={at.runs(workspace)} crumbs={[{ label: "Runs", to: at.live(workspace) }]} actions={ask}>
      {reads.some(({ isLoading }) => isLoading) ? (
        <Loading />
      ) : jobs.length === 0 ? (
        <Empty icon="doc" title="No jobs yet" action={ask}>
          A job is a goal for a worker. Accord starts runs until the goal is reached or the retries are used up, and
          keeps the result.
        </Empty>
      ) : (
        <div className="wide-column">
          <Table
            label="Jobs"
            columns={[
              "Status",
              { title: "Job", as: "wide" },
              "Project",
              { title: "Worker", as: "wide" },
              { title: "Attempts", as: "number" },
              "Started",
              { title: "Actions", as: "unsaid" },
            ]}
          >
            {jobs.map((job) => {
              const last = job.attempts.at(-1);
              const session = sessions?.find(({ session_ref }) => session_ref === last?.session_ref);
              const queue = isOver(job) ? undefined : queueOf(session);
              const { meaning, word } = standingOf(jobStatusOf(job, session));
              return (
                <tr key={job.job_id}>
                  <td>
                    <Status meaning={meaning}>{word}</Status>
                  </td>
                  <td className="wide">
                    <Link to={at.job(workspace, job.project_id, job.job_id)}>{jobName(job)}</Link>
                    {queue && queueReason(queue) && <p className="queue-note">{queueReason(queue)}</p>}
                  </td>
                  <td>{names.project(job.project_id)}</td>
                  <td className="wide">{last ? `${names.actor(last.worker_agent_id)} on ${last.worker_kind}` : ""}</td>
                  <td className="number">{job.attempts.length}</td>
                  <td className="muted">{last && <Time at={last.started_at} />}</td>
                  <td>
                    {!isOver(job) && !job.cancellation_requested && (
                      <Button kind="danger" onClick={() => void cancel(job)}>
                        Cancel
                      </Button>
                    )}
                  </td>
                </tr>
              );
            })}
          </Table>
        </div>
      )}
      {isAsking && names.isKnown && (
        <JobDialog workspace={workspace} dir={dir} names={names} onClose={() => setAsking(false)} />
      )}
    </Page>
  );
}

const startOf = ({ attempts, job_id }: JobPollResponse) => attempts.at(-1)?.started_at ?? job_id;
