// The events of a run: loaded from its log with verified hashes, then live.

import type { ReplayParseIssue, ReplayVerificationIssue } from "@accord/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { call } from "../../data/calls.ts";
import { client } from "../../data/client.ts";
import { readEvent, type RunEvent } from "../company/events.ts";
import { useEvents } from "../company/live.ts";

/** The number of events per request. */
const PAGE = 2000;

export interface Replay {
  events: RunEvent[];
  issues: ReplayVerificationIssue[];
  parseIssues: ReplayParseIssue[];
  /** Whether the log is loaded to its end. */
  isComplete: boolean;
  /** The first event whose hash is not verified yet; undefined if all are. */
  uncheckedFrom: number | undefined;
  error?: unknown;
}

const NOTHING: Replay = { events: [], issues: [], parseIssues: [], isComplete: false, uncheckedFrom: undefined };

/** Milliseconds after which live events are verified together. */
const RECHECK = 400;

/** Loads the log from the end of `known` with verified hashes and reports each page. */
async function readOn(
  where: { workspace_dir: string; project_id: string; run_id: string },
  known: Replay,
  signal: AbortSignal,
  tell: (read: Replay) => void,
): Promise<void> {
  let so = known;
  let after: number | undefined = known.events.at(-1)?.seq;
  do {
    const page = await call(
      "run.replay",
      { ...where, mode: "verified", limit: PAGE, ...(after === undefined ? {} : { after_seq: after }) },
      { signal },
    );
    const parseIssues = uniqueBySeq([...so.parseIssues, ...page.parse_issues]);
    const unreadable = new Set(parseIssues.map(({ seq }) => seq));
    let seq = after ?? 0;
    const events = page.events.map((event) => {
      do seq += 1;
      while (unreadable.has(seq));
      return readEvent(event, seq);
    });
    after = page.next_cursor ?? undefined;
    so = {
      events: [...so.events, ...events],
      issues: uniqueBySeq([...so.issues, ...page.verification_issues]),
      parseIssues,
      isComplete: after === undefined,
      uncheckedFrom: undefined,
    };
    tell(so);
  } while (after !== undefined);
}

function uniqueBySeq<T extends { seq: number; line: number }>(issues: T[]): T[] {
  return [...new Map(issues.map((issue) => [`${issue.seq} ${issue.line}`, issue])).values()];
}

/** Loads the whole log, adds live events, and verifies them too. */
export function useReplay(dir: string, project: string, run: string): Replay & { check: () => void } {
  const [replay, setReplay] = useState(NOTHING);
  const [generation, setGeneration] = useState(0);
  const check = useCallback(() => setGeneration((n) => n + 1), []);
  const held = useRef(replay);
  held.current = replay;

  useEffect(() => {
    const abort = new AbortController();
    const where = { workspace_dir: dir, project_id: project, run_id: run };
    readOn(where, NOTHING, abort.signal, (read) => setReplay((before) => withNewer(read, before))).catch(
      (error: unknown) => {
        if (!abort.signal.aborted) setReplay((before) => ({ ...before, error }));
      },
    );
    return () => abort.abort();
  }, [dir, project, run, generation]);

  // Live events are loaded from the log again to verify their hashes.
  const isUnchecked = replay.isComplete && replay.uncheckedFrom !== undefined;
  useEffect(() => {
    if (!isUnchecked) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const { uncheckedFrom = 1, ...known } = held.current;
      const checked = {
        ...known,
        uncheckedFrom: undefined,
        events: known.events.filter(({ seq }) => seq < uncheckedFrom),
      };
      const where = { workspace_dir: dir, project_id: project, run_id: run };
      readOn(where, checked, abort.signal, (read) => setReplay((before) => withNewer(read, before))).catch(
        (error: unknown) => {
          if (!abort.signal.aborted) setReplay((before) => ({ ...before, error }));
        },
      );
    }, RECHECK);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [dir, project, run, isUnchecked, replay.uncheckedFrom]);

  // The log contains the events that were missed without a connection.
  useEffect(() => client.onGap(check), [check]);
  useEvents((news) => {
    const own = news.filter((event) => event.run === run && event.seq > 0);
    if (own.length === 0) return;
    setReplay((before) => {
      const last = before.events.at(-1)?.seq ?? 0;
      const newer = own.filter(({ seq }) => seq > last);
      if (newer.length === 0) return before;
      const isGapless = before.events.length === 0 || newer[0]?.seq === last + 1;
      // Missing events are loaded from the log.
      return {
        ...before,
        events: isGapless ? [...before.events, ...newer] : before.events,
        uncheckedFrom: before.uncheckedFrom ?? (isGapless ? newer[0]?.seq : last + 1),
      };
    });
  });
  return { ...replay, check };
}

/** Keeps live events that arrived while the log was being loaded. */
function withNewer(read: Replay, before: Replay): Replay {
  const last = read.events.at(-1)?.seq ?? 0;
  const newer = read.isComplete ? before.events.filter(({ seq }) => seq > last) : [];
  return { ...read, events: [...read.events, ...newer], uncheckedFrom: newer[0]?.seq };
}

export interface Moment {
  status: string;
  /** Undefined until tokens are reported or estimated. */
  tokens: number | undefined;
  /** Whether the tokens are estimated from characters rather than reported by the provider. */
  isEstimated: boolean;
  /** In US dollars; undefined without a price. */
  cost: number | undefined;
  /** The output in the pieces in which it arrived. */
  output: string[];
  policyDenials: number;
  startedAt: string;
  at: string;
}

/** Returns the state of the run after these events. */
export function momentOf(events: RunEvent[]): Moment {
  const moment: Moment = {
    status: "not started",
    tokens: undefined,
    isEstimated: false,
    cost: undefined,
    output: [],
    policyDenials: 0,
    startedAt: events[0]?.at ?? "",
    at: events.at(-1)?.at ?? "",
  };
  let [reported, estimated]: (number | undefined)[] = [];
  for (const { type, payload } of events) {
    if (type === "run.executing") moment.status = "running";
    if (type === "run.ended" || type === "run.failed" || type === "run.stopped") moment.status = type.slice(4);
    if (type === "usage.reported") reported = Math.max(reported ?? 0, Number(payload["total_tokens"]) || 0);
    if (type === "usage.estimated") estimated = Math.max(estimated ?? 0, Number(payload["total_tokens"]) || 0);
    if (type === "usage.cost_computed") moment.cost = Number(payload["cost_usd"]) || 0;
    if (type === "policy.denied") moment.policyDenials += 1;
    if (type === "provider.raw" && typeof payload["chunk"] === "string") moment.output.push(payload["chunk"]);
  }
  // Reported values take precedence over estimates.
  moment.tokens = reported ?? estimated;
  moment.isEstimated = reported === undefined && estimated !== undefined;
  return moment;
}
