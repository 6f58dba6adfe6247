// The queue state of a session.

import type { CompanySessionRow } from "@accord/client";
import { isRecord } from "../company/records.ts";

export interface QueueState {
  /** The position, from 1. */
  place: number | undefined;
  /** The reason in one sentence; blank if unknown. */
  reason: string;
  /** The earliest start (ISO 8601); undefined if unknown. */
  until: string | undefined;
}

/** Returns the queue state of a session; undefined if it is not queued. */
export function queueOf(session: CompanySessionRow | undefined): QueueState | undefined {
  if (!session?.queued) return undefined;
  // The reason is in `queue_reason`, or in older gateways in `queued` itself.
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
const dayAndClock = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** `Queued, position 2`. */
export function queueWords({ place }: QueueState): string {
  return place === undefined ? "Queued" : `Queued, position ${place}`;
}

/** Returns `codex cools down after a rate limit, until 14:05`; blank if neither is known. */
export function queueReason({ reason, until }: QueueState): string {
  const end = until === undefined ? undefined : new Date(until);
  const isKnown = end !== undefined && !Number.isNaN(end.getTime());
  const isToday = isKnown && end.toDateString() === new Date().toDateString();
  const time = isKnown ? (isToday ? clock : dayAndClock).format(end) : "";
  // The reason may already contain the time.
  return [reason, time && !reason.includes("until") && `until ${time}`].filter(Boolean).join(", ");
}
