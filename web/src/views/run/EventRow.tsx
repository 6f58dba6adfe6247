// An event as a row of a list, and its details.

import { AnsiText } from "../../parts/Ansi.tsx";
import { StatusDot } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { eventLine, eventMeaning, type RunEvent } from "../company/events.ts";
import type { Names } from "../company/names.ts";
import { audience } from "../company/names.ts";
import { Code } from "../company/Code.tsx";
import { readable } from "../company/worker-output.ts";

export function EventRow({
  event,
  names,
  isBad = false,
  isNew = false,
  place,
  since,
}: {
  event: RunEvent;
  names: Names;
  isBad?: boolean;
  /** Whether the row slides in. Default false. */
  isNew?: boolean;
  /** The name of its run, shown instead of the actor. */
  place?: string;
  /** The start of its run (ISO 8601). If given, the time since then is shown instead of the age. */
  since?: string | undefined;
}) {
  return (
    <div className={["event", isBad && "bad", isNew && "new-event"].filter(Boolean).join(" ")}>
      <span className="event-seq">{event.seq}</span>
      <StatusDot meaning={isBad ? "failed" : eventMeaning(event)} />
      <span className="event-type">{event.type}</span>
      <span className="event-line">{isBad ? "Hash does not match" : eventLine(event)}</span>
      <span className="event-actor" title={place}>
        {place ?? names.actor(event.actor)}
      </span>
      {since ? (
        <time dateTime={event.at} title={event.at}>
          {after(since, event.at)}
        </time>
      ) : (
        event.at && <Time at={event.at} />
      )}
    </div>
  );
}

function after(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  if (ms < 1000) return `+${ms} ms`;
  if (ms < 60_000) return `+${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `+${Math.round(ms / 60_000)} min`;
  return `+${Math.round(ms / 3_600_000)} h`;
}

export function EventDetails({ event, names }: { event: RunEvent; names: Names }) {
  const chunk = typeof event.payload["chunk"] === "string" ? event.payload["chunk"] : undefined;
  const text = readable(chunk ?? "");
  return (
    <div className="event-details">
      <dl className="facts">
        <dt>Event</dt>
        <dd>
          {event.seq} <span className="mono">{event.id}</span>
        </dd>
        <dt>Type</dt>
        <dd>{event.type}</dd>
        <dt>Actor</dt>
        <dd>{names.actor(event.actor)}</dd>
        <dt>Time</dt>
        <dd>{event.at}</dd>
        <dt>Visible to</dt>
        <dd>{audience(event.visibility)}</dd>
        <dt>Hash</dt>
        <dd className="mono">{event.hash.slice(0, 16)}…</dd>
        <dt>Previous hash</dt>
        <dd className="mono">{event.previousHash ? `${event.previousHash.slice(0, 16)}…` : "None (first event)"}</dd>
      </dl>
      {chunk === undefined ? (
        <Code text={JSON.stringify(event.payload, null, 2)} label="Payload" />
      ) : (
        <>
          <pre className="code-block" tabIndex={0} role="region" aria-label="Output">
            <AnsiText text={text} />
          </pre>
          {text !== chunk && (
            <details>
              <summary>Raw output</summary>
              <Code text={chunk} label="Raw output" />
            </details>
          )}
        </>
      )}
    </div>
  );
}
