// The dialog with suggested assignments; the selected ones are saved to their tasks.

import type { GanttTask } from "@accord/client";
import { useState } from "react";
import { attempt, call, invalidate, useCall } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { count } from "../../parts/size.ts";
import { Await } from "../../parts/states.tsx";
import { Table } from "../../parts/Table.tsx";
import { toast } from "../../parts/toast.tsx";
import { ME } from "../company/me.ts";
import { plural, type Names } from "../company/names.ts";

interface Props {
  dir: string;
  project: string;
  names: Names;
  tasks: GanttTask[];
  onClose: () => void;
}

export function Allocations({ dir, project, names, tasks, onClose }: Props) {
  const query = useCall("pm.recommend_allocations", { workspace_dir: dir, project_id: project });
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const chosen = query.data?.recommendations.filter(({ task_id }) => !left.has(task_id)) ?? [];
  const toggle = (task: string) => {
    const next = new Set(left);
    if (!next.delete(task)) next.add(task);
    setLeft(next);
  };
  const apply = () =>
    attempt("Applying the assignments", async () => {
      const { updated_task_ids } = await call("pm.apply_allocations", {
        workspace_dir: dir,
        project_id: project,
        applied_by: ME.actor_id,
        items: chosen.map(
          ({ task_id, preferred_provider, preferred_model, preferred_agent_id, token_budget_hint }) => ({
            task_id,
            preferred_provider,
            token_budget_hint,
            ...(preferred_model ? { preferred_model } : {}),
            ...(preferred_agent_id ? { preferred_agent_id } : {}),
          }),
        ),
      });
      invalidate(["task.list", "pm.snapshot"], { workspace_dir: dir });
      toast({ text: `Applied to ${plural(updated_task_ids.length, "task")}` });
      onClose();
    });
  return (
    <Dialog
      title="Suggested assignments"
      open
      onClose={onClose}
      wide
      description="Suggestions are saved to the tasks only when you apply them."
    >
      <Await query={query}>
        {({ recommendations }) =>
          recommendations.length === 0 ? (
            <p className="muted">All tasks are done.</p>
          ) : (
            <Table
              label="Suggested assignments"
              columns={["Task", "Agent", "Worker", { title: "Tokens", as: "number" }, { title: "Reason", as: "wide" }]}
            >
              {recommendations.map((one) => (
                <tr key={one.task_id}>
                  <td>
                    <label className="check">
                      <input type="checkbox" checked={!left.has(one.task_id)} onChange={() => toggle(one.task_id)} />
                      {tasks.find(({ task_id }) => task_id === one.task_id)?.title ?? one.task_id}
                    </label>
                  </td>
                  <td>{names.actor(one.preferred_agent_id)}</td>
                  <td>{[one.preferred_provider, one.preferred_model].filter(Boolean).join(", ")}</td>
                  <td className="number">{count(one.token_budget_hint)}</td>
                  <td className="wide muted">{one.rationale}</td>
                </tr>
              ))}
            </Table>
          )
        }
      </Await>
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
        <Button kind="primary" disabled={chosen.length === 0} onClick={() => void apply()}>
          Apply to {plural(chosen.length, "task")}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
