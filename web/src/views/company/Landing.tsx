// Where a workspace begins: at the overview of its company, or with its threads.

import { address } from "../../address.ts";
import { Go } from "../../app/App.tsx";
import { Loading } from "../../parts/states.tsx";
import { at } from "./address.ts";
import { useCompany } from "./folder.ts";

export function Landing({ workspace }: { workspace: string }) {
  const { isKnown, dir } = useCompany(workspace);
  if (!isKnown) return <Loading />;
  return <Go to={dir ? at.overview(workspace) : address.tree(workspace)} />;
}
