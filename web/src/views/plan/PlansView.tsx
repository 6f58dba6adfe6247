// The plans of all projects.

import "../company/company.css";
import { Page } from "../../app/Page.tsx";
import { useCall } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Await, Empty } from "../../parts/states.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ProjectCard } from "../company/ProjectCard.tsx";
import { useNewProject } from "../home/newProject.tsx";

export default function PlansView({ workspace, dir }: CompanyViewProps) {
  const query = useCall("pm.snapshot", { workspace_dir: dir, scope: "workspace" });
  const { ask, dialog } = useNewProject(workspace, dir);
  return (
    <Page title="Plans" back={at.plans(workspace)}>
      <Await query={query}>
        {({ workspace: portfolio }) =>
          portfolio.projects.length === 0 ? (
            <Empty
              icon="plan"
              title="No plans yet"
              action={
                <Button kind="primary" icon="plus" onClick={ask}>
                  New project
                </Button>
              }
            >
              Create a project to see its tasks and dependencies on a timeline.
            </Empty>
          ) : (
            <div className="wide-column">
              <div className="cards">
                {portfolio.projects.map((project) => (
                  <ProjectCard key={project.project_id} project={project} to={at.plan(workspace, project.project_id)} />
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
