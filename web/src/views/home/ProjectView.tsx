// A project: its tasks, memory, repositories and runs.

import "../company/company.css";
import type { TaskRow } from "@accord/client";
import { useState } from "react";
import { Page } from "../../app/Page.tsx";
import { Inspector, InspectorPart, InspectorToggle } from "../../app/Inspector.tsx";
import { attempt, call, useCall } from "../../data/calls.ts";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Menu } from "../../parts/Menu.tsx";
import { count } from "../../parts/size.ts";
import { Await, Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { toast } from "../../parts/toast.tsx";
import { Link, navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";
import { useJobsOf } from "../company/jobs.ts";
import { meaningOf } from "../company/meaning.ts";
import { plural, runName, useNames, words, type Names } from "../company/names.ts";
import { Progress } from "../company/Progress.tsx";
import { RunStatus } from "../company/RunStatus.tsx";
import { Stats } from "../company/Stats.tsx";
import { LinkRepository } from "./LinkRepository.tsx";

export default function ProjectView({ workspace, dir, params }: CompanyViewProps) {
  const project = params["project"] ?? "";
  const names = useNames(dir);
  const row = names.projects.find(({ project_id }) => project_id === project);
  const tasks = useCall("task.list", { workspace_dir: dir, project_id: project });
  const plan = useCall("pm.snapshot", { workspace_dir: dir, scope: "project", project_id: project });
  const summary = plan.data?.project?.summary;
  const span = plan.data?.project?.gantt.remaining_span_days;
  const [isLinking, setLinking] = useState(false);
  const share = () =>
    void attempt("Creating the share pack", async () => {
      const pack = await call("sharepack.create", { workspace_dir: dir, project_id: project, created_by: ME.actor_id });
      const what = `${plural(pack.included_artifact_ids.length, "document")}, ${plural(pack.included_run_ids.length, "run")}`;
      toast({ text: `Created ${pack.bundle_relpath} with ${what}. Secrets are removed.` });
    });
  return (
    <Page
      title={names.project(project)}
      back={at.home(workspace)}
      crumbs={[{ label: "Home", to: at.overview(workspace) }]}
      actions={
        <>
          <Button icon="plan" onClick={() => navigate(at.plan(workspace, project))}>
            Plan
          </Button>
          <Menu
            list={[
              { label: "Link a repository…", icon: "link", run: () => setLinking(true) },
              { label: "Create share pack", icon: "download", run: share },
            ]}
          >
            <IconButton label="More" icon="more" />
          </Menu>
          <InspectorToggle />
        </>
      }
    >
      <Await query={tasks}>
        {({ tasks, invalid }) => (
          <div className="wide-column">
            {summary && (
              <Stats
                list={[
                  {
                    label: "Progress",
                    value: `${Math.round(summary.progress_pct)} %`,
                    note: `${Math.round(summary.progress_weighted_pct ?? 0)} % weighted by duration`,
                  },
                  { label: "Tasks", value: count(summary.task_count), note: `${count(summary.done_tasks)} done` },
                  { label: "In progress", value: summary.in_progress_tasks },
                  { label: "Blocked", value: summary.blocked_tasks },
                  { label: "Days remaining", value: count(span ?? 0), note: "critical path" },
                ]}
              />
            )}
            {invalid?.map(({ relpath, issues }) => (
              <p key={relpath} className="notice failed">
                {relpath} is not a valid task: {issues[0]?.message}
              </p>
            ))}
            <section className="block">
              <h2>Tasks</h2>
              {tasks.length === 0 ? (
                <Empty icon="plan" title="No tasks yet">
                  Tasks are files in work/projects/{project}/tasks. Ask an agent of the project to create them.
                </Empty>
              ) : (
                <TaskTable tasks={tasks} workspace={workspace} names={names} />
              )}
            </section>
            <Learned workspace={workspace} dir={dir} project={project} names={names} />
          </div>
        )}
      </Await>
      <Inspector title="Project">
        <InspectorPart title="Details">
          <dl className="facts">
            <dt>Id</dt>
            <dd className="mono">{project}</dd>
            <dt>Status</dt>
            <dd>{row?.status ?? "Unknown"}</dd>
            <dt>Created</dt>
            <dd>{row && <Time at={row.created_at} />}</dd>
          </dl>
        </InspectorPart>
        <InspectorPart title="Repositories">
          {row?.repo_links.length === 0 && <p className="muted">None. Workers start in an empty folder.</p>}
          <ul className="plain-lines">
            {row?.repo_links.map(({ repo_id, label }) => (
              <li key={repo_id}>
                <span className="mono">{repo_id}</span>
                {label && <span className="muted">{label}</span>}
              </li>
            ))}
          </ul>
          <div className="inspector-actions">
            <Button icon="link" onClick={() => setLinking(true)}>
              Link a repository
            </Button>
          </div>
        </InspectorPart>
        <InspectorPart title="Runs">
          <Runs workspace={workspace} dir={dir} project={project} names={names} />
        </InspectorPart>
      </Inspector>
      {isLinking && <LinkRepository dir={dir} project={project} onClose={() => setLinking(false)} />}
    </Page>
  );
}

function TaskTable({ tasks, workspace, names }: { tasks: TaskRow[]; workspace: string; names: Names }) {
  return (
    <Table label="Tasks" columns={["Task", "Status", "Milestones", "Assignee", "Planned start"]}>
      {tasks.map(({ task_id, project_id, frontmatter, milestone_counts, progress_ratio }) => (
        <tr key={task_id}>
          <td className="wide">
            <Link to={at.plan(workspace, project_id, task_id)}>{frontmatter.title}</Link>
          </td>
          <td>
            <Status meaning={meaningOf(frontmatter.status)}>{words(frontmatter.status)}</Status>
          </td>
          <td className="task-progress">
            <Progress percent={progress_ratio * 100} label={`Progress of ${frontmatter.title}`} />
            <span className="muted">
              {milestone_counts.done} of {milestone_counts.total}
            </span>
          </td>
          <td>
            {frontmatter.assignee_agent_id
              ? names.actor(frontmatter.assignee_agent_id)
              : names.team(frontmatter.team_id)}
          </td>
          <td className="muted">{frontmatter.schedule?.planned_start?.slice(0, 10) ?? "Not scheduled"}</td>
        </tr>
      ))}
    </Table>
  );
}

interface PartProps {
  workspace: string;
  dir: string;
  project: string;
  names: Names;
}

function Learned({ workspace, dir, project, names }: PartProps) {
  const { data } = useCall("memory.list_deltas", { workspace_dir: dir, project_id: project, ...ME, limit: 20 });
  return (
    <section className="block">
      <h2>Memory</h2>
      {data?.items.length === 0 && (
        <p className="muted">No memory entries yet. Runs propose what they learned, and you approve it.</p>
      )}
      <ul className="lines">
        {data?.items.map((delta) => (
          <li key={delta.artifact_id}>
            <Link className="line" to={at.item(workspace, delta.project_id, delta.artifact_id)}>
              <Status meaning={meaningOf(delta.status)}>{words(delta.status)}</Status>
              <span className="line-text">{delta.title}</span>
              <span className="muted">{names.actor(delta.produced_by)}</span>
              <Time at={delta.created_at} />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Runs({ workspace, dir, project, names }: PartProps) {
  const rows = useCall("monitor.snapshot", { workspace_dir: dir, project_id: project, limit: 12 }).data?.rows;
  const jobOf = useJobsOf(dir, rows);
  if (rows?.length === 0) return <p className="muted">No runs yet.</p>;
  return (
    <ul className="plain-lines">
      {rows?.map((row) => (
        <li key={row.run_id}>
          <RunStatus row={row} jobOf={jobOf} />
          <Link to={at.run(workspace, project, row.run_id)}>{runName(row, names)}</Link>
          {row.created_at && <Time at={row.created_at} />}
        </li>
      ))}
    </ul>
  );
}
