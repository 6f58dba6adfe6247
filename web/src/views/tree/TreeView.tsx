// The Threads section without an open object.

import { address } from "../../address.ts";
import type { ViewProps } from "../../app/section.ts";
import { Button } from "../../parts/Button.tsx";
import { Empty } from "../../parts/states.tsx";
import { navigate } from "../../router.tsx";

export default function TreeView({ workspace }: ViewProps) {
  return (
    <Empty
      icon="tree"
      title="No thread selected"
      action={
        <Button icon="doc" onClick={() => navigate(address.agentsDoc(workspace))}>
          Edit AGENTS.md for all threads
        </Button>
      }
    >
      A thread is your own chat with a model; it follows the AGENTS.md of its folder. Select one on the left, or press
      Ctrl-K to search.
    </Empty>
  );
}
