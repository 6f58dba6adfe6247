// The name of an author: the owner, a token or an agent of the company.

import { useCall } from "../../data/calls.ts";
import { useCompany } from "../company/folder.ts";
import { shortId } from "../company/names.ts";

export function useAuthor(workspace: string): (id: string | null | undefined) => string {
  const { dir } = useCompany(workspace);
  const agents = useCall("workspace.agents.list", { workspace_dir: dir ?? "" }, { enabled: dir !== undefined }).data;
  return (id) => {
    if (!id) return "unknown";
    if (id === "owner") return "the owner";
    return agents?.find(({ agent_id }) => agent_id === id)?.name ?? shortId(id);
  };
}

/** Capitalises the first letter. */
export const beginning = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
