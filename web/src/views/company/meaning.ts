// The status values of the company family and their meanings.

import type { CompanySessionRow, JobPollResponse, MonitorRow } from "@accord/client";
import type { Meaning } from "../../parts/Status.tsx";
import { words } from "./names.ts";

const MEANINGS: Record<string, Meaning> = {
  running: "running",
  in_progress: "running",
  ended: "done",
  completed: "done",
  done: "done",
  approved: "done",
  succeeded: "done",
  ok: "done",
  failed: "failed",
  denied: "failed",
  exceeded: "failed",
  blocked: "failed",
  pending: "waiting",
  queued: "waiting",
  needs_input: "waiting",
  "waiting to retry": "waiting",
  preparing: "waiting",
  alert: "waiting",
  stopped: "idle",
  canceled: "idle",
  draft: "idle",
  ready: "idle",
};

export function meaningOf(status: string): Meaning {
  return MEANINGS[status] ?? "idle";
}

/**
 * Returns the displayed status of a run. The run document has `running` for every run that has not ended; here
 * *running* means that a process exists, and a run that was never launched is *not started*.
 */
export function statusOf(row: MonitorRow): string {
  if (row.live_queued) return "queued";
  if (row.live_status) return row.live_status;
  return row.run_status && row.run_status !== "running" ? row.run_status : "not started";
}

/** A displayed status. */
export interface Standing {
  meaning: Meaning;
  word: string;
}

export function standingOf(status: string): Standing {
  return { meaning: meaningOf(status), word: words(status) };
}

/**
 * Returns the displayed status of an attempt of a job. The end of its process does not mean that the job succeeded: the
 * last attempt has the status of the result, other ended attempts are neutral.
 */
export function attemptStanding(status: string, run: string, job: JobPollResponse | undefined): Standing {
  if (status !== "ended") return standingOf(status);
  const isDecisive = job?.status === "completed" && job.attempts.at(-1)?.run_id === run;
  if (!isDecisive || !job.result_status) return { meaning: "idle", word: words(status) };
  return standingOf(job.result_status === "succeeded" ? status : job.result_status);
}

/** Returns the displayed status of a job: that of its result, if it has one. `session` belongs to its last attempt. */
export function jobStatusOf(job: JobPollResponse, session: CompanySessionRow | undefined): string {
  if (job.status === "completed") return job.result_status ?? job.status;
  if (job.status !== "running") return job.status;
  const last = job.attempts.at(-1);
  if (!last) return "preparing";
  if (last.ended_at) return "waiting to retry";
  return session?.queued ? "queued" : "running";
}
