// The heartbeat: its status, the last or a dry run, and its settings.

import "../company/company.css";
import type { HeartbeatStatusResponse, HeartbeatTickResponse } from "@accord/client";
import { useState } from "react";
import { Inspector, InspectorToggle } from "../../app/Inspector.tsx";
import { Page } from "../../app/Page.tsx";
import { attempt, call, invalidate, useCall } from "../../data/calls.ts";
import { useKeys } from "../../keys/keys.ts";
import { Button } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { count } from "../../parts/size.ts";
import { Await, Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { plural, useNames, words } from "../company/names.ts";
import { Stats } from "../company/Stats.tsx";
import { Candidates, Wakes } from "./Tick.tsx";
import { Settings } from "./Settings.tsx";

/** Returns whether the heartbeat runs. Without a saved configuration it does not, whatever the defaults are. */
const isOn = ({ config, runtime }: Pick<HeartbeatStatusResponse, "config" | "runtime">) =>
  Boolean(config.enabled && runtime.loop_running);

export default function HeartbeatView({ workspace, dir }: CompanyViewProps) {
  const names = useNames(dir);
  const query = useCall("heartbeat.status", { workspace_dir: dir }, { everyMs: 15_000 });
  const [tick, setTick] = useState<HeartbeatTickResponse>();
  const [isBusy, setBusy] = useState(false);
  const beat = async (dry_run: boolean) => {
    setBusy(true);
    await attempt(dry_run ? "Dry run" : "Running the heartbeat", async () => {
      setTick(await call("heartbeat.tick", { workspace_dir: dir, dry_run, reason: "desktop" }));
      if (!dry_run) invalidate(["heartbeat.status", "inbox.snapshot", "job.list"], { workspace_dir: dir });
    });
    setBusy(false);
  };
  useKeys("Heartbeat", [{ key: "t", label: "Dry run", run: () => void beat(true) }]);
  const last = query.data?.runtime.last_tick_summary;
  // A dry run is shown only in this view; the next visit shows the last real heartbeat.
  const shown = tick ?? (last && !last.dry_run ? last : undefined);
  return (
    <Page
      title="Heartbeat"
      back={at.people(workspace)}
      state={
        query.data && (
          <Status meaning={query.data.runtime.tick_in_progress ? "running" : isOn(query.data) ? "done" : "idle"}>
            {query.data.runtime.tick_in_progress ? "Running" : isOn(query.data) ? "On" : "Off"}
          </Status>
        )
      }
      actions={
        <>
          <Button disabled={isBusy} onClick={() => void beat(true)}>
            Dry run
          </Button>
          <Button kind="primary" disabled={isBusy} onClick={() => void beat(false)}>
            Run now
          </Button>
          <InspectorToggle />
        </>
      }
    >
      <Await query={query}>
        {({ config, config_error, runtime, state }) => (
          <div className="wide-column">
            {config_error && (
              <p className="notice failed">
                <Icon name="alert" />
                The heartbeat is stopped because its settings cannot be read: {config_error}
              </p>
            )}
            {runtime.last_error && (
              <p className="notice failed">
                <Icon name="alert" />
                {runtime.last_error}
              </p>
            )}
            <Stats
              list={[
                {
                  label: "Last run",
                  value: state.last_tick_at ? <Time at={state.last_tick_at} /> : "Never",
                  note: state.last_tick_reason ?? "",
                },
                {
                  label: "Next run",
                  value:
                    state.next_tick_at && runtime.loop_running ? <Time at={state.next_tick_at} /> : "Not scheduled",
                  note: `every ${config.tick_interval_minutes ?? 20} min`,
                },
                {
                  label: "Heartbeats",
                  value: count(state.stats?.ticks_total ?? 0),
                  note: `${plural(state.stats?.workers_woken_total ?? 0, "worker")} woken`,
                },
                {
                  label: "Automatic actions",
                  value: count(state.stats?.actions_executed_total ?? 0),
                  note: `${count(state.stats?.approvals_queued_total ?? 0)} sent for approval`,
                },
              ]}
            />
            {shown?.skipped_reason ? (
              <Skipped tick={shown} isOn={isOn({ config, runtime })} />
            ) : shown ? (
              <>
                <section className="block">
                  <h2>
                    {shown.dry_run ? "Would wake" : "Woken workers"}
                    {shown.woken_workers.length === 0 && (shown.dry_run ? " no workers" : ": none")}
                    <span className="muted">
                      <Time at={shown.started_at} />, reason: {words(shown.reason).toLowerCase()}
                      {shown.dry_run && "; no changes made"}
                    </span>
                  </h2>
                  <Wakes tick={shown} names={names} workspace={workspace} />
                </section>
                <section className="block">
                  <h2>
                    Evaluated workers{" "}
                    <span className="muted">
                      wake score {config.min_wake_score ?? 0} or higher, at most {config.top_k_workers ?? 0} per
                      heartbeat
                    </span>
                  </h2>
                  <Candidates tick={shown} names={names} workspace={workspace} />
                </section>
              </>
            ) : (
              <Empty
                icon="history"
                title="The heartbeat has not run yet"
                action={
                  <Button kind="primary" onClick={() => void beat(true)}>
                    Dry run
                  </Button>
                }
              >
                The heartbeat looks for due or stuck tasks and wakes workers. A dry run shows which workers it would
                wake and why, without changing anything.
              </Empty>
            )}
            <Inspector title="Settings">
              <Settings
                key={JSON.stringify(config)}
                dir={dir}
                names={names}
                config={config}
                wasOn={isOn({ config, runtime })}
              />
            </Inspector>
          </div>
        )}
      </Await>
    </Page>
  );
}

const SKIPPED: Record<string, { title: string; text: string }> = {
  heartbeat_disabled: {
    title: "The heartbeat is off",
    text: "No workers were evaluated. To turn it on, select “Run automatically” in the settings and save.",
  },
  tick_already_in_progress: {
    title: "Another heartbeat is in progress",
    text: "No workers were evaluated.",
  },
  ticked_by_another_process: {
    title: "Another process just ran the heartbeat",
    text: "No workers were evaluated.",
  },
};

/** A skipped heartbeat with the reason. */
function Skipped({ tick, isOn }: { tick: HeartbeatTickResponse; isOn: boolean }) {
  const reason = tick.skipped_reason ?? "";
  const { title, text } = SKIPPED[reason] ?? { title: "This heartbeat was skipped", text: words(reason) };
  return (
    <section className="block">
      <h2>
        {isOn ? title.replace(" is ", " was ") : title}
        <span className="muted">
          <Time at={tick.started_at} />
          {tick.dry_run && ", dry run"}
        </span>
      </h2>
      {!isOn && <p className="notice waiting">{text}</p>}
    </section>
  );
}
