// The number of pending decisions, for the rail.

import { useCall } from "../../data/calls.ts";
import { isPending, useProposals } from "../proposal/proposals.ts";
import { useCompany } from "./folder.ts";
import { ME } from "./me.ts";

export function useWaitingCount(workspace: string): number {
  const { dir } = useCompany(workspace);
  const { data } = useCall("inbox.snapshot", { workspace_dir: dir ?? "", ...ME }, { enabled: dir !== undefined });
  const proposals = useProposals(workspace);
  return (data?.pending.length ?? 0) + proposals.filter(isPending).length;
}
