// The rows of the inbox list.

import type { ThreadAgentsDocProposal } from "@accord/client";
import { useCall } from "../../data/calls.ts";
import type { Meaning } from "../../parts/Status.tsx";
import { at } from "../company/address.ts";
import { ME } from "../company/me.ts";
import { meaningOf } from "../company/meaning.ts";
import { shortId, subjectWord, useNames, words } from "../company/names.ts";
import { STATUSES } from "../proposal/proposals.ts";

export interface Entry {
  key: string;
  href: string;
  title: string;
  /** The time of creation or decision: Unix seconds, or an ISO 8601 text. */
  at: number | string | undefined;
  meaning: Meaning;
  /** The type of the item, or the decision. */
  word: string;
  who: string;
}

/** Returns the pending and decided items of a company; undefined until they are loaded. */
export function useCompanyEntries(workspace: string, dir: string): { waiting: Entry[]; decided: Entry[] } | undefined {
  const { data } = useCall("inbox.snapshot", { workspace_dir: dir, ...ME });
  const names = useNames(dir);
  return (
    data && {
      waiting: data.pending.map((item) => ({
        key: item.artifact_id,
        href: at.item(workspace, item.project_id, item.artifact_id),
        title: item.title ?? shortId(item.artifact_id),
        at: item.created_at ?? undefined,
        meaning: item.invalid ? "failed" : "waiting",
        word: item.invalid ? "Malformed" : subjectWord(item.artifact_type),
        who: names.actor(item.produced_by),
      })),
      decided: data.recent_decisions.map((item) => ({
        key: item.review_id,
        href: at.item(workspace, item.project_id, item.subject_artifact_id),
        title: `${subjectWord(item.subject_kind)} of ${names.project(item.project_id)}`,
        at: item.created_at,
        meaning: meaningOf(item.decision),
        word: words(item.decision),
        who: names.actor(item.actor_id),
      })),
    }
  );
}

export function ofProposal(
  workspace: string,
  proposal: ThreadAgentsDocProposal,
  nameOf: (id: string) => string,
): Entry {
  const isOver = proposal.status !== "pending";
  return {
    key: proposal.id,
    href: at.proposal(workspace, proposal.id),
    title: proposal.rationale,
    at: proposal.decided_at ?? proposal.created_at,
    meaning: STATUSES[proposal.status].meaning,
    word: isOver ? STATUSES[proposal.status].label : proposal.is_stale ? "AGENTS.md, stale" : "AGENTS.md",
    who: nameOf(isOver ? (proposal.decided_by ?? proposal.author) : proposal.author),
  };
}

const time = ({ at }: Entry) => (typeof at === "number" ? at * 1000 : at ? Date.parse(at) : 0);

export function newestFirst(entries: Entry[]): Entry[] {
  return entries.toSorted((a, b) => time(b) - time(a));
}
