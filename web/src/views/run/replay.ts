// The events of one run: read from its log with every hash checked, then as they come.

import type { ReplayParseIssue, ReplayVerificationIssue } from "@accord/client";
import { useCallback, useEffect, useState } from "react";
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

/** Reads the whole log and goes on with what comes. */
export function useReplay(dir: string, project: string, run: string): Replay & { check: () => void } {
  const [replay, setReplay] = useState(NOTHING);
  const [generation, setGeneration] = useState(0);
  const check = useCallback(() => setGeneration((n) => n + 1), []);

  useEffect(() => {
    const abort = new AbortController();
    void (async () => {
      let after: number | undefined;
      let so: Replay = NOTHING;
      do {
        const page = await call(
          "run.replay",
          {
            workspace_dir: dir,
            project_id: project,
            run_id: run,
            mode: "verified",
            limit: PAGE,
            ...(after === undefined ? {} : { after_seq: after }),
          },
          { signal: abort.signal },
        );
        const unreadable = new Set([...so.parseIssues, ...page.parse_issues].map(({ seq }) => seq));
        let seq = after ?? 0;
        const events = page.events.map((event) => {
          do seq += 1;
          while (unreadable.has(seq));
          return readEvent(event, seq);
        });
        after = page.next_cursor ?? undefined;
        so = {
          events: [...so.events, ...events],
          issues: [...so.issues, ...page.verification_issues],
          parseIssues: [...so.parseIssues, ...page.parse_issues],
          isComplete: after === undefined,
          uncheckedFrom: undefined,
        };
        const read = so;
        setReplay((before) => withNewer(read, before));
      } while (after !== undefined);
    })().catch((error: unknown) => {
      if (!abort.signal.aborted) setReplay((before) => ({ ...before, error }));
    });
    return () => abort.abort();
  }, [dir, project, run, generation]);

  // Events that were missed while there was no connection are in the log.
  useEffect(() => client.onGap(check), [check]);
  useEvents((news) => {
    const own = news.filter((event) => event.run === run && event.seq > 0);
    if (own.length === 0) return;
    setReplay((before) => {
      const last = before.events.at(-1)?.seq ?? 0;
      const newer = own.filter(({ seq }) => seq > last);
      if (newer.length === 0) return before;
      return { ...before, events: [...before.events, ...newer], uncheckedFrom: before.uncheckedFrom ?? newer[0]?.seq };
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
  tokens: number;
  cost: number;
  output: string;
  policyDenials: number;
  startedAt: string;
  at: string;
}

/** How the run stood after these events. */
export function momentOf(events: RunEvent[]): Moment {
  const moment: Moment = {
    status: "not started",
    tokens: 0,
    cost: 0,
    output: "",
    policyDenials: 0,
    startedAt: events[0]?.at ?? "",
    at: events.at(-1)?.at ?? "",
  };
  for (const { type, payload } of events) {
    if (type === "run.executing") moment.status = "running";
    if (type === "run.ended" || type === "run.failed" || type === "run.stopped") moment.status = type.slice(4);
    if (type === "usage.reported" || type === "usage.estimated") {
      moment.tokens = Math.max(moment.tokens, Number(payload["total_tokens"]) || 0);
    }
    if (type === "usage.cost_computed") moment.cost = Number(payload["cost_usd"]) || 0;
    if (type === "policy.denied") moment.policyDenials += 1;
    if (type === "provider.raw" && typeof payload["chunk"] === "string") moment.output += payload["chunk"];
  }
  return moment;
}
