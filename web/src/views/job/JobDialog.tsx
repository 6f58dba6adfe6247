// The dialog that starts a job.

import { useState } from "react";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { useDraft } from "../../data/drafts.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { LongTextField, SelectField } from "../../parts/Field.tsx";
import { navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import { AssignmentFields, useAssignment } from "../company/Assignment.tsx";
import type { CompanyDialogProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";
import { PERMISSIONS, WORKERS, type Permission, type Worker } from "../company/worker.ts";

export function JobDialog({ workspace, dir, names, onClose }: CompanyDialogProps) {
  const [project, setProject] = useState(names.projects[0]?.project_id ?? "");
  const [kind, setKind] = useState<Worker>("codex");
  const [may, setMay] = useState<Permission>("read-only");
  const [goal, setGoal] = useDraft(`job.${dir}`);
  const assignment = useAssignment(dir, project, names, "the only one");
  const task = assignment.tasks.find(({ task_id }) => task_id === assignment.task);
  const submit = () =>
    attempt("Starting the job", async () => {
      const { job_id } = await call("job.submit", {
        job: {
          workspace_dir: dir,
          project_id: project,
          // The gateway replaces a blank id.
          job_id: " ",
          worker_kind: kind,
          permission_level: may,
          goal: goal.trim(),
          constraints: [],
          deliverables: [],
          // The worker reads the task file in the company folder.
          context_refs: task ? [{ kind: "file", value: task.relpath, description: "the task of this job" }] : [],
          manager_actor_id: ME.actor_id,
          manager_role: ME.actor_role,
        },
        ...assignment.params,
      });
      invalidate(["job.list", "monitor.snapshot"], { workspace_dir: dir });
      setGoal("");
      onClose();
      navigate(at.job(workspace, project, job_id));
    });
  return (
    <Dialog title="New job" open onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (goal.trim()) void submit();
        }}
      >
        <SelectField
          label="Project"
          value={project}
          onChange={(event) => setProject(event.target.value)}
          options={names.projects.map(({ project_id, name }) => ({ value: project_id, label: name }))}
        />
        <SelectField
          label="Worker"
          value={kind}
          onChange={(event) => setKind(event.target.value as Worker)}
          options={[...WORKERS]}
        />
        <SelectField
          label="Permissions"
          value={may}
          onChange={(event) => setMay(event.target.value as Permission)}
          options={[...PERMISSIONS]}
        />
        <AssignmentFields
          assignment={assignment}
          // A job of a project with exactly one repository always uses it.
          none={assignment.repositories.length === 1 ? undefined : "None (empty folder)"}
        />
        <LongTextField label="Goal" rows={4} autoFocus value={goal} onChange={(event) => setGoal(event.target.value)} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={goal.trim() === ""}>
            Start job
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
