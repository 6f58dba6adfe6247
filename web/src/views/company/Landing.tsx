// Where a workspace begins: at the overview of its company, or with its threads.

import { address } from "../../address.ts";
import { Go } from "../../app/App.tsx";
import { callOptions, queries } from "../../data/calls.ts";
import { Loading } from "../../parts/states.tsx";
import { at } from "./address.ts";
import { useCompany } from "./folder.ts";

/** Fetches what is shown first while the gateway is still being asked where that is. */
export function prepareLanding(): void {
  void queries.prefetchQuery(callOptions("workspace/list", {}));
  void import("../home/HomeView.tsx");
  void import("../home/HomeSidebar.tsx");
}

export function Landing({ workspace }: { workspace: string }) {
  const { isKnown, dir } = useCompany(workspace);
  if (!isKnown) return <Loading />;
  return <Go to={dir ? at.overview(workspace) : address.tree(workspace)} />;
}
