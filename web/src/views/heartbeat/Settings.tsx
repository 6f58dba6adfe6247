// How the heartbeat is set.

import type { HeartbeatConfig, HeartbeatForecast } from "@accord/client";
import { useState } from "react";
import { InspectorPart } from "../../app/Inspector.tsx";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { TextField } from "../../parts/Field.tsx";
import { toast } from "../../parts/toast.tsx";
import type { Names } from "../company/names.ts";
import { TurnOn } from "./TurnOn.tsx";

const NUMBERS = [
  { name: "tick_interval_minutes", label: "Minutes between beats" },
  { name: "top_k_workers", label: "Workers woken at once" },
  { name: "min_wake_score", label: "Points to be woken" },
  { name: "due_horizon_minutes", label: "Minutes ahead a task counts as due" },
  { name: "stuck_job_running_minutes", label: "Minutes until a job counts as stuck" },
  { name: "max_auto_actions_per_tick", label: "Actions without asking, at once" },
  { name: "max_auto_actions_per_hour", label: "Actions without asking, in an hour" },
  { name: "quiet_hours_start_hour", label: "Quiet from, hour" },
  { name: "quiet_hours_end_hour", label: "Quiet until, hour" },
] as const;

export function Settings({
  dir,
  names,
  config,
  wasOn,
}: {
  dir: string;
  names: Names;
  config: HeartbeatConfig;
  /** Whether it beats by itself now. */
  wasOn: boolean;
}) {
  const [isOn, setOn] = useState(wasOn);
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(NUMBERS.map(({ name }) => [name, String(config[name] ?? "")])),
  );
  const isChanged =
    isOn !== wasOn || NUMBERS.some(({ name }) => values[name] !== String(config[name] ?? ""));
  const isGood = NUMBERS.every(({ name }) => /^\d+$/.test(values[name] ?? ""));
  const [forecast, setForecast] = useState<HeartbeatForecast>();
  const wanted = () => {
    const numbers = Object.fromEntries(NUMBERS.map(({ name }) => [name, Number(values[name])]));
    return { workspace_dir: dir, enabled: isOn, ...numbers };
  };
  const write = () =>
    attempt("Saving", async () => {
      setForecast(undefined);
      await call("heartbeat.config.set", wanted());
      invalidate(["heartbeat.status"], { workspace_dir: dir });
      toast({ text: "The heartbeat is set anew" });
    });
  const leaveOff = () => {
    setForecast(undefined);
    setOn(false);
  };
  const save = () => {
    if (!isOn || wasOn) return write();
    // Turning it on starts workers later, so a person sees first which and how many.
    return attempt("Asking", async () => {
      const answer = await call("heartbeat.config.set", { ...wanted(), dry_run: true });
      setForecast(answer.forecast ?? undefined);
    });
  };
  return (
    <InspectorPart title="When it wakes whom">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isChanged && isGood) void save();
        }}
      >
        <div className="field">
          <span className="check">
            <input id="heartbeat-on" type="checkbox" checked={isOn} onChange={(event) => setOn(event.target.checked)} />
            <label htmlFor="heartbeat-on">Beats by itself</label>
          </span>
        </div>
        {NUMBERS.map(({ name, label }) => (
          <TextField
            key={name}
            label={label}
            inputMode="numeric"
            value={values[name]}
            onChange={(event) => setValues({ ...values, [name]: event.target.value.replace(/\D/g, "") })}
          />
        ))}
        <div className="inspector-actions">
          <Button kind="primary" type="submit" disabled={!isChanged || !isGood}>
            Save
          </Button>
        </div>
      </form>
      {forecast && (
        <TurnOn forecast={forecast} names={names} onConfirm={() => void write()} onClose={leaveOff} />
      )}
    </InspectorPart>
  );
}
