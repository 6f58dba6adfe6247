// The plans: one for each project.

import "../company/company.css";
import { Page } from "../../app/Page.tsx";
import { Await, Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { plural } from "../company/names.ts";
import { Progress } from "../company/Progress.tsx";
import { useRead } from "../company/reads.ts";

export default function PlansView({ workspace, dir }: CompanyViewProps) {
  const query = useRead("pm.snapshot", { workspace_dir: dir, scope: "workspace" });
  return (
    <Page title="Plans" back={at.plans(workspace)}>
      <Await query={query}>
        {({ workspace: portfolio }) =>
          portfolio.projects.length === 0 ? (
            <Empty icon="plan" title="There is nothing to plan yet">
              Make a project at Home; its tasks show here as bars in time, with what waits for what.
            </Empty>
          ) : (
            <div className="wide-column">
              <div className="cards">
                {portfolio.projects.map((project) => (
                  <Link key={project.project_id} className="card" to={at.plan(workspace, project.project_id)}>
                    <div className="card-title">
                      <span>{project.name}</span>
                      <span>{Math.round(project.progress_pct)} %</span>
                    </div>
                    <Progress percent={project.progress_pct} label={`Progress of ${project.name}`} />
                    <div className="card-line">
                      <span>{plural(project.task_count, "task")}</span>
                      {project.blocked_tasks > 0 && <Status meaning="failed">{project.blocked_tasks} blocked</Status>}
                    </div>
                  </Link>
                ))}
              </div>
            </div>
          )
        }
      </Await>
    </Page>
  );
}
