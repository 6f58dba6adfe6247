// The words of the company family for where something stands, and which of the four meanings each has.

import type { MonitorRow } from "@accord/client";
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
  alert: "waiting",
  stopped: "idle",
  canceled: "idle",
  draft: "idle",
  ready: "idle",
};

export function meaningOf(status: string): Meaning {
  return MEANINGS[status] ?? "idle";
}

/** Where a run stands: what its process says, else what its document says, which calls a run that was only made running. */
export function statusOf(row: MonitorRow): string {
  if (row.live_status) return row.live_status;
  return row.run_status && row.run_status !== "running" ? row.run_status : "not started";
}
