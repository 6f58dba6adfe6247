// The heartbeat: whom it would wake now and why, what it did last, how it is set.

import "../company/company.css";
import type { HeartbeatStatusResponse, HeartbeatTickResponse } from "@accord/client";
import { useState } from "react";
import { Inspector, InspectorToggle } from "../../app/Inspector.tsx";
import { Page } from "../../app/Page.tsx";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { useKeys } from "../../keys/keys.ts";
import { Button } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { count } from "../../parts/size.ts";
import { Await, Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { useNames, words } from "../company/names.ts";
import { useRead } from "../company/reads.ts";
import { Stats } from "../company/Stats.tsx";
import { Candidates, Wakes } from "./Tick.tsx";
import { Settings } from "./Settings.tsx";

/** A company whose heartbeat was never set does not beat, whatever its settings would be. */
const isOn = ({ config, runtime }: Pick<HeartbeatStatusResponse, "config" | "runtime">) =>
  Boolean(config.enabled && runtime.loop_running);

export default function HeartbeatView({ workspace, dir }: CompanyViewProps) {
  const names = useNames(dir);
  const query = useRead("heartbeat.status", { workspace_dir: dir }, { everyMs: 15_000 });
  const [tick, setTick] = useState<HeartbeatTickResponse>();
  const [isBusy, setBusy] = useState(false);
  const beat = async (dry_run: boolean) => {
    setBusy(true);
    await attempt(dry_run ? "The dry run" : "The tick", async () => {
      setTick(await call("heartbeat.tick", { workspace_dir: dir, dry_run, reason: "desktop" }));
      if (!dry_run) invalidate(["heartbeat.status", "inbox.snapshot", "job.list"], { workspace_dir: dir });
    });
    setBusy(false);
  };
  useKeys("Heartbeat", [{ key: "t", label: "Dry run: whom would it wake?", run: () => void beat(true) }]);
  const last = query.data?.runtime.last_tick_summary;
  // A dry run is shown where it was asked for; the next visit shows the last real tick again.
  const shown = tick ?? (last && !last.dry_run ? last : undefined);
  return (
    <Page
      title="Heartbeat"
      back={at.people(workspace)}
      state={
        query.data && (
          <Status
            meaning={query.data.runtime.tick_in_progress ? "running" : isOn(query.data) ? "done" : "idle"}
          >
            {query.data.runtime.tick_in_progress ? "Looks around now" : isOn(query.data) ? "On" : "Off"}
          </Status>
        )
      }
      actions={
        <>
          <Button disabled={isBusy} onClick={() => void beat(true)}>
            Dry run
          </Button>
          <Button kind="primary" disabled={isBusy} onClick={() => void beat(false)}>
            Beat now
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
                The settings cannot be read, so it does not beat: {config_error}
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
                  label: "Last",
                  value: state.last_tick_at ? <Time at={state.last_tick_at} /> : "never",
                  note: state.last_tick_reason ?? "",
                },
                {
                  label: "Next",
                  value: state.next_tick_at && runtime.loop_running ? <Time at={state.next_tick_at} /> : "not planned",
                  note: `every ${config.tick_interval_minutes ?? 20} min`,
                },
                {
                  label: "Beats",
                  value: count(state.stats?.ticks_total ?? 0),
                  note: `${state.stats?.workers_woken_total ?? 0} wakes`,
                },
                {
                  label: "Did by itself",
                  value: count(state.stats?.actions_executed_total ?? 0),
                  note: `${state.stats?.approvals_queued_total ?? 0} asked first`,
                },
              ]}
            />
            {shown?.skipped_reason ? (
              <Skipped tick={shown} isOn={isOn({ config, runtime })} />
            ) : shown ? (
              <>
                <section className="block">
                  <h2>
                    {shown.dry_run ? "It would wake" : "It woke"}
                    {shown.woken_workers.length === 0 && " no worker"}
                    <span className="muted">
                      <Time at={shown.started_at} />, reason: {words(shown.reason).toLowerCase()}
                      {shown.dry_run && "; nothing was written"}
                    </span>
                  </h2>
                  <Wakes tick={shown} names={names} workspace={workspace} />
                </section>
                <section className="block">
                  <h2>
                    The workers it looked at{" "}
                    <span className="muted">
                      woken from {config.min_wake_score ?? 0} points on, at most {config.top_k_workers ?? 0} at once
                    </span>
                  </h2>
                  <Candidates tick={shown} names={names} workspace={workspace} />
                </section>
              </>
            ) : (
              <Empty
                icon="history"
                title="It has not beaten yet"
                action={
                  <Button kind="primary" onClick={() => void beat(true)}>
                    Dry run
                  </Button>
                }
              >
                A dry run tells which workers it would wake now and why. Nothing is written and no worker is woken.
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
    text: "It looked at no worker and woke none. Tick “Beats by itself” in the settings and save to turn it on.",
  },
  tick_already_in_progress: {
    title: "Another beat is in progress",
    text: "This one looked at no worker and woke none.",
  },
  ticked_by_another_process: {
    title: "Another process has just beaten",
    text: "This beat looked at no worker and woke none.",
  },
};

/** A beat that did nothing, and why. */
function Skipped({ tick, isOn }: { tick: HeartbeatTickResponse; isOn: boolean }) {
  const reason = tick.skipped_reason ?? "";
  const { title, text } = SKIPPED[reason] ?? { title: "This beat did nothing", text: words(reason) };
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
