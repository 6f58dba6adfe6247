// A relative time with the exact time on hover. One timer updates all of them.

import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let now = Date.now();
setInterval(() => {
  now = Date.now();
  listeners.forEach((listener) => listener());
}, 15_000);

/** Returns the current time in Unix milliseconds, updated every 15 seconds. */
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

/** `at` is in Unix seconds (tree family) or an ISO 8601 text (company family). */
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
