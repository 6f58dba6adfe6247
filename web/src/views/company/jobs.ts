// The jobs of a company, and the job of a run or a session.

import type { JobPollResponse } from "@accord/client";
import { useQueries } from "@tanstack/react-query";
import { callOptions } from "../../data/calls.ts";

/** The polling interval in milliseconds while a job is active: no event reports its result. */
const LOOK = 3_000;

/** Returns the id of the job to which a session belongs; undefined for other sessions. */
export function jobIdOf(session_ref: string | null | undefined): string | undefined {
  return /^job_(.+)_attempt_\d+_/.exec(session_ref ?? "")?.[1];
}

export const isOver = ({ status }: JobPollResponse) => status === "completed" || status === "canceled";

/** The fields of a run that identify its job. */
interface RunReference {
  project_id: string;
  run_id: string;
  session_ref?: string | null;
}

/** Returns a function that finds the job of a run. Reads only projects that may have runs of jobs. */
export function useJobsOf(
  dir: string,
  runs: readonly RunReference[] | undefined,
): (run: string) => JobPollResponse | undefined {
  // The session of an old run may be deleted; only the list of jobs identifies its job.
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
