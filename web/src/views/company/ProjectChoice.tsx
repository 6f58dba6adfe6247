// Selects one project or all projects.

import type { Names } from "./names.ts";

export const ALL = "all";

export function ProjectChoice({
  names,
  value,
  onChange,
}: {
  names: Names;
  /** The id of a project, or `ALL`. */
  value: string;
  onChange: (project: string) => void;
}) {
  return (
    <select className="input" aria-label="Project" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value={ALL}>All projects</option>
      {names.projects.map(({ project_id, name }) => (
        <option key={project_id} value={project_id}>
          {name}
        </option>
      ))}
    </select>
  );
}
