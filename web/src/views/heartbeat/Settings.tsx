// How the heartbeat is set.

import type { HeartbeatConfig } from "@accord/client";
import { useState } from "react";
import { InspectorPart } from "../../app/Inspector.tsx";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { TextField } from "../../parts/Field.tsx";
import { toast } from "../../parts/toast.tsx";

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

export function Settings({ dir, config }: { dir: string; config: HeartbeatConfig }) {
  const [isOn, setOn] = useState(config.enabled ?? false);
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(NUMBERS.map(({ name }) => [name, String(config[name] ?? "")])),
  );
  const isChanged =
    isOn !== (config.enabled ?? false) || NUMBERS.some(({ name }) => values[name] !== String(config[name] ?? ""));
  const isGood = NUMBERS.every(({ name }) => /^\d+$/.test(values[name] ?? ""));
  const save = () =>
    attempt("Saving", async () => {
      const numbers = Object.fromEntries(NUMBERS.map(({ name }) => [name, Number(values[name])]));
      await call("heartbeat.config.set", { workspace_dir: dir, enabled: isOn, ...numbers });
      invalidate(["heartbeat.status"], { workspace_dir: dir });
      toast({ text: "The heartbeat is set anew" });
    });
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
    </InspectorPart>
  );
}
