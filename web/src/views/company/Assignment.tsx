// The assignment of a worker: a repository of the project and a task.

import { useState } from "react";
import { useCall } from "../../data/calls.ts";
import { SelectField } from "../../parts/Field.tsx";
import type { Names } from "./names.ts";

export interface Assignment {
  repo_id?: string;
  task_id?: string;
}

/** The default repository: the only one of the project, or none. */
export type UsualRepository = "the only one" | "none";

/** Returns the selected repository and task of a project. A selection for another project is ignored. */
export function useAssignment(dir: string, project: string, names: Names, usual: UsualRepository) {
  const [chosen, setChosen] = useState<Assignment & { project?: string }>({});
  const tasks = useCall("task.list", { workspace_dir: dir, project_id: project }, { enabled: project !== "" }).data;
  const repositories = names.projects.find(({ project_id }) => project_id === project)?.repo_links ?? [];
  const own = chosen.project === project ? chosen : {};
  const only = usual === "the only one" && repositories.length === 1 ? repositories[0]?.repo_id : undefined;
  const repo = own.repo_id ?? only ?? "";
  const task = own.task_id ?? "";
  return {
    repositories,
    tasks: tasks?.tasks ?? [],
    repo,
    task,
    choose: (change: Assignment) => setChosen({ ...own, ...change, project }),
    /** The params for the gateway. */
    params: { ...(repo ? { repo_id: repo } : {}), ...(task ? { task_id: task } : {}) } satisfies Assignment,
  };
}

export function AssignmentFields({
  assignment,
  none,
  onChange = () => {},
}: {
  assignment: ReturnType<typeof useAssignment>;
  /** The label of the option without a repository; undefined if a repository is required. */
  none: string | undefined;
  onChange?: () => void;
}) {
  const { repositories, tasks, repo, task, choose } = assignment;
  return (
    <>
      <SelectField
        label="Repository"
        value={repo}
        onChange={(event) => {
          choose({ repo_id: event.target.value });
          onChange();
        }}
        options={[
          ...(none ? [{ value: "", label: none }] : []),
          ...repositories.map(({ repo_id, label }) => ({ value: repo_id, label: label ?? repo_id })),
        ]}
      />
      <SelectField
        label="Task"
        value={task}
        onChange={(event) => {
          choose({ task_id: event.target.value });
          onChange();
        }}
        options={[
          { value: "", label: "No task" },
          ...tasks.map(({ task_id, frontmatter }) => ({ value: task_id, label: frontmatter.title })),
        ]}
      />
    </>
  );
}
