// Saves decisions on inbox items and keeps their outcomes while the page is open.

import { RpcError, type InboxResolveResponse, type ReviewDecision } from "@accord/client";
import { useSyncExternalStore } from "react";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { toast } from "../../parts/toast.tsx";
import { ME } from "../company/me.ts";

/** The status of milestones before their approval; no document contains it. */
const before = new Map<string, string>();

/** Stores the status of the milestone of a pending report. */
export const rememberMilestone = (report: string, status: string) => before.set(report, status);
export const milestoneBefore = (report: string) => before.get(report);

const outcomes = new Map<string, InboxResolveResponse>();
const listeners = new Set<() => void>();

/** Returns the outcome of a decision that was made in this page. */
export function useOutcome(artifact: string): InboxResolveResponse | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => outcomes.get(artifact),
  );
}

/** Returns whether a decision was rejected because the item changed. */
export function isChanged(error: unknown): boolean {
  return (
    error instanceof RpcError && typeof (error.data as { actual_sha256?: unknown } | null)?.actual_sha256 === "string"
  );
}

/** Shows a toast that the decision was rejected because the item changed. */
export const tellChanged = () =>
  toast({ tone: "failed", text: "This item changed since you opened it, so no decision was saved. Review it again." });

/** Saves a decision. `expected_sha256` is the hash of the version that was shown, from `inbox.read`. */
export async function decide(
  dir: string,
  item: { project_id: string; artifact_id: string; title?: string | null },
  decision: ReviewDecision,
  expected_sha256: string,
  notes = "",
): Promise<boolean> {
  let isDecided = false;
  const isSent = await attempt(decision === "approved" ? "Approving" : "Denying", async () => {
    const outcome = await call("inbox.resolve", {
      workspace_dir: dir,
      project_id: item.project_id,
      artifact_id: item.artifact_id,
      decision,
      expected_sha256,
      ...ME,
      ...(notes.trim() ? { notes: notes.trim() } : {}),
    }).catch((error: unknown) => {
      if (!isChanged(error)) throw error;
      return undefined;
    });
    // The decision may change files that other items are based on.
    invalidate(["inbox.read"], { workspace_dir: dir });
    if (!outcome) return tellChanged();
    isDecided = true;
    outcomes.set(item.artifact_id, outcome);
    listeners.forEach((listener) => listener());
    invalidate(["inbox.snapshot", "memory.list_deltas", "workspace.home.snapshot", "task.list", "pm.snapshot"], {
      workspace_dir: dir,
    });
    toast({ text: `${decision === "approved" ? "Approved" : "Denied"}: ${item.title ?? item.artifact_id}` });
  });
  return isSent && isDecided;
}
