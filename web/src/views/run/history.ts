// The events of all runs: the newest ones, live events, and older ones on request.

import type { IndexedEvent } from "@accord/client";
import { useEffect, useMemo, useState } from "react";
import { attempt, call, useCall } from "../../data/calls.ts";
import { readEvent } from "../company/events.ts";
import { useEvents, type LiveEvent } from "../company/live.ts";
import { ALL } from "../company/ProjectChoice.tsx";

/** The number of events in the first request. */
const FIRST = 300;
/** The maximum number of live events to keep; older ones can be loaded again. */
const KEPT = 1000;

/** Returns the events of one project or of all projects, newest first. */
export function useHistory(dir: string, project: string) {
  const params = { workspace_dir: dir, order: "desc", ...(project === ALL ? {} : { project_id: project }) } as const;
  const query = useCall("index.list_events", { ...params, limit: FIRST });
  const [news, setNews] = useState<LiveEvent[]>([]);
  /** The keys of the latest events, which slide in. */
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
  /** Loads twice as many events as before, because lists always start at the newest event. */
  const loadOlder = async () => {
    if (isLoading) return;
    setLoading(true);
    await attempt("Loading older events", async () => {
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
