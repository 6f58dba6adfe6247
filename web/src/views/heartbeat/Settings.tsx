// The settings of the heartbeat.

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
  { name: "tick_interval_minutes", label: "Interval (minutes)" },
  { name: "top_k_workers", label: "Maximum workers per heartbeat" },
  { name: "min_wake_score", label: "Minimum wake score" },
  { name: "due_horizon_minutes", label: "Due soon (minutes ahead)" },
  { name: "stuck_job_running_minutes", label: "Job is stuck after (minutes)" },
  { name: "max_auto_actions_per_tick", label: "Automatic actions per heartbeat" },
  { name: "max_auto_actions_per_hour", label: "Automatic actions per hour" },
  { name: "quiet_hours_start_hour", label: "Quiet hours start (hour)" },
  { name: "quiet_hours_end_hour", label: "Quiet hours end (hour)" },
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
  /** Whether it currently runs automatically. */
  wasOn: boolean;
}) {
  const [isOn, setOn] = useState(wasOn);
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(NUMBERS.map(({ name }) => [name, String(config[name] ?? "")])),
  );
  const isChanged = isOn !== wasOn || NUMBERS.some(({ name }) => values[name] !== String(config[name] ?? ""));
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
      toast({ text: "Heartbeat settings saved" });
    });
  const leaveOff = () => {
    setForecast(undefined);
    setOn(false);
  };
  const save = () => {
    if (!isOn || wasOn) return write();
    // The heartbeat starts workers, so the user confirms a forecast first.
    return attempt("Loading the forecast", async () => {
      const answer = await call("heartbeat.config.set", { ...wanted(), dry_run: true });
      setForecast(answer.forecast ?? undefined);
    });
  };
  return (
    <InspectorPart title="Schedule and limits">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isChanged && isGood) void save();
        }}
      >
        <div className="field">
          <span className="check">
            <input id="heartbeat-on" type="checkbox" checked={isOn} onChange={(event) => setOn(event.target.checked)} />
            <label htmlFor="heartbeat-on">Run automatically</label>
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
      {forecast && <TurnOn forecast={forecast} names={names} onConfirm={() => void write()} onClose={leaveOff} />}
    </InspectorPart>
  );
}
