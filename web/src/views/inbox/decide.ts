// Deciding about something in the inbox, and remembering what came of it while the page is open.

import type { InboxResolveResponse, ReviewDecision } from "@accord/client";
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

export async function decide(
  dir: string,
  item: { project_id: string; artifact_id: string; title?: string | null },
  decision: ReviewDecision,
  notes = "",
): Promise<boolean> {
  return attempt(decision === "approved" ? "Approving" : "Denying", async () => {
    const outcome = await call("inbox.resolve", {
      workspace_dir: dir,
      project_id: item.project_id,
      artifact_id: item.artifact_id,
      decision,
      ...ME,
      ...(notes.trim() ? { notes: notes.trim() } : {}),
    });
    outcomes.set(item.artifact_id, outcome);
    listeners.forEach((listener) => listener());
    invalidate(["inbox.snapshot", "memory.list_deltas", "workspace.home.snapshot", "task.list", "pm.snapshot"], {
      workspace_dir: dir,
    });
    toast({ text: `${decision === "approved" ? "Approved" : "Denied"}: ${item.title ?? item.artifact_id}` });
  });
}
