// The events of all runs: the newest ones, those that come while one looks, and older ones when they are asked for.

import type { IndexedEvent } from "@accord/client";
import { useEffect, useMemo, useState } from "react";
import { attempt, call } from "../../data/calls.ts";
import { readEvent } from "../company/events.ts";
import { useEvents, type LiveEvent } from "../company/live.ts";
import { ALL } from "../company/ProjectChoice.tsx";
import { useRead } from "../company/reads.ts";

/** How many events are read first. */
const FIRST = 300;
/** How many events that came by themselves are kept; the older ones can be read again. */
const KEPT = 1000;

/** Newest first, of one project or of all. */
export function useHistory(dir: string, project: string) {
  const params = { workspace_dir: dir, order: "desc", ...(project === ALL ? {} : { project_id: project }) } as const;
  const query = useRead("index.list_events", { ...params, limit: FIRST });
  const [news, setNews] = useState<LiveEvent[]>([]);
  /** What came last; it slides in once. */
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const [older, setOlder] = useState<{ rows: IndexedEvent[]; limit: number }>();
  const [isLoading, setLoading] = useState(false);
  useEvents((events) => {
    setNews((before) => [...events.toReversed(), ...before].slice(0, KEPT));
    setFresh(new Set(events.map(keyOf)));
  });
  useEffect(() => setOlder(undefined), [dir, project]);

  const events = useMemo(() => {
    const known = new Set<string>();
    const isNew = (event: LiveEvent) => {
      const key = keyOf(event);
      return !known.has(key) && known.add(key);
    };
    const ofProject = news.filter((event) => project === ALL || event.project === project);
    return [ofProject, (query.data ?? []).map(read), (older?.rows ?? []).map(read)].flat().filter(isNew);
  }, [query.data, news, older, project]);

  const limit = older?.limit ?? FIRST;
  const rows = older?.rows ?? query.data;
  /** Lists begin at the newest event, so twice as many are read each time: that costs no more than the last read. */
  const loadOlder = async () => {
    if (isLoading) return;
    setLoading(true);
    await attempt("Reading older events", async () => {
      const next = limit * 2;
      setOlder({ rows: await call("index.list_events", { ...params, limit: next }), limit: next });
    });
    setLoading(false);
  };
  return { query, events, fresh, hasOlder: rows !== undefined && rows.length >= limit, isLoading, loadOlder };
}

export const keyOf = ({ run, seq, id }: LiveEvent) => id || `${run}#${seq}`;

function read(row: IndexedEvent): LiveEvent {
  let raw: unknown;
  try {
    raw = JSON.parse(row.raw_json);
  } catch {
    raw = {};
  }
  return { ...readEvent(raw, row.seq), run: row.run_id, project: row.project_id };
}
