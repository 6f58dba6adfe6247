// The address of a company folder, `/c/<folder>/…`, leads to the same place in a workspace that shows it.

import { useEffect } from "react";
import { address } from "../../address.ts";
import { useCall } from "../../data/calls.ts";
import { Await } from "../../parts/states.tsx";
import { navigate } from "../../router.tsx";
import { chooseCompany, linkedDir } from "./folder.ts";

export function GoToCompany({ dir, rest }: { dir: string; rest: string[] }) {
  const list = useCall("workspace/list", {});
  const start = useCall("workspace/default", {});
  const linked = list.data?.workspaces.find((workspace) => linkedDir(workspace) === dir)?.id;
  const isKnown = list.data !== undefined;
  const workspace = linked ?? start.data?.workspace.id;
  useEffect(() => {
    if (!isKnown || !workspace) return;
    chooseCompany(workspace, dir);
    navigate([address.workspace(workspace), ...(rest.length > 0 ? rest : ["home"])].join("/") + location.search, { replace: true });
  }, [isKnown, workspace]);
  return <Await query={start}>{() => null}</Await>;
}
