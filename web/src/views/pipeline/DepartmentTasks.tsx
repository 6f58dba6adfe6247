// The workers of a department: assigns tasks and shows their status.

import { useState } from "react";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Status } from "../../parts/Status.tsx";
import { toast } from "../../parts/toast.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import { ME } from "../company/me.ts";
import { meaningOf } from "../company/meaning.ts";
import { plural, words, type Names } from "../company/names.ts";
import type { Department } from "./pipeline.ts";

interface Props {
  workspace: string;
  dir: string;
  project: string;
  executivePlan: string;
  department: Department;
  names: Names;
}

export function DepartmentTasks({ workspace, dir, project, executivePlan, department, names }: Props) {
  const { key, label, director, workers, tasks } = department;
  const taskOf = (agent: string) => tasks.find(({ frontmatter }) => frontmatter.assignee_agent_id === agent);
  const free = workers.filter(({ agent_id }) => !taskOf(agent_id));
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const chosen = free.filter(({ agent_id }) => !left.has(agent_id));
  const [isBusy, setBusy] = useState(false);
  const toggle = (agent: string) => {
    const next = new Set(left);
    if (!next.delete(agent)) next.add(agent);
    setLeft(next);
  };
  const assign = async () => {
    setBusy(true);
    await attempt("Assigning the tasks", async () => {
      const { created_task_ids, denied_assignments } = await call("pipeline.department.assign_tasks", {
        workspace_dir: dir,
        project_id: project,
        department_key: key,
        director_agent_id: director,
        worker_agent_ids: chosen.map(({ agent_id }) => agent_id),
        approved_executive_plan_artifact_id: executivePlan,
        ...ME,
      });
      invalidate(["task.list", "pm.snapshot", "workspace.home.snapshot"], { workspace_dir: dir });
      const [denied] = denied_assignments;
      if (denied)
        throw new Error(`${names.actor(denied.worker_agent_id)} was not assigned a task: ${words(denied.reason)}`);
      toast({ text: `${label}: ${plural(created_task_ids.length, "task")} assigned` });
    });
    setBusy(false);
  };
  return (
    <section className="department" aria-label={label}>
      <h3>{label}</h3>
      {workers.length === 0 && <p className="muted">This department has no workers.</p>}
      <ul className="plain-lines">
        {workers.map(({ agent_id }) => {
          const task = taskOf(agent_id);
          return (
            <li key={agent_id}>
              {task ? (
                <>
                  <Link to={at.plan(workspace, project, task.task_id)}>{names.actor(agent_id)}</Link>
                  <Status meaning={meaningOf(task.frontmatter.status)}>{words(task.frontmatter.status)}</Status>
                </>
              ) : (
                <label className="check">
                  <input type="checkbox" checked={!left.has(agent_id)} onChange={() => toggle(agent_id)} />
                  {names.actor(agent_id)}
                </label>
              )}
            </li>
          );
        })}
      </ul>
      {free.length > 0 && (
        <div className="step-actions">
          <Button disabled={chosen.length === 0 || isBusy} onClick={() => void assign()}>
            Assign {plural(chosen.length, "task")}
          </Button>
        </div>
      )}
    </section>
  );
}
