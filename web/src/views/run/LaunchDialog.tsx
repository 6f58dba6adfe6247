// Launches a worker or a command. On request it shows first what would happen: policy, place in the lane, budget, exact
// command. Asking makes no run.

import "./run.css";
import type { CompanySessionExplanation, CompanySessionLaunchParams } from "@accord/client";
import { useState } from "react";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { useDraft } from "../../data/drafts.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { SelectField, TextField } from "../../parts/Field.tsx";
import { toast } from "../../parts/toast.tsx";
import { navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import { AssignmentFields, useAssignment } from "../company/Assignment.tsx";
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

/** Names a run that is only explained and never made. */
const PREVIEW = "run_preview";

/** Characters of a goal that is taken from a prompt. */
const GOAL = 200;

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
  const assignment = useAssignment(dir, project, names, isCommand ? "none" : "the only one");

  const changed =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value);
      setExplained(undefined);
    };
  const request = (run_id: string): CompanySessionLaunchParams => {
    return {
      workspace_dir: dir,
      project_id: project,
      run_id,
      ...ME,
      lane_priority: priority,
      ...assignment.params,
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
      const { explain } = await call("session.launch", {
        ...request(PREVIEW),
        explain: true,
        explain_run: { agent_id: agent, provider },
      });
      setExplained(explain ?? undefined);
    });
  const launch = () =>
    busy("Launching", async () => {
      // A command names its run by itself; a prompt does by its first line.
      const goal = isCommand ? "" : (text.trim().split("\n")[0]?.trim().slice(0, GOAL) ?? "");
      const { run_id } = await call("run.create", {
        workspace_dir: dir,
        project_id: project,
        agent_id: agent,
        provider,
        ...(goal ? { goal } : {}),
      });
      try {
        const { state, queue_position, error } = await call("session.launch", request(run_id));
        if (state === "failed") throw new Error(error ?? "the session could not be started");
        toast({ text: state === "queued" ? `Queued at place ${queue_position ?? "?"}` : "Launched" });
      } catch (failure) {
        // A run that was not launched is not left behind as one that could be.
        await call("run.cancel", { workspace_dir: dir, project_id: project, run_id, ...ME }).catch(() => {});
        throw failure;
      } finally {
        invalidate(["session.list", "monitor.snapshot", "run.list"], { workspace_dir: dir });
      }
      setText("");
      onClose();
      navigate(at.run(workspace, project, run_id));
    });
  const canAsk = Boolean(project && agent && text.trim()) && !isBusy;

  return (
    <Dialog title="Launch a session" open onClose={onClose} wide>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (canAsk) void launch();
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
          <AssignmentFields
            assignment={assignment}
            none={isCommand ? "None: the company folder" : "None: an empty folder of its own"}
            onChange={() => setExplained(undefined)}
          />
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
          <Button kind="primary" disabled={!canAsk} onClick={() => void launch()}>
            Launch
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
