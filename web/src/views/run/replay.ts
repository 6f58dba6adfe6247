// The events of one run: read from its log with every hash checked, then as they come.

import type { ReplayParseIssue, ReplayVerificationIssue } from "@accord/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { call } from "../../data/calls.ts";
import { client } from "../../data/client.ts";
import { readEvent, type RunEvent } from "../company/events.ts";
import { useEvents } from "../company/live.ts";

/** How many events are read at a time. */
const PAGE = 2000;

export interface Replay {
  events: RunEvent[];
  issues: ReplayVerificationIssue[];
  parseIssues: ReplayParseIssue[];
  /** Whether the log has been read to its end. */
  isComplete: boolean;
  /** Events that came after the check; the next check covers them. */
  uncheckedFrom: number | undefined;
  error?: unknown;
}

const NOTHING: Replay = { events: [], issues: [], parseIssues: [], isComplete: false, uncheckedFrom: undefined };

/** Milliseconds after which events that came by themselves are checked, several at a time. */
const RECHECK = 400;

/** Reads the log from where `known` ends, with every hash checked, and tells each page. */
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

/** Reads the whole log, goes on with what comes, and checks that too. */
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

  // Events that came by themselves are read from the log again, where their hashes are checked.
  const isUnchecked = replay.isComplete && replay.uncheckedFrom !== undefined;
  useEffect(() => {
    if (!isUnchecked) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const { uncheckedFrom = 1, ...known } = held.current;
      const checked = { ...known, uncheckedFrom: undefined, events: known.events.filter(({ seq }) => seq < uncheckedFrom) };
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

  // Events that were missed while there was no connection are in the log.
  useEffect(() => client.onGap(check), [check]);
  useEvents((news) => {
    const own = news.filter((event) => event.run === run && event.seq > 0);
    if (own.length === 0) return;
    setReplay((before) => {
      const last = before.events.at(-1)?.seq ?? 0;
      const newer = own.filter(({ seq }) => seq > last);
      if (newer.length === 0) return before;
      const isGapless = before.events.length === 0 || newer[0]?.seq === last + 1;
      // What is missing in between is read from the log with the rest.
      return {
        ...before,
        events: isGapless ? [...before.events, ...newer] : before.events,
        uncheckedFrom: before.uncheckedFrom ?? (isGapless ? newer[0]?.seq : last + 1),
      };
    });
  });
  return { ...replay, check };
}

/** What came while the log was read stays. */
function withNewer(read: Replay, before: Replay): Replay {
  const last = read.events.at(-1)?.seq ?? 0;
  const newer = read.isComplete ? before.events.filter(({ seq }) => seq > last) : [];
  return { ...read, events: [...read.events, ...newer], uncheckedFrom: newer[0]?.seq };
}

export interface Moment {
  status: string;
  /** Unknown until something was counted. */
  tokens: number | undefined;
  /** Whether the tokens were counted by the provider, or estimated from characters. */
  isEstimated: boolean;
  /** In US dollars; unknown without a price. */
  cost: number | undefined;
  /** What was printed, in the pieces in which it came. */
  output: string[];
  policyDenials: number;
  startedAt: string;
  at: string;
}

/** How the run stood after these events. */
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
  // What the provider counted is right, whatever was estimated.
  moment.tokens = reported ?? estimated;
  moment.isEstimated = reported === undefined && estimated !== undefined;
  return moment;
}
