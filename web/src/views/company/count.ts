// How much waits for a person, for the rail.

import { isPending, useProposals } from "../proposal/proposals.ts";
import { useCompany } from "./folder.ts";
import { ME } from "./me.ts";
import { useRead } from "./reads.ts";

export function useWaitingCount(workspace: string): number {
  const { dir } = useCompany(workspace);
  const { data } = useRead("inbox.snapshot", { workspace_dir: dir ?? "", ...ME }, { enabled: dir !== undefined });
  const proposals = useProposals(workspace);
  return (data?.pending.length ?? 0) + proposals.filter(isPending).length;
}
