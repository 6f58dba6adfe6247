// A time: relative in words, exact on hover. One clock moves them all.

import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let now = Date.now();
setInterval(() => {
  now = Date.now();
  listeners.forEach((listener) => listener());
}, 15_000);

/** Milliseconds; a new value four times a minute. */
export function useNow(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => now,
  );
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayAndYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

export function relativeTime(at: number, now: number): string {
  const seconds = Math.round((now - at) / 1000);
  const ahead = seconds < 0 ? "in " : "";
  const size = Math.abs(seconds);
  if (size < 45) return "now";
  if (size < 3600) return `${ahead}${Math.max(1, Math.round(size / 60))} min`;
  if (size < 86_400) return `${ahead}${Math.round(size / 3600)} h`;
  if (size < 7 * 86_400) return `${ahead}${Math.round(size / 86_400)} d`;
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? day : dayAndYear).format(at);
}

/** `at` in Unix seconds, as the tree family has it, or an ISO text, as the company family has it. */
export function Time({ at }: { at: number | string }) {
  const current = useNow();
  const milliseconds = typeof at === "number" ? at * 1000 : Date.parse(at);
  if (Number.isNaN(milliseconds)) return null;
  const date = new Date(milliseconds);
  return (
    <time dateTime={date.toISOString()} title={exact.format(date)}>
      {relativeTime(milliseconds, Math.max(current, Date.now() - 15_000))}
    </time>
  );
}
