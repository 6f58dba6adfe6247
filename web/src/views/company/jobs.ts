// The jobs of a company, and which job a run or a session belongs to.

import type { JobPollResponse } from "@accord/client";
import { useQueries } from "@tanstack/react-query";
import { callOptions } from "../../data/calls.ts";

/** Milliseconds between two reads while a job is not over: no event tells that its result was written. */
const LOOK = 3_000;

/** The id of the job whose attempt a session is; nothing for any other session. */
export function jobIdOf(session_ref: string | null | undefined): string | undefined {
  return /^job_(.+)_attempt_\d+_/.exec(session_ref ?? "")?.[1];
}

export const isOver = ({ status }: JobPollResponse) => status === "completed" || status === "canceled";

/** What is known of a run that tells whether it belongs to a job. */
interface RunReference {
  project_id: string;
  run_id: string;
  session_ref?: string | null;
}

/** Finds the jobs of runs by the ids of the runs; only the projects that may have runs of jobs are read. */
export function useJobsOf(
  dir: string,
  runs: readonly RunReference[] | undefined,
): (run: string) => JobPollResponse | undefined {
  // The session of an old run may be forgotten, so that only the jobs tell.
  const mayBeOfJob = ({ session_ref }: RunReference) => !session_ref || jobIdOf(session_ref) !== undefined;
  const projects = new Set(runs?.filter(mayBeOfJob).map(({ project_id }) => project_id));
  const reads = useQueries({
    queries: [...projects].map((project_id) => ({
      ...callOptions("job.list", { workspace_dir: dir, project_id }),
      refetchInterval: ({ state }: { state: { data: JobPollResponse[] | undefined } }) =>
        state.data?.some((job) => !isOver(job)) ? LOOK : (false as const),
    })),
  });
  const jobs = new Map<string, JobPollResponse>();
  for (const { data } of reads) {
    for (const job of data ?? []) for (const { run_id } of job.attempts) jobs.set(run_id, job);
  }
  return (run) => jobs.get(run);
}
