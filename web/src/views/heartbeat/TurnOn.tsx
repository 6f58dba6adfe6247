// The confirmation before the heartbeat is turned on: workers, schedule and token limits.

import type { HeartbeatForecast } from "@accord/client";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { count } from "../../parts/size.ts";
import { WORKERS } from "../company/worker.ts";
import { plural, type Names } from "../company/names.ts";

const programOf = (kind: string) => WORKERS.find(({ value }) => value === kind)?.label ?? kind;

export function TurnOn({
  forecast,
  names,
  onConfirm,
  onClose,
}: {
  forecast: HeartbeatForecast;
  names: Names;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { agents, token_caps } = forecast;
  return (
    <Dialog title="Turn on the heartbeat?" description={forecast.summary} open onClose={onClose}>
      <dl className="facts">
        <dt>Can start</dt>
        <dd>
          {agents.length === 0 && "No agents"}
          {agents.map(({ agent_id, worker_kind }) => (
            <div key={agent_id}>
              {names.actor(agent_id)} ({programOf(worker_kind)})
            </div>
          ))}
        </dd>
        <dt>Schedule</dt>
        <dd>
          Every {plural(forecast.tick_interval_minutes, "minute")}, at most{" "}
          {plural(forecast.max_workers_per_hour, "worker")} per hour
        </dd>
        <dt>Token limit</dt>
        <dd>
          {token_caps.map(({ project_id, name, hard_tokens }) => (
            <div key={project_id}>
              {name}: {hard_tokens == null ? "None" : `${count(hard_tokens)} tokens`}
            </div>
          ))}
        </dd>
      </dl>
      <DialogActions>
        <Button onClick={onClose}>Keep it off</Button>
        <Button kind="primary" onClick={onConfirm}>
          Turn on
        </Button>
      </DialogActions>
    </Dialog>
  );
}
