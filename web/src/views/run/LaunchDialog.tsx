// The dialog that starts a run of a worker or a shell command. The preview shows policy, queue, budget and the exact
// command without creating a run.

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

const PROGRAMS = [{ value: "cmd", label: "Shell command" }, ...WORKERS];
const PRIORITIES = [
  { value: "normal", label: "Normal" },
  { value: "high", label: "High" },
  { value: "low", label: "Low" },
] as const;

/** The id of a run that is only previewed and never created. */
const PREVIEW = "run_preview";

/** The maximum length of a goal that is taken from a prompt, in characters. */
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
    busy("Loading the preview", async () => {
      const { explain } = await call("session.launch", {
        ...request(PREVIEW),
        explain: true,
        explain_run: { agent_id: agent, provider },
      });
      setExplained(explain ?? undefined);
    });
  const launch = () =>
    busy("Starting the run", async () => {
      // The gateway names the run of a command; the first line of a prompt becomes the goal.
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
        if (state === "failed") throw new Error(error ?? "the worker process could not be started");
        toast({ text: state === "queued" ? `Queued at position ${queue_position ?? "?"}` : "Run started" });
      } catch (failure) {
        // Cancels the run, so that it does not stay as not started.
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
    <Dialog title="Start a run" open onClose={onClose} wide>
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
            label="Worker"
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
              label="Permissions"
              value={may}
              onChange={(event) => changed(setMay)(event.target.value as Permission)}
              options={[...PERMISSIONS]}
            />
          )}
          <AssignmentFields
            assignment={assignment}
            none={isCommand ? "None (company folder)" : "None (empty folder)"}
            onChange={() => setExplained(undefined)}
          />
          <div className="field span">
            <label htmlFor="launch-text">{isCommand ? "Shell command" : "Prompt"}</label>
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
            label="Token limit"
            inputMode="numeric"
            placeholder="No limit"
            value={limit}
            onChange={(event) => changed(setLimit)(event.target.value.replace(/\D/g, ""))}
          />
        </div>
        {explained && <Explanation explained={explained} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button disabled={!canAsk} onClick={() => void explain()}>
            Preview
          </Button>
          <Button kind="primary" disabled={!canAsk} onClick={() => void launch()}>
            Start run
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
