// The plan as a table.

import type { GanttTask } from "@accord/client";
import { Status } from "../../parts/Status.tsx";
import { Table } from "../../parts/Table.tsx";
import { meaningOf } from "../company/meaning.ts";
import { words, type Names } from "../company/names.ts";

interface Props {
  tasks: GanttTask[];
  selected: string | undefined;
  names: Names;
  onSelect: (task: string) => void;
}

export function PlanTable({ tasks, selected, names, onSelect }: Props) {
  return (
    <details open>
      <summary>Show as table</summary>
      <Table
        label="Plan as table"
        columns={[
          "Task",
          "Status",
          "Start",
          "End",
          { title: "Days", as: "number" },
          { title: "Slack", as: "number" },
          { title: "Done", as: "number" },
          "Assignee",
          "Blocked by",
        ]}
      >
        {tasks.map((task) => (
          <tr key={task.task_id} aria-selected={task.task_id === selected}>
            <td>
              <button type="button" className="link-button" onClick={() => onSelect(task.task_id)}>
                {task.title}
              </button>
            </td>
            <td>
              <Status meaning={meaningOf(task.status)}>{words(task.status)}</Status>
            </td>
            <td>{task.start_at.slice(0, 10)}</td>
            <td>{task.end_at.slice(0, 10)}</td>
            <td className="number">{task.duration_days}</td>
            <td className="number">{task.critical ? "Critical" : task.slack_days}</td>
            <td className="number">{Math.round(task.progress_pct)} %</td>
            <td>{task.assignee_agent_id ? names.actor(task.assignee_agent_id) : names.team(task.team_id)}</td>
            <td>
              {task.depends_on_task_ids
                .map((id) => tasks.find(({ task_id }) => task_id === id)?.title ?? id)
                .join(", ")}
            </td>
          </tr>
        ))}
      </Table>
    </details>
  );
}
