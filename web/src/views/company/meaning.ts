// The words of the company family for where something stands, and which of the four meanings each has.

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
