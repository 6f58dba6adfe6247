// Redirects a workspace to the overview of its company, or to its threads.

import { address } from "../../address.ts";
import { Go } from "../../app/App.tsx";
import { callOptions, queries } from "../../data/calls.ts";
import { Loading } from "../../parts/states.tsx";
import { at } from "./address.ts";
import { useCompany } from "./folder.ts";

/** Prefetches the first view while the default workspace is still being requested. */
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
