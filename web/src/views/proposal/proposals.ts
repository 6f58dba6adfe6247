// Proposed changes of AGENTS.md files.

import { RpcError, type ThreadAgentsDocProposal, type ThreadAgentsDocProposalStatus } from "@accord/client";
import { attempt, call, invalidate, useCall } from "../../data/calls.ts";
import type { Meaning } from "../../parts/Status.tsx";
import { toast } from "../../parts/toast.tsx";
import { isChanged, tellChanged } from "../inbox/decide.ts";

export const STATUSES: Record<ThreadAgentsDocProposalStatus, { meaning: Meaning; label: string }> = {
  pending: { meaning: "waiting", label: "Waiting" },
  approved: { meaning: "done", label: "Approved" },
  denied: { meaning: "failed", label: "Denied" },
  withdrawn: { meaning: "idle", label: "Withdrawn" },
};

/** Returns the proposals of a workspace, pending ones first. */
export function useProposals(workspace: string): ThreadAgentsDocProposal[] {
  const { data } = useCall("thread/agents_doc/proposal/list", { workspace_id: workspace, limit: 50 });
  return data?.items ?? [];
}

export const isPending = ({ status }: ThreadAgentsDocProposal) => status === "pending";

const stale = (workspace_id: string) =>
  invalidate(["thread/agents_doc/proposal/list", "thread/agents_doc/proposal/get"], { workspace_id });

/** Approves or denies a proposal; the hash ensures that the decision applies to what was shown. */
export async function decide(
  { workspace_id, id, sha256 }: ThreadAgentsDocProposal,
  decision: "approve" | "deny",
  note: string,
): Promise<boolean> {
  let isDecided = false;
  const isSent = await attempt(decision === "approve" ? "Approving" : "Denying", async () => {
    const decided = await call("thread/agents_doc/proposal/decide", {
      workspace_id,
      proposal_id: id,
      decision,
      expected_sha256: sha256,
      ...(note.trim() ? { note: note.trim() } : {}),
    }).catch((error: unknown) => {
      if (!isChanged(error)) throw error;
      return undefined;
    });
    stale(workspace_id);
    if (!decided) return tellChanged();
    isDecided = true;
    const { proposal } = decided;
    toast({ text: proposal.status === "approved" ? `Saved as version ${proposal.saved_version}` : "Denied" });
  });
  return isSent && isDecided;
}

/** Rebases a proposal on the current version. Returns whether it conflicts and needs a manual merge. */
export async function rebase({ workspace_id, id }: ThreadAgentsDocProposal): Promise<{ clashes: boolean }> {
  let clashes = false;
  await attempt("Rebasing", async () => {
    try {
      await call("thread/agents_doc/proposal/rebase", { workspace_id, proposal_id: id });
      stale(workspace_id);
    } catch (error) {
      if (!(error instanceof RpcError) || error.kind !== "merge_conflict") throw error;
      clashes = true;
    }
  });
  return { clashes };
}

/** Replaces a proposal with a merged text. */
export function rebaseWith(
  { workspace_id, id, current_version }: ThreadAgentsDocProposal,
  content: string,
): Promise<boolean> {
  return attempt("Rebasing", async () => {
    await call("thread/agents_doc/proposal/rebase", { workspace_id, proposal_id: id, content, current_version });
    stale(workspace_id);
  });
}

export function withdraw({ workspace_id, id }: ThreadAgentsDocProposal): Promise<boolean> {
  return attempt("Withdrawing the proposal", async () => {
    await call("thread/agents_doc/proposal/withdraw", { workspace_id, proposal_id: id });
    stale(workspace_id);
  });
}
