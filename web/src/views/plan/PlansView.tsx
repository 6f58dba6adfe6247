// The plans: one for each project.

import "../company/company.css";
import { Page } from "../../app/Page.tsx";
import { Button } from "../../parts/Button.tsx";
import { Await, Empty } from "../../parts/states.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ProjectCard } from "../company/ProjectCard.tsx";
import { useNewProject } from "../home/newProject.tsx";
import { useRead } from "../company/reads.ts";

export default function PlansView({ workspace, dir }: CompanyViewProps) {
  const query = useRead("pm.snapshot", { workspace_dir: dir, scope: "workspace" });
  const { ask, dialog } = useNewProject(workspace, dir);
  return (
    <Page title="Plans" back={at.plans(workspace)}>
      <Await query={query}>
        {({ workspace: portfolio }) =>
          portfolio.projects.length === 0 ? (
            <Empty
              icon="plan"
              title="There is nothing to plan yet"
              action={
                <Button kind="primary" icon="plus" onClick={ask}>
                  New project
                </Button>
              }
            >
              The tasks of a project show here as bars in time, with what waits for what.
            </Empty>
          ) : (
            <div className="wide-column">
              <div className="cards">
                {portfolio.projects.map((project) => (
                  <ProjectCard
                    key={project.project_id}
                    project={project}
                    to={at.plan(workspace, project.project_id)}
                  />
                ))}
              </div>
            </div>
          )
        }
      </Await>
      {dialog}
    </Page>
  );
}
