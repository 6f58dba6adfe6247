// Links to a run or a job by id, labelled with its goal.

import { useCall } from "../../data/calls.ts";
import { Link } from "../../router.tsx";
import { at } from "./address.ts";
import { jobName, runName, shortId, useNames } from "./names.ts";

interface Props {
  workspace: string;
  dir: string;
  project: string;
}

export function RunLink({ workspace, dir, project, run }: Props & { run: string }) {
  const names = useNames(dir);
  const rows = useCall("run.list", { workspace_dir: dir, project_id: project }).data;
  const row = rows?.find(({ run_id }) => run_id === run);
  return <Link to={at.run(workspace, project, run)}>{row ? runName(row, names) : shortId(run)}</Link>;
}

export function JobLink({ workspace, dir, project, job }: Props & { job: string }) {
  const { data } = useCall("job.poll", { workspace_dir: dir, project_id: project, job_id: job });
  return <Link to={at.job(workspace, project, job)}>{data ? jobName(data) : shortId(job)}</Link>;
}
