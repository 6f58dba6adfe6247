// What the palette can find: views add objects and actions for as long as they are on screen.

import { useEffect, useRef } from "react";
import type { IconName } from "../parts/Icon.tsx";

export interface Entry {
  id: string;
  title: string;
  /** Where it is, or what kind of thing it is. */
  hint?: string;
  icon: IconName;
  /** A key that does the same. */
  key?: string;
  run: () => void;
}

export interface Source {
  /** The heading above its entries. */
  group: string;
  /** The entries for what was typed; a source may filter by itself or answer everything it has. */
  find: (query: string, signal: AbortSignal) => Entry[] | Promise<Entry[]>;
  /** Whether `find` filters by itself. */
  filters?: boolean;
}

const sources: { current: Source }[] = [];

/** Adds entries to the palette while this component is on screen. */
export function usePalette(source: Source): void {
  const held = useRef(source);
  held.current = source;
  useEffect(() => {
    sources.push(held);
    return () => void sources.splice(sources.indexOf(held), 1);
  }, []);
}

const PER_GROUP = 20;

/** The entries for what was typed, by group. A source that fails has none. */
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

/** Those whose title or hint has every word, titles that begin with the query first. */
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
