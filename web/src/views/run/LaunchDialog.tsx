// Launches a worker or a command. What would happen is shown first: policy, place in the lane, budget, exact command.

import "./run.css";
import type { CompanySessionExplanation, CompanySessionLaunchParams, RunCreateParams } from "@accord/client";
import { useState } from "react";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { useDraft } from "../../data/drafts.ts";
import { readPreference, setPreference } from "../../data/preference.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { SelectField, TextField } from "../../parts/Field.tsx";
import { toast } from "../../parts/toast.tsx";
import { navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyDialogProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";
import { PERMISSIONS, WORKERS, type Permission } from "../company/worker.ts";
import { Explanation } from "./Explanation.tsx";

const PROGRAMS = [{ value: "cmd", label: "A command" }, ...WORKERS];
const PRIORITIES = [
  { value: "normal", label: "Normal" },
  { value: "high", label: "High" },
  { value: "low", label: "Low" },
] as const;

/** A run to ask about and to launch: the one that was made here before and never started, or a new one. */
async function unstartedRun(wanted: RunCreateParams): Promise<string> {
  const { workspace_dir, project_id, agent_id, provider } = wanted;
  const name = `unstarted.${[workspace_dir, project_id, agent_id, provider].join()}`;
  const known = readPreference(name);
  if (known) {
    const runs = await call("run.list", { workspace_dir, project_id });
    const sessions = await call("session.list", { workspace_dir, run_id: known });
    if (sessions.length === 0 && runs.some(({ run_id, status }) => run_id === known && status === "running")) return known;
  }
  const { run_id } = await call("run.create", wanted);
  setPreference(name, run_id);
  return run_id;
}

export function LaunchDialog({ workspace, dir, names, onClose }: CompanyDialogProps) {
  const [project, setProject] = useState(names.projects[0]?.project_id ?? "");
  const [agent, setAgent] = useState(names.agents.find(({ role }) => role === "worker")?.agent_id ?? "");
  const [provider, setProvider] = useState("cmd");
  const [text, setText] = useDraft(`launch.${dir}`);
  const [priority, setPriority] = useState<"high" | "normal" | "low">("normal");
  const [may, setMay] = useState<Permission>("read-only");
  const [limit, setLimit] = useState("");
  const [explained, setExplained] = useState<CompanySessionExplanation>();
  const [isBusy, setBusy] = useState(false);
  const isCommand = provider === "cmd";

  const changed =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value);
      setExplained(undefined);
    };
  const request = async (): Promise<CompanySessionLaunchParams> => {
    return {
      workspace_dir: dir,
      project_id: project,
      run_id: await unstartedRun({ workspace_dir: dir, project_id: project, agent_id: agent, provider }),
      ...ME,
      lane_priority: priority,
      ...(isCommand ? { argv: ["/bin/sh", "-c", text] } : { prompt_text: text, permission_level: may }),
      ...(Number(limit) > 0 ? { budget: { hard_tokens: Number(limit) } } : {}),
    };
  };
  const busy = async (what: string, action: () => Promise<void>) => {
    setBusy(true);
    await attempt(what, action);
    setBusy(false);
  };
  const explain = () =>
    busy("Asking", async () => {
      const { explain } = await call("session.launch", { ...(await request()), explain: true });
      setExplained(explain ?? undefined);
    });
  const launch = () =>
    busy("Launching", async () => {
      const params = await request();
      const { state, queue_position, error } = await call("session.launch", params);
      invalidate(["session.list", "monitor.snapshot", "run.list"], { workspace_dir: dir });
      if (state === "failed") throw new Error(error ?? "the session could not be started");
      toast({ text: state === "queued" ? `It waits at place ${queue_position ?? "?"}` : "Launched" });
      setText("");
      onClose();
      navigate(at.run(workspace, project, params.run_id));
    });
  const canAsk = Boolean(project && agent && text.trim()) && !isBusy;

  return (
    <Dialog title="Launch a session" open onClose={onClose} wide>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (canAsk) void (explained?.would_launch ? launch() : explain());
        }}
      >
        <div className="launch-grid">
          <SelectField
            label="Project"
            value={project}
            onChange={(event) => changed(setProject)(event.target.value)}
            options={names.projects.map(({ project_id, name }) => ({ value: project_id, label: name }))}
          />
          <SelectField
            label="Agent"
            value={agent}
            onChange={(event) => changed(setAgent)(event.target.value)}
            options={names.agents.map(({ agent_id, name, role }) => ({ value: agent_id, label: `${name} (${role})` }))}
          />
          <SelectField
            label="What runs"
            value={provider}
            onChange={(event) => changed(setProvider)(event.target.value)}
            options={PROGRAMS}
          />
          {isCommand ? (
            <SelectField
              label="Priority"
              value={priority}
              onChange={(event) => changed(setPriority)(event.target.value as typeof priority)}
              options={[...PRIORITIES]}
            />
          ) : (
            <SelectField
              label="It may"
              value={may}
              onChange={(event) => changed(setMay)(event.target.value as Permission)}
              options={[...PERMISSIONS]}
            />
          )}
          <div className="field span">
            <label htmlFor="launch-text">{isCommand ? "Command, as a shell reads it" : "What it is asked"}</label>
            <textarea
              id="launch-text"
              className="input mono"
              rows={4}
              spellCheck={false}
              autoFocus
              value={text}
              onChange={(event) => changed(setText)(event.target.value)}
            />
          </div>
          <TextField
            label="Stop after tokens"
            inputMode="numeric"
            placeholder="no limit"
            value={limit}
            onChange={(event) => changed(setLimit)(event.target.value.replace(/\D/g, ""))}
          />
        </div>
        {explained && <Explanation explained={explained} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button disabled={!canAsk} onClick={() => void explain()}>
            What would happen?
          </Button>
          <Button kind="primary" disabled={!canAsk || explained?.would_launch !== true} onClick={() => void launch()}>
            Launch
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
