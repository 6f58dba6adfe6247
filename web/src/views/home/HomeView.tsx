// The overview of the company: projects, pending decisions and recent runs.

import "../company/company.css";
import { Page } from "../../app/Page.tsx";
import { attempt, useCall } from "../../data/calls.ts";
import { usePalette } from "../../palette/registry.ts";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Menu } from "../../parts/Menu.tsx";
import { count } from "../../parts/size.ts";
import { Await, Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { toast } from "../../parts/toast.tsx";
import { Link, navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import { companyAddress, useCompany } from "../company/folder.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";
import { useJobsOf } from "../company/jobs.ts";
import { plural, runName, shortId, subjectWord, useNames, type Names } from "../company/names.ts";
import { ProjectCard } from "../company/ProjectCard.tsx";
import { RunStatus } from "../company/RunStatus.tsx";
import { Stats } from "../company/Stats.tsx";
import { RUNS, totalsOfModels } from "../usage/sums.ts";
import { useNewProject } from "./newProject.tsx";

export default function HomeView({ workspace, dir }: CompanyViewProps) {
  const query = useCall("workspace.home.snapshot", { workspace_dir: dir });
  const names = useNames(dir);
  const queued = useCall("session.list", { workspace_dir: dir, status: "running" }).data?.filter(
    (session) => session.queued,
  ).length;
  const usage = useCall("usage.analytics", { workspace_dir: dir, limit: RUNS }).data;
  const { ask: newProject, dialog } = useNewProject(workspace, dir);
  const share = () =>
    void attempt("Copying", async () => {
      await navigator.clipboard.writeText(new URL(companyAddress(dir, location.pathname), location.href).href);
      toast({ text: "Link copied. It opens this company in any browser signed in to this gateway." });
    });
  const otherFolder = () => navigate(at.open(workspace));
  usePalette({
    group: "Actions",
    find: () => [
      { id: "new-project", title: "New project…", icon: "plus", run: newProject },
      { id: "share", title: "Copy link to this company", icon: "link", run: share },
    ],
  });
  return (
    <Page
      title={useCompany(workspace).name}
      back={at.home(workspace)}
      state={<span className="mono not-on-phone">{dir}</span>}
      actions={
        <>
          <Button icon="plus" onClick={newProject}>
            New project
          </Button>
          <Menu
            list={[
              { label: "Copy link to this company", icon: "link", run: share },
              { label: "Open another company…", icon: "folder", run: otherFolder },
            ]}
          >
            <IconButton label="More" icon="more" />
          </Menu>
        </>
      }
    >
      <Await query={query} lines={10}>
        {({ projects, summary, pm }) =>
          projects.length === 0 ? (
            <Empty
              icon="home"
              title="No projects yet"
              action={
                <Button kind="primary" icon="plus" onClick={newProject}>
                  New project
                </Button>
              }
            >
              A project contains tasks, runs and a memory of decisions. Each new project includes a secretary agent and
              conversations.
            </Empty>
          ) : (
            <div className="wide-column">
              <Stats
                list={[
                  {
                    label: "Progress",
                    value: `${Math.round(summary.progress_pct)} %`,
                    note: plural(summary.project_count, "project"),
                  },
                  {
                    label: "Tasks",
                    value: count(summary.task_count),
                    note: `${plural(summary.blocked_projects, "project")} blocked`,
                  },
                  {
                    label: "Running",
                    value: count(summary.active_runs),
                    note: notRunning(summary.idle_runs, queued),
                  },
                  {
                    label: "Waiting for you",
                    value: <Link to={at.inbox(workspace)}>{count(summary.pending_reviews)}</Link>,
                    note: "in the inbox",
                  },
                  {
                    label: "Tokens",
                    value: (
                      <Link to={at.usage(workspace)}>
                        {count(usage ? totalsOfModels(usage).total_tokens : pm.summary.total_tokens)}
                      </Link>
                    ),
                    note: "all time",
                  },
                ]}
              />
              <section className="block">
                <h2>Projects</h2>
                <div className="cards">
                  {projects.map((project) => (
                    <ProjectCard
                      key={project.project_id}
                      project={project}
                      to={at.project(workspace, project.project_id)}
                    >
                      {project.active_runs > 0 && <Status meaning="running">{project.active_runs} running</Status>}
                      {project.pending_reviews > 0 && (
                        <Status meaning="waiting">{project.pending_reviews} waiting</Status>
                      )}
                      {project.risk_flags.includes("dependency_cycle") && (
                        <Status meaning="failed">dependency cycle</Status>
                      )}
                      {project.status === "archived" && <span>archived</span>}
                    </ProjectCard>
                  ))}
                </div>
              </section>
              <div className="home-columns">
                <Waiting workspace={workspace} dir={dir} names={names} />
                <Newest workspace={workspace} dir={dir} names={names} />
              </div>
            </div>
          )
        }
      </Await>
      {dialog}
    </Page>
  );
}

/** Formats the runs without a process. The snapshot counts queued runs as not started. */
function notRunning(idle: number, queued = 0): string {
  return `${queued > 0 ? `${count(queued)} queued, ` : ""}${count(Math.max(0, idle - queued))} not started`;
}

interface PartProps {
  workspace: string;
  dir: string;
  names: Names;
}

function Waiting({ workspace, dir, names }: PartProps) {
  const { data } = useCall("inbox.snapshot", { workspace_dir: dir, ...ME });
  return (
    <section className="block">
      <h2>Waiting for you</h2>
      {data?.pending.length === 0 && <p className="muted">Nothing to decide.</p>}
      <ul className="lines">
        {data?.pending.slice(0, 6).map((item) => (
          <li key={item.artifact_id}>
            <Link className="line" to={at.item(workspace, item.project_id, item.artifact_id)}>
              <Status meaning="waiting">{subjectWord(item.artifact_type)}</Status>
              <span className="line-text">{item.title ?? shortId(item.artifact_id)}</span>
              <span className="muted">{names.actor(item.produced_by)}</span>
              {item.created_at && <Time at={item.created_at} />}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Newest({ workspace, dir, names }: PartProps) {
  const { data } = useCall("monitor.snapshot", { workspace_dir: dir, limit: 6 });
  const jobOf = useJobsOf(dir, data?.rows);
  return (
    <section className="block">
      <h2>Recent runs</h2>
      {data?.rows.length === 0 && <p className="muted">No runs yet. Start one in Runs.</p>}
      <ul className="lines">
        {data?.rows.slice(0, 6).map((row) => (
          <li key={row.run_id}>
            <Link className="line" to={at.run(workspace, row.project_id, row.run_id)}>
              <RunStatus row={row} jobOf={jobOf} />
              <span className="line-text">{runName(row, names)}</span>
              <span className="muted">{names.actor(row.agent_id)}</span>
              {row.created_at && <Time at={row.created_at} />}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
