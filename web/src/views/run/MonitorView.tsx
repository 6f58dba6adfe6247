// Everything that happens in the company, newest first, as it happens.

import "../company/company.css";
import "./run.css";
import { useMemo, useState } from "react";
import { Page } from "../../app/Page.tsx";
import { List } from "../../parts/List.tsx";
import { Await, Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { at } from "../company/address.ts";
import { Choices } from "../company/Choices.tsx";
import { EVENT_GROUPS, eventLine, groupOf, readEvent, type EventGroup } from "../company/events.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { useEvents, type LiveEvent } from "../company/live.ts";
import { useNames } from "../company/names.ts";
import { useRead } from "../company/reads.ts";
import { EventRow } from "./EventRow.tsx";

/** How many events are kept on screen. */
const KEPT = 1000;

export default function MonitorView({ workspace, dir }: CompanyViewProps) {
  const names = useNames(dir);
  const query = useRead("index.list_events", { workspace_dir: dir, limit: 300, order: "desc" });
  const [news, setNews] = useState<LiveEvent[]>([]);
  const [group, setGroup] = useState<EventGroup>("all");
  const [project, setProject] = useState("all");
  const [filter, setFilter] = useState("");
  useEvents((events) => setNews((before) => [...events.toReversed(), ...before].slice(0, KEPT)));

  const events = useMemo(() => {
    const read = (query.data ?? []).map((row): LiveEvent => {
      let raw: unknown;
      try {
        raw = JSON.parse(row.raw_json);
      } catch {
        raw = {};
      }
      return { ...readEvent(raw, row.seq), run: row.run_id, project: row.project_id };
    });
    const known = new Set(news.map(({ id }) => id));
    return [...news, ...read.filter(({ id }) => !known.has(id))].slice(0, KEPT);
  }, [query.data, news]);
  const shown = events.filter(
    (event) =>
      (group === "all" || groupOf(event.type) === group) &&
      (project === "all" || event.project === project) &&
      `${event.type} ${eventLine(event)} ${names.actor(event.actor)}`
        .toLowerCase()
        .includes(filter.trim().toLowerCase()),
  );
  return (
    <Page title="Live" back={at.runs(workspace)} state={<Status meaning="running">Following</Status>}>
      <div className="toolbar">
        <Choices label="Kind of events" options={EVENT_GROUPS} value={group} onChange={setGroup} />
        <select
          className="input"
          aria-label="Project"
          value={project}
          onChange={(event) => setProject(event.target.value)}
        >
          <option value="all">All projects</option>
          {names.projects.map(({ project_id, name }) => (
            <option key={project_id} value={project_id}>
              {name}
            </option>
          ))}
        </select>
        <input
          className="input"
          type="search"
          aria-label="Filter events"
          placeholder="Filter"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      </div>
      <Await query={query}>
        {() =>
          shown.length === 0 ? (
            <Empty icon="run" title={events.length === 0 ? "Nothing has happened yet" : "No event is like that"}>
              {events.length === 0
                ? "Launch a session with the plus sign on the left; every step of it is written down and shown here."
                : "Choose another kind or clear the filter."}
            </Empty>
          ) : (
            <div className="event-list">
              <List
                label="Events"
                items={shown}
                keyOf={({ run, seq, id }) => id || `${run}#${seq}`}
                hrefOf={({ project, run, seq }) => at.run(workspace, project, run, seq)}
                row={(event) => <EventRow event={event} names={names} place={names.project(event.project)} />}
                rowHeight={28}
              />
            </div>
          )
        }
      </Await>
    </Page>
  );
}
