// The runs of the company, what is live first, and the way to sessions, jobs and a new launch.

import "../company/company.css";
import "../company/side.css";
import type { MonitorRow, MonitorSnapshotResponse } from "@accord/client";
import { useState } from "react";
import { IconButton } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { List } from "../../parts/List.tsx";
import { Await } from "../../parts/states.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link, usePath } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { jobIdOf, useJobsOf } from "../company/jobs.ts";
import { runName, useNames, type Names } from "../company/names.ts";
import { useRead } from "../company/reads.ts";
import { RunStatus } from "../company/RunStatus.tsx";
import { LaunchDialog } from "./LaunchDialog.tsx";

export default function RunsSidebar({ workspace, dir, params }: CompanyViewProps) {
  const query = useRead("monitor.snapshot", { workspace_dir: dir, limit: 1000 });
  const names = useNames(dir);
  const path = usePath();
  const [isLaunching, setLaunching] = useState(false);
  const jobOf = useJobsOf(dir, query.data?.rows);
  return (
    <>
      <div className="side-links">
        <SideLink
          to={at.live(workspace)}
          path={path === at.runs(workspace) ? at.live(workspace) : path}
          icon="history"
          label="Live"
        />
        <SideLink to={at.sessions(workspace)} path={path} icon="run" label="Sessions" />
        <SideLink
          to={at.jobs(workspace)}
          path={path}
          icon="doc"
          label="Jobs"
          note={query.data ? jobsNote(query.data) : ""}
        />
      </div>
      <div className="sidebar-head">
        <h2>Runs</h2>
        <IconButton label="Launch a session" icon="plus" onClick={() => setLaunching(true)} />
      </div>
      <div className="fill">
        <Await query={query}>
          {({ rows }) =>
            rows.length === 0 ? (
              <p className="sidebar-none">Nothing has run yet.</p>
            ) : (
              <List<MonitorRow>
                label="Runs"
                items={rows}
                keyOf={({ run_id }) => run_id}
                hrefOf={({ project_id, run_id }) => at.run(workspace, project_id, run_id)}
                selected={params["run"]}
                row={(row) => <Row row={row} names={names} jobOf={jobOf} />}
                rowHeight={48}
              />
            )
          }
        </Await>
      </div>
      {isLaunching && (
        <LaunchDialog workspace={workspace} dir={dir} names={names} onClose={() => setLaunching(false)} />
      )}
    </>
  );
}

/** How many jobs are at work and how many wait; a job whose attempt is queued waits, whatever its document says. */
function jobsNote({ jobs, rows }: MonitorSnapshotResponse): string {
  if (!jobs || jobs.running + jobs.queued === 0) return "";
  const queued = new Set(rows.filter((row) => row.live_queued).map((row) => jobIdOf(row.session_ref)));
  queued.delete(undefined);
  const running = Math.max(0, jobs.running - queued.size);
  return `${running} at work, ${jobs.queued + jobs.running - running} waiting`;
}

function SideLink({
  to,
  path,
  icon,
  label,
  note,
}: {
  to: string;
  path: string;
  icon: "history" | "run" | "doc";
  label: string;
  note?: string;
}) {
  return (
    <Link className="side-link" to={to} aria-current={path === to ? "page" : undefined}>
      <Icon name={icon} />
      <span>{label}</span>
      {note && <span className="side-note">{note}</span>}
    </Link>
  );
}

function Row({ row, names, jobOf }: { row: MonitorRow; names: Names; jobOf: ReturnType<typeof useJobsOf> }) {
  return (
    <>
      <div className="row-title">
        <span>{runName(row, names)}</span>
        {row.created_at && <Time at={row.created_at} />}
      </div>
      <div className="row-note">
        <RunStatus row={row} jobOf={jobOf} /> · {names.actor(row.agent_id)} · {names.project(row.project_id)}
        {row.policy_denied_count > 0 && " · policy said no"}
        {row.budget_exceeded_count > 0 && " · over budget"}
      </div>
    </>
  );
}
