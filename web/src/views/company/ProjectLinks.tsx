// Links to the projects of a company with their progress.

import "./company.css";
import "./side.css";
import { Icon, type IconName } from "../../parts/Icon.tsx";
import { Status } from "../../parts/Status.tsx";
import { Link, usePath } from "../../router.tsx";
import { useNames } from "./names.ts";

interface Props {
  dir: string;
  /** The link to the page of all projects. `alias` is a second address of that page. */
  all: { label: string; icon: IconName; to: string; alias: string };
  /** Returns the address of a project. */
  to: (project: string) => string;
  selected: string | undefined;
}

export function ProjectLinks({ dir, all, to, selected }: Props) {
  const { projects } = useNames(dir);
  const path = usePath();
  return (
    <div className="side-scroll">
      <div className="side-links">
        <Link
          className="side-link"
          to={all.to}
          aria-current={path === all.to || path === all.alias ? "page" : undefined}
        >
          <Icon name={all.icon} />
          <span>{all.label}</span>
        </Link>
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
