// The sidebar of the Plan section: all plans, and the plan of each project.

import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ProjectLinks } from "../company/ProjectLinks.tsx";

export default function PlansSidebar({ workspace, dir, params }: CompanyViewProps) {
  return (
    <ProjectLinks
      dir={dir}
      all={{ label: "All plans", icon: "plan", to: at.allPlans(workspace), alias: at.plans(workspace) }}
      to={(project) => at.plan(workspace, project)}
      selected={params["project"]}
    />
  );
}
