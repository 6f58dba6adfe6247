// The live events of all runs, newest first.

import "../company/company.css";
import "./run.css";
import { useMemo, useState } from "react";
import { Page } from "../../app/Page.tsx";
import { useConnection } from "../../data/client.ts";
import { useCall } from "../../data/calls.ts";
import { useKeys } from "../../keys/keys.ts";
import { Button } from "../../parts/Button.tsx";
import { Kbd } from "../../parts/Kbd.tsx";
import { List } from "../../parts/List.tsx";
import { count } from "../../parts/size.ts";
import { Await, Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { runName, shortId, useNames } from "../company/names.ts";
import { ALL, ProjectChoice } from "../company/ProjectChoice.tsx";
import { EventKinds, EventWords, useEventFilter } from "./EventFilter.tsx";
import { EventRow } from "./EventRow.tsx";
import { keyOf, useHistory } from "./history.ts";
import { LaunchDialog } from "./LaunchDialog.tsx";

export default function MonitorView({ workspace, dir }: CompanyViewProps) {
  const names = useNames(dir);
  const filter = useEventFilter(names);
  const [project, setProject] = useState(ALL);
  const { query, events, fresh, hasOlder, isLoading, loadOlder } = useHistory(dir, project);
  const runs = useCall("run.list", { workspace_dir: dir }).data;
  const nameOf = useMemo(() => {
    const known = new Map(runs?.map((run) => [run.run_id, runName(run, names)]));
    return (run: string) => known.get(run) ?? shortId(run);
  }, [runs, names]);
  const isOnline = useConnection() === "open";
  const shown = events.filter(filter.fits);
  const older = hasOlder && (
    <Button disabled={isLoading} onClick={() => void loadOlder()}>
      {isLoading ? "Loading…" : "Load older events"} <Kbd keys="o" />
    </Button>
  );
  const [isLaunching, setLaunching] = useState(false);
  const launch = (
    <Button kind="primary" icon="play" onClick={() => setLaunching(true)}>
      Start run
    </Button>
  );
  useKeys("Activity", hasOlder ? [{ key: "o", label: "Load older events", run: () => void loadOlder() }] : []);
  return (
    <Page
      title="Activity"
      back={at.runs(workspace)}
      crumbs={[{ label: "Runs", to: at.live(workspace) }]}
      state={<Status meaning={isOnline ? "running" : "waiting"}>{isOnline ? "Live" : "Not connected"}</Status>}
    >
      <div className="toolbar">
        <EventKinds filter={filter} />
        <ProjectChoice names={names} value={project} onChange={setProject} />
        <EventWords filter={filter} />
      </div>
      <Await query={query}>
        {() =>
          shown.length === 0 ? (
            <Empty
              icon="run"
              title={events.length === 0 ? "No activity yet" : "No matching events"}
              action={events.length === 0 ? launch : older}
            >
              {events.length === 0
                ? "Events of all runs appear here as they happen."
                : hasOlder
                  ? `No match in the newest ${count(events.length)} events. Load older events to search further.`
                  : "Choose another type or clear the filter."}
            </Empty>
          ) : (
            <>
              <div className="event-list">
                <List
                  label="Events"
                  items={shown}
                  keyOf={keyOf}
                  hrefOf={({ project, run, seq }) => at.run(workspace, project, run, seq)}
                  row={(event) => (
                    <EventRow event={event} names={names} isNew={fresh.has(keyOf(event))} place={nameOf(event.run)} />
                  )}
                  rowHeight={28}
                />
              </div>
              <div className="event-end">
                <span className="muted" role="status">
                  {shown.length < events.length ? `${count(shown.length)} of ` : ""}
                  {hasOlder ? `the newest ${count(events.length)} events` : `all ${count(events.length)} events`}
                </span>
                {older}
              </div>
            </>
          )
        }
      </Await>
      {isLaunching && (
        <LaunchDialog workspace={workspace} dir={dir} names={names} onClose={() => setLaunching(false)} />
      )}
    </Page>
  );
}
