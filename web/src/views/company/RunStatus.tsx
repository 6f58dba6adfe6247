// The status of a run in a list. The run of a job is not marked as done only because its process ended.

import type { JobPollResponse, MonitorRow } from "@accord/client";
import { Status } from "../../parts/Status.tsx";
import { jobIdOf } from "./jobs.ts";
import { attemptStanding, standingOf, statusOf } from "./meaning.ts";

export function RunStatus({ row, jobOf }: { row: MonitorRow; jobOf: (run: string) => JobPollResponse | undefined }) {
  const status = statusOf(row);
  const job = jobOf(row.run_id);
  const isOfJob = job !== undefined || jobIdOf(row.session_ref) !== undefined;
  const { meaning, word } = isOfJob ? attemptStanding(status, row.run_id, job) : standingOf(status);
  return <Status meaning={meaning}>{word}</Status>;
}
