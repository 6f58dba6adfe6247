// How much waits for a person, for the rail.

import { useCompany } from "./folder.ts";
import { ME } from "./me.ts";
import { useRead } from "./reads.ts";

export function useWaitingCount(workspace: string): number {
  const { dir } = useCompany(workspace);
  const { data } = useRead("inbox.snapshot", { workspace_dir: dir ?? "", ...ME }, { enabled: dir !== undefined });
  return data?.pending.length ?? 0;
}
