// The plan of a project: a Gantt chart, a table, and the selected task in the inspector.

import "../company/company.css";
import type { GanttTask, PlanFormat, TaskRow } from "@accord/client";
import { useState } from "react";
import { Inspector, InspectorPart, InspectorToggle } from "../../app/Inspector.tsx";
import { Page } from "../../app/Page.tsx";
import { attempt, call, invalidate, useCall } from "../../data/calls.ts";
import { handOver } from "../../data/hand-over.ts";
import { setPreference, usePreference } from "../../data/preference.ts";
import { useKeys } from "../../keys/keys.ts";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Menu } from "../../parts/Menu.tsx";
import { count } from "../../parts/size.ts";
import { Await, Empty } from "../../parts/states.tsx";
import { toast } from "../../parts/toast.tsx";
import { navigate, useSearchParam } from "../../router.tsx";
import { at } from "../company/address.ts";
import { Choices } from "../company/Choices.tsx";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { plural, useNames } from "../company/names.ts";
import { Allocations } from "./Allocations.tsx";
import { Gantt } from "./Gantt.tsx";
import { PlanTable } from "./PlanTable.tsx";
import { TaskInspector } from "./TaskInspector.tsx";

const SCALES = [
  { id: "28", label: "Days" },
  { id: "14", label: "Weeks" },
  { id: "5", label: "Months" },
] as const;
const FORMATS: { format: PlanFormat; label: string }[] = [
  { format: "csv", label: "Export as CSV" },
  { format: "ics", label: "Export as iCalendar" },
  { format: "mermaid", label: "Export as Mermaid" },
];
type Scale = (typeof SCALES)[number]["id"];

export default function PlanView({ workspace, dir, params }: CompanyViewProps) {
  const project = params["project"] ?? "";
  const names = useNames(dir);
  const query = useCall("pm.snapshot", { workspace_dir: dir, scope: "project", project_id: project });
  const list = useCall("task.list", { workspace_dir: dir, project_id: project });
  const tasks = list.data?.tasks;
  const selected = useSearchParam("task") ?? undefined;
  const kept = usePreference("plan.scale");
  const scale: Scale = SCALES.find(({ id }) => id === kept)?.id ?? "28";
  const [isAllocating, setAllocating] = useState(false);
  const gantt = query.data?.project?.gantt;

  const select = (task: string) => navigate(at.plan(workspace, project, task), { replace: true });
  const step = (by: number) => {
    const list = gantt?.tasks ?? [];
    const index = list.findIndex(({ task_id }) => task_id === selected);
    const next = list[Math.min(list.length - 1, Math.max(0, index + by))];
    if (next) select(next.task_id);
  };
  useKeys("This plan", [
    { key: "j", label: "Next task", run: () => step(1) },
    { key: "k", label: "Previous task", run: () => step(-1) },
  ]);

  /** Reschedules a task and leaves the rest of it unchanged. */
  const plan = async (
    row: TaskRow | undefined,
    schedule: { planned_start: string; planned_end: string; duration_days: number },
  ) => {
    if (!row) return false;
    const before = row.frontmatter.schedule;
    const save = (wanted: typeof schedule | null) =>
      attempt("Rescheduling", async () => {
        const { warnings } = await call("task.update_plan", {
          workspace_dir: dir,
          project_id: project,
          task_id: row.task_id,
          ...(wanted
            ? { schedule: { ...before, ...wanted } }
            : before
              ? { schedule: before }
              : { clear_schedule: true }),
        });
        invalidate(["pm.snapshot", "task.list", "workspace.home.snapshot"], { workspace_dir: dir });
        if (warnings?.includes("dependency_cycle"))
          toast({ tone: "failed", text: "These tasks now block each other in a cycle." });
      });
    const isSaved = await save(schedule);
    if (isSaved) {
      toast({
        text: `${row.frontmatter.title}: ${schedule.planned_start.slice(0, 10)} to ${schedule.planned_end.slice(0, 10)}`,
        action: { label: "Undo", run: () => void save(null) },
      });
    }
    return isSaved;
  };
  const replan = (task: GanttTask, start: number, end: number) =>
    plan(
      tasks?.find(({ task_id }) => task_id === task.task_id),
      {
        planned_start: new Date(start).toISOString(),
        planned_end: new Date(end).toISOString(),
        duration_days: Math.max(1, Math.round((end - start) / 86_400_000)),
      },
    );

  const save = (format: PlanFormat) =>
    attempt("Exporting the plan", async () => {
      const plan = await call("pm.export", { workspace_dir: dir, project_id: project, format });
      handOver(new Blob([plan.content], { type: plan.media_type }), plan.file_name);
    });

  return (
    <Page
      title={names.project(project)}
      back={at.plans(workspace)}
      crumbs={[{ label: "Plans", to: at.allPlans(workspace) }]}
      state={
        gantt && (
          <span className="not-on-phone">{`${plural(gantt.project_span_days, "day")}, ${count(gantt.remaining_span_days ?? 0)} remaining`}</span>
        )
      }
      actions={
        <>
          <span className="not-on-phone">
            <Button onClick={() => setAllocating(true)}>Suggest assignments</Button>
          </span>
          <Menu
            list={[
              { label: "Suggest assignments", icon: "people", run: () => setAllocating(true) },
              ...FORMATS.map(({ format, label }, i) => ({
                label,
                icon: "download" as const,
                separated: i === 0,
                run: () => void save(format),
              })),
            ]}
          >
            <IconButton label="More" icon="more" />
          </Menu>
          <InspectorToggle />
        </>
      }
    >
      <Await<unknown> query={tasks ? query : list}>
        {() =>
          !gantt || gantt.tasks.length === 0 ? (
            <Empty icon="plan" title="No tasks yet">
              Tasks are files in work/projects/{project}/tasks. Ask an agent of the project to create them. They appear
              here on a timeline.
            </Empty>
          ) : (
            <>
              <div className="toolbar">
                <Choices
                  label="Scale"
                  options={SCALES}
                  value={scale}
                  onChange={(value) => setPreference("plan.scale", value)}
                />
                <Key />
              </div>
              {gantt.cpm_status === "dependency_cycle" && (
                <p className="notice failed">
                  <Icon name="alert" />
                  These tasks block each other in a cycle, so there is no critical path:{" "}
                  {gantt.cycle_task_ids
                    ?.map((id) => gantt.tasks.find(({ task_id }) => task_id === id)?.title ?? id)
                    .join(", ")}
                </p>
              )}
              <Gantt
                tasks={gantt.tasks}
                pixelsPerDay={Number(scale)}
                selected={selected}
                onSelect={select}
                onReplan={replan}
              />
              <div className="plan-table">
                <PlanTable tasks={gantt.tasks} selected={selected} names={names} onSelect={select} />
              </div>
            </>
          )
        }
      </Await>
      <Inspector title="Task">
        {gantt?.tasks.some(({ task_id }) => task_id === selected) ? (
          <TaskInspector
            key={`${selected}-${gantt.tasks.find(({ task_id }) => task_id === selected)?.start_at}`}
            task={gantt.tasks.find(({ task_id }) => task_id === selected) as GanttTask}
            all={gantt.tasks}
            row={tasks?.find(({ task_id }) => task_id === selected)}
            names={names}
            onPlan={plan}
            onSelect={select}
          />
        ) : (
          <InspectorPart title="No task selected">
            <p className="muted">
              Select a task to see its details. Drag it, or press ← and →, to reschedule it. Drag its end, or press
              Shift with ← and →, to change its duration.
            </p>
          </InspectorPart>
        )}
      </Inspector>
      {isAllocating && (
        <Allocations
          dir={dir}
          project={project}
          names={names}
          tasks={gantt?.tasks ?? []}
          onClose={() => setAllocating(false)}
        />
      )}
    </Page>
  );
}

function Key() {
  return (
    <div className="gantt-key" aria-label="Legend">
      <span className="gantt-bar" data-critical="">
        <svg viewBox="0 0 24 12" aria-hidden="true">
          <rect className="gantt-body" x="1" y="1" width="22" height="10" rx="3" />
          <rect className="gantt-outline" x="1" y="1" width="22" height="10" rx="3" />
        </svg>
        Critical
      </span>
      <span>
        <svg viewBox="0 0 24 12" aria-hidden="true">
          <path className="gantt-slack" d="M1 6h21m0 -4v8" />
        </svg>
        Slack
      </span>
      <span>
        <svg viewBox="0 0 24 12" aria-hidden="true">
          <path className="gantt-conflict" d="M6 11l6 -10 6 10z" />
        </svg>
        Starts too early
      </span>
      <span>
        <svg viewBox="0 0 24 12" aria-hidden="true" className="gantt-today">
          <line x1="12" x2="12" y1="0" y2="12" />
        </svg>
        Today
      </span>
    </div>
  );
}
