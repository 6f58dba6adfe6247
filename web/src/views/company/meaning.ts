// The words of the company family for where something stands, and which of the four meanings each has.

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
 * The status of a run as people mean it. Documents call every run that is not over `running`; here *running* means
 * that there is a process, and a run that was never launched is *not started*.
 */
export function statusOf(row: MonitorRow): string {
  if (row.live_queued) return "queued";
  if (row.live_status) return row.live_status;
  return row.run_status && row.run_status !== "running" ? row.run_status : "not started";
}

/** A status as it is shown. */
export interface Standing {
  meaning: Meaning;
  word: string;
}

export function standingOf(status: string): Standing {
  return { meaning: meaningOf(status), word: words(status) };
}

/**
 * How the run of an attempt stands. A process that ended proves nothing about its job, so an attempt that decided the
 * job stands as the result does, and every other attempt that ended is neither green nor red.
 */
export function attemptStanding(status: string, run: string, job: JobPollResponse | undefined): Standing {
  if (status !== "ended") return standingOf(status);
  const isDecisive = job?.status === "completed" && job.attempts.at(-1)?.run_id === run;
  if (!isDecisive || !job.result_status) return { meaning: "idle", word: words(status) };
  return standingOf(job.result_status === "succeeded" ? status : job.result_status);
}

/** The status of a job as people mean it: that of its result, once there is one. `session` is that of its last attempt. */
export function jobStatusOf(job: JobPollResponse, session: CompanySessionRow | undefined): string {
  if (job.status === "completed") return job.result_status ?? job.status;
  if (job.status !== "running") return job.status;
  const last = job.attempts.at(-1);
  if (!last) return "preparing";
  if (last.ended_at) return "waiting to retry";
  return session?.queued ? "queued" : "running";
}
