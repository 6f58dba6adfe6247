// Deciding about something in the inbox, and remembering what came of it while the page is open.

import { RpcError, type InboxResolveResponse, type ReviewDecision } from "@accord/client";
import { useSyncExternalStore } from "react";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { toast } from "../../parts/toast.tsx";
import { ME } from "../company/me.ts";

/** How milestones stood when they were approved here; no document keeps that. */
const before = new Map<string, string>();

/** Remembers how the milestone of a report stands while it waits for a decision. */
export const rememberMilestone = (report: string, status: string) => before.set(report, status);
export const milestoneBefore = (report: string) => before.get(report);

const outcomes = new Map<string, InboxResolveResponse>();
const listeners = new Set<() => void>();

/** What a decision that was made here did. */
export function useOutcome(artifact: string): InboxResolveResponse | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => outcomes.get(artifact),
  );
}

/** Whether something was not decided because it is not what was shown. */
export function isChanged(error: unknown): boolean {
  return error instanceof RpcError && typeof (error.data as { actual_sha256?: unknown } | null)?.actual_sha256 === "string";
}

/** Tells that something was not decided because it is not what was shown. */
export const tellChanged = () =>
  toast({ tone: "failed", text: "This changed since you looked, so nothing was decided. Look at it again." });

/** Decides about exactly what was shown, which `expected_sha256` of `inbox.read` names. */
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
    // Other documents may rest on what this decision changed.
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
