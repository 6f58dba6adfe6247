// The sidebar of the Home section: the overview and the projects.

import { useKeys } from "../../keys/keys.ts";
import { navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { useNames } from "../company/names.ts";
import { ProjectLinks } from "../company/ProjectLinks.tsx";

export default function HomeSidebar({ workspace, dir, params }: CompanyViewProps) {
  const { projects } = useNames(dir);
  const step = (by: number) => {
    const here = projects.findIndex(({ project_id }) => project_id === params["project"]);
    const next = projects[Math.min(projects.length - 1, Math.max(0, here + by))];
    if (next) navigate(at.project(workspace, next.project_id));
  };
  useKeys("Projects", [
    { key: "j", label: "Next project", run: () => step(1) },
    { key: "k", label: "Previous project", run: () => step(-1) },
  ]);
  return (
    <ProjectLinks
      dir={dir}
      all={{ label: "Overview", icon: "home", to: at.overview(workspace), alias: at.home(workspace) }}
      to={(project) => at.project(workspace, project)}
      selected={params["project"]}
    />
  );
}
