// A card that links to a project: name, progress and status.

import "./card.css";
import type { ReactNode } from "react";
import { Status } from "../../parts/Status.tsx";
import { Link } from "../../router.tsx";
import { plural } from "./names.ts";
import { Progress } from "./Progress.tsx";

interface Props {
  project: { name: string; progress_pct: number; task_count: number; blocked_tasks: number };
  to: string;
  /** Additional status between the number of tasks and of blocked tasks. */
  children?: ReactNode;
}

export function ProjectCard({ project, to, children }: Props) {
  return (
    <Link className="card" to={to}>
      <div className="card-title">
        <span>{project.name}</span>
        <span>{Math.round(project.progress_pct)} %</span>
      </div>
      <Progress percent={project.progress_pct} label={`Progress of ${project.name}`} />
      <div className="card-line">
        <span>{plural(project.task_count, "task")}</span>
        {children}
        {project.blocked_tasks > 0 && <Status meaning="failed">{project.blocked_tasks} blocked</Status>}
      </div>
    </Link>
  );
}
