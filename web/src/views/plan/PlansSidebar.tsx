// All plans, the plan of each project, and the pipelines that lead to plans.

import { usePath } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ProjectLinks } from "../company/ProjectLinks.tsx";

export default function PlansSidebar({ workspace, dir, params }: CompanyViewProps) {
  const isPlan = !usePath().startsWith(at.pipelines(workspace));
  return (
    <ProjectLinks
      dir={dir}
      all={{ label: "All plans", icon: "plan", to: at.allPlans(workspace), alias: at.plans(workspace) }}
      more={[{ label: "Pipelines", icon: "pipeline", to: at.pipelines(workspace) }]}
      to={(project) => at.plan(workspace, project)}
      selected={isPlan ? params["project"] : undefined}
    />
  );
}
