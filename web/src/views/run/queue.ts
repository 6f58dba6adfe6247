// Why a session waits in the queue, and until when, as far as the gateway says so.

import type { CompanySessionRow } from "@accord/client";
import { isRecord } from "../company/records.ts";

export interface QueueState {
  /** Its place, from 1. */
  place: number | undefined;
  /** One sentence; blank if the gateway gives none. */
  reason: string;
  /** When it can start at the earliest, as an ISO time. */
  until: string | undefined;
}

/** The state of a session that waits; nothing for one that has or had a process. */
export function queueOf(session: CompanySessionRow | undefined): QueueState | undefined {
  if (!session?.queued) return undefined;
  // Gateways tell the reason as `queue_reason`, or as members of `queued` itself.
  const members = session as unknown as Record<string, unknown>;
  const told = [members["queue_reason"], members["queued"]].find(isRecord) ?? {};
  const text = (name: string) => (typeof told[name] === "string" ? told[name] : "");
  return {
    place: session.queue_position ?? undefined,
    reason: text("reason"),
    until: text("until") || undefined,
  };
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const dayAndClock = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

/** `Queued, place 2`. */
export function queueWords({ place }: QueueState): string {
  return place === undefined ? "Queued" : `Queued, place ${place}`;
}

/** `codex cools down after a rate limit, until 14:05`; blank if the gateway tells neither. */
export function queueReason({ reason, until }: QueueState): string {
  const end = until === undefined ? undefined : new Date(until);
  const isKnown = end !== undefined && !Number.isNaN(end.getTime());
  const isToday = isKnown && end.toDateString() === new Date().toDateString();
  const time = isKnown ? (isToday ? clock : dayAndClock).format(end) : "";
  // A sentence that names the time already needs no second one.
  return [reason, time && !reason.includes("until") && `until ${time}`].filter(Boolean).join(", ");
}
