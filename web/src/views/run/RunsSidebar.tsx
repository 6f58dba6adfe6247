// The runs of the company, what is live first, and the way to sessions, jobs and a new launch.

import "../company/company.css";
import "../company/side.css";
import type { MonitorRow } from "@accord/client";
import { useState } from "react";
import { IconButton } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { List } from "../../parts/List.tsx";
import { Await } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link, usePath } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { meaningOf, statusOf } from "../company/meaning.ts";
import { runName, useNames, words, type Names } from "../company/names.ts";
import { useRead } from "../company/reads.ts";
import { LaunchDialog } from "./LaunchDialog.tsx";

export default function RunsSidebar({ workspace, dir, params }: CompanyViewProps) {
  const query = useRead("monitor.snapshot", { workspace_dir: dir, limit: 1000 });
  const names = useNames(dir);
  const path = usePath();
  const [isLaunching, setLaunching] = useState(false);
  const jobs = query.data?.jobs;
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
          note={jobs && jobs.running + jobs.queued > 0 ? `${jobs.running} at work, ${jobs.queued} waiting` : ""}
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
                row={(row) => <Row row={row} names={names} />}
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

function Row({ row, names }: { row: MonitorRow; names: Names }) {
  const status = statusOf(row);
  return (
    <>
      <div className="row-title">
        <span>{runName(row, names)}</span>
        {row.created_at && <Time at={row.created_at} />}
      </div>
      <div className="row-note">
        <Status meaning={meaningOf(status)}>{words(status)}</Status> · {names.actor(row.agent_id)} · {names.project(row.project_id)}
        {row.policy_denied_count > 0 && " · policy said no"}
        {row.budget_exceeded_count > 0 && " · over budget"}
      </div>
    </>
  );
}
