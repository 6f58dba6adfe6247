// The sidebar of the Runs section: the views of runs, and the recent runs.

import "../company/company.css";
import "../company/side.css";
import type { MonitorRow, MonitorSnapshotResponse } from "@accord/client";
import { useState } from "react";
import { useCall } from "../../data/calls.ts";
import { IconButton } from "../../parts/Button.tsx";
import { Icon, type IconName } from "../../parts/Icon.tsx";
import { List } from "../../parts/List.tsx";
import { count } from "../../parts/size.ts";
import { Await } from "../../parts/states.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link, usePath } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { jobIdOf, useJobsOf } from "../company/jobs.ts";
import { plural, runName, useNames, type Names } from "../company/names.ts";
import { RunStatus } from "../company/RunStatus.tsx";
import { LaunchDialog } from "./LaunchDialog.tsx";

export default function RunsSidebar({ workspace, dir, params }: CompanyViewProps) {
  const query = useCall("monitor.snapshot", { workspace_dir: dir, limit: 1000 });
  const names = useNames(dir);
  const path = usePath();
  const [isLaunching, setLaunching] = useState(false);
  const jobOf = useJobsOf(dir, query.data?.rows);
  return (
    <>
      <div className="sidebar-head">
        <h2>Runs</h2>
        <IconButton label="Start a run" icon="plus" onClick={() => setLaunching(true)} />
      </div>
      <div className="side-links">
        <SideLink
          to={at.live(workspace)}
          path={path === at.runs(workspace) ? at.live(workspace) : path}
          icon="history"
          label="Activity"
        />
        <SideLink to={at.sessions(workspace)} path={path} icon="run" label="Processes" />
        <SideLink
          to={at.jobs(workspace)}
          path={path}
          icon="doc"
          label="Jobs"
          note={query.data ? jobsNote(query.data) : ""}
        />
        <SideLink to={at.pipelines(workspace)} path={path} icon="pipeline" label="Client intakes" />
      </div>
      <h3 className="side-heading">Recent runs</h3>
      <div className="fill">
        <Await query={query}>
          {({ rows }) =>
            rows.length === 0 ? (
              <p className="sidebar-none">No runs yet.</p>
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

/** Returns the number of running and queued jobs. A job whose attempt is queued counts as queued. */
function jobsNote({ jobs, rows }: MonitorSnapshotResponse): string {
  if (!jobs || jobs.running + jobs.queued === 0) return "";
  const queued = new Set(rows.filter((row) => row.live_queued).map((row) => jobIdOf(row.session_ref)));
  queued.delete(undefined);
  const running = Math.max(0, jobs.running - queued.size);
  return `${count(running)} running, ${count(jobs.queued + jobs.running - running)} queued`;
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
  icon: IconName;
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
        {row.policy_denied_count > 0 && ` · ${plural(row.policy_denied_count, "policy denial")}`}
        {row.budget_exceeded_count > 0 && " · over budget"}
      </div>
    </>
  );
}
