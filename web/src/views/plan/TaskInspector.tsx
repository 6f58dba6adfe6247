// The selected task of a plan: its status, schedule and dependencies.

import type { GanttTask, TaskRow } from "@accord/client";
import { useState } from "react";
import { InspectorPart } from "../../app/Inspector.tsx";
import { Button } from "../../parts/Button.tsx";
import { TextField } from "../../parts/Field.tsx";
import { count } from "../../parts/size.ts";
import { Status } from "../../parts/Status.tsx";
import { meaningOf } from "../company/meaning.ts";
import { plural, words, type Names } from "../company/names.ts";

interface Props {
  task: GanttTask;
  all: GanttTask[];
  row: TaskRow | undefined;
  names: Names;
  onPlan: (
    row: TaskRow | undefined,
    schedule: { planned_start: string; planned_end: string; duration_days: number },
  ) => Promise<boolean>;
  onSelect: (task: string) => void;
}

export function TaskInspector({ task, all, row, names, onPlan, onSelect }: Props) {
  const [start, setStart] = useState(task.start_at.slice(0, 10));
  const [end, setEnd] = useState(task.end_at.slice(0, 10));
  const isGood = start !== "" && end > start;
  const before = all.filter(({ task_id }) => task.depends_on_task_ids.includes(task_id));
  const after = all.filter(({ depends_on_task_ids }) => depends_on_task_ids.includes(task.task_id));
  const execution = row?.frontmatter.execution_plan;
  return (
    <>
      <InspectorPart title={task.title}>
        <dl className="facts">
          <dt>Status</dt>
          <dd>
            <Status meaning={meaningOf(task.status)}>{words(task.status)}</Status>
          </dd>
          <dt>Done</dt>
          <dd>{Math.round(task.progress_pct)} %</dd>
          <dt>Slack</dt>
          <dd>{task.critical ? "None (critical path)" : plural(task.slack_days, "day")}</dd>
          <dt>Assignee</dt>
          <dd>{task.assignee_agent_id ? names.actor(task.assignee_agent_id) : names.team(task.team_id)}</dd>
          {execution && (
            <>
              <dt>Planned worker</dt>
              <dd>
                {[names.actor(execution.preferred_agent_id), execution.preferred_model].filter(Boolean).join(", ")}
                {execution.token_budget_hint ? `, about ${count(execution.token_budget_hint)} tokens` : ""}
              </dd>
            </>
          )}
        </dl>
        {task.schedule_conflict && <p className="notice failed">This task starts before a task that blocks it ends.</p>}
      </InspectorPart>
      <InspectorPart title="Schedule">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (!isGood) return;
            const days = (Date.parse(end) - Date.parse(start)) / 86_400_000;
            void onPlan(row, {
              planned_start: `${start}T00:00:00.000Z`,
              planned_end: `${end}T00:00:00.000Z`,
              duration_days: days,
            });
          }}
        >
          <TextField label="Start" type="date" value={start} onChange={(event) => setStart(event.target.value)} />
          <TextField
            label="End"
            type="date"
            value={end}
            min={start}
            onChange={(event) => setEnd(event.target.value)}
            hint={isGood ? undefined : "The end must be after the start."}
          />
          <div className="inspector-actions">
            <Button type="submit" disabled={!isGood}>
              Reschedule
            </Button>
          </div>
        </form>
      </InspectorPart>
      <Links title="Blocked by" tasks={before} onSelect={onSelect} none="No tasks" />
      <Links title="Blocks" tasks={after} onSelect={onSelect} none="No tasks" />
      {row && row.frontmatter.milestones.length > 0 && (
        <InspectorPart title="Milestones">
          <ul className="plain-lines">
            {row.frontmatter.milestones.map(({ id, title, status }) => (
              <li key={id}>
                <Status meaning={meaningOf(status)}>{words(status)}</Status> {title}
              </li>
            ))}
          </ul>
        </InspectorPart>
      )}
    </>
  );
}

function Links({
  title,
  tasks,
  onSelect,
  none,
}: {
  title: string;
  tasks: GanttTask[];
  onSelect: (id: string) => void;
  none: string;
}) {
  return (
    <InspectorPart title={title}>
      {tasks.length === 0 && <p className="muted">{none}</p>}
      <ul className="plain-lines">
        {tasks.map((task) => (
          <li key={task.task_id}>
            <button type="button" className="link-button" onClick={() => onSelect(task.task_id)}>
              {task.title}
            </button>
          </li>
        ))}
      </ul>
    </InspectorPart>
  );
}
