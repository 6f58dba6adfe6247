// The words of the company family for where something stands, and which of the four meanings each has.

import type { JobPollResponse, MonitorRow } from "@accord/client";
import type { Meaning } from "../../parts/Status.tsx";

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

/** The status of a job as people mean it: that of its result, once there is one. */
export function jobStatusOf(job: JobPollResponse): string {
  if (job.status === "completed") return job.result_status ?? job.status;
  if (job.status !== "running") return job.status;
  const last = job.attempts.at(-1);
  if (!last) return "preparing";
  return last.ended_at ? "waiting to retry" : "running";
}
