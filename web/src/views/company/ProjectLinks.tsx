// The projects of a company as links, with how far each is.

import "./company.css";
import "./side.css";
import { Icon, type IconName } from "../../parts/Icon.tsx";
import { Status } from "../../parts/Status.tsx";
import { Link, usePath } from "../../router.tsx";
import { useNames } from "./names.ts";

interface Props {
  dir: string;
  /** What all projects together are called, and where that is. */
  all: { label: string; icon: IconName; to: string; alias: string };
  /** What else there is above the projects. */
  more?: { label: string; icon: IconName; to: string }[];
  /** The address of one project. */
  to: (project: string) => string;
  selected: string | undefined;
}

export function ProjectLinks({ dir, all, more = [], to, selected }: Props) {
  const { projects } = useNames(dir);
  const path = usePath();
  return (
    <div className="side-scroll">
      <div className="side-links">
        {[all, ...more].map(({ label, icon, to }) => (
          <Link
            key={to}
            className="side-link"
            to={to}
            aria-current={path === to || path.startsWith(`${to}/`) || (to === all.to && path === all.alias) ? "page" : undefined}
          >
            <Icon name={icon} />
            <span>{label}</span>
          </Link>
        ))}
      </div>
      <h2 className="side-heading">Projects</h2>
      <div className="side-links">
        {projects.map(({ project_id, name, progress_pct, blocked_tasks }) => (
          <Link
            key={project_id}
            className="side-link"
            to={to(project_id)}
            aria-current={project_id === selected ? "page" : undefined}
          >
            <span>{name}</span>
            {blocked_tasks > 0 && (
              <span className="side-note">
                <Status meaning="failed">
                  {blocked_tasks} <span className="visually-hidden">blocked</span>
                </Status>
              </span>
            )}
            <span className="side-note">{Math.round(progress_pct)} %</span>
          </Link>
        ))}
      </div>
    </div>
  );
}
