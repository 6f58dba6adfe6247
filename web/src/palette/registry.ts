// The sources of the palette. Mounted components add objects and actions.

import { useEffect, useRef } from "react";
import type { IconName } from "../parts/Icon.tsx";

export interface Entry {
  id: string;
  title: string;
  /** The location or the type of the object. */
  hint?: string;
  icon: IconName;
  /** The shortcut for the same action. */
  key?: string;
  run: () => void;
}

export interface Source {
  /** The heading above its entries. */
  group: string;
  /** Returns the entries for a query. A source that does not filter returns all its entries. */
  find: (query: string, signal: AbortSignal) => Entry[] | Promise<Entry[]>;
  /** Whether `find` filters by the query. Default false: the palette filters. */
  filters?: boolean;
  /** The object that the entries belong to, if it is loaded. An open palette searches again when it changes. */
  subject?: string | undefined;
}

const sources: { current: Source }[] = [];
const listeners = new Set<() => void>();
let version = 0;

function announce(): void {
  version += 1;
  for (const listener of listeners) listener();
}

/** A number that changes with the sources, and a way to be notified of it. */
export const sourcesVersion = {
  current: () => version,
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

/** Adds a source to the palette while this component is mounted. */
export function usePalette(source: Source): void {
  const held = useRef(source);
  held.current = source;
  useEffect(() => {
    sources.push(held);
    return () => void sources.splice(sources.indexOf(held), 1);
  }, []);
  useEffect(announce, [source.subject]);
}

const PER_GROUP = 20;

/** Returns the entries for a query by group. A source that fails adds none. */
export async function search(query: string, signal: AbortSignal): Promise<{ group: string; entries: Entry[] }[]> {
  const found = await Promise.all(
    sources.map(async ({ current }) => {
      try {
        const entries = await current.find(query, signal);
        return { group: current.group, entries: current.filters ? entries : rank(entries, query) };
      } catch {
        return { group: current.group, entries: [] };
      }
    }),
  );
  const groups = new Map<string, Entry[]>();
  for (const { group, entries } of found) groups.set(group, [...(groups.get(group) ?? []), ...entries]);
  return [...groups]
    .map(([group, entries]) => ({ group, entries: entries.slice(0, PER_GROUP) }))
    .filter(({ entries }) => entries.length > 0);
}

/** Returns the entries whose title or hint contains every word; titles that start with the query come first. */
function rank(entries: Entry[], query: string): Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  const scored: { entry: Entry; score: number }[] = [];
  for (const entry of entries) {
    const title = entry.title.toLowerCase();
    const all = `${title} ${entry.hint?.toLowerCase() ?? ""}`;
    if (!words.every((word) => all.includes(word))) continue;
    const first = words[0] ?? "";
    const score = title.startsWith(first) ? 0 : title.includes(` ${first}`) ? 1 : title.includes(first) ? 2 : 3;
    scored.push({ entry, score });
  }
  return scored.sort((a, b) => a.score - b.score).map(({ entry }) => entry);
}
