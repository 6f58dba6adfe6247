// The filter of events by type and text.

import { useCallback, useState } from "react";
import { Choices } from "../company/Choices.tsx";
import { EVENT_GROUPS, eventLine, groupOf, type EventGroup, type RunEvent } from "../company/events.ts";
import type { Names } from "../company/names.ts";

export interface EventFilter {
  group: EventGroup;
  setGroup: (group: EventGroup) => void;
  text: string;
  setText: (text: string) => void;
  fits: (event: RunEvent) => boolean;
}

export function useEventFilter(names: Names): EventFilter {
  const [group, setGroup] = useState<EventGroup>("all");
  const [text, setText] = useState("");
  const fits = useCallback(
    (event: RunEvent) => {
      if (group !== "all" && groupOf(event.type) !== group) return false;
      const wanted = text.trim().toLowerCase();
      if (wanted === "") return true;
      return `${event.type} ${eventLine(event)} ${names.actor(event.actor)}`.toLowerCase().includes(wanted);
    },
    [group, text, names],
  );
  return { group, setGroup, text, setText, fits };
}

export function EventKinds({ filter }: { filter: EventFilter }) {
  return <Choices label="Event type" options={EVENT_GROUPS} value={filter.group} onChange={filter.setGroup} />;
}

export function EventWords({ filter }: { filter: EventFilter }) {
  return (
    <input
      className="input"
      type="search"
      aria-label="Filter events"
      placeholder="Filter"
      value={filter.text}
      onChange={(event) => filter.setText(event.target.value)}
    />
  );
}
