// The tree section without anything open: what it is for.

import { address } from "../../address.ts";
import type { ViewProps } from "../../app/section.ts";
import { Button } from "../../parts/Button.tsx";
import { Empty } from "../../parts/states.tsx";
import { navigate } from "../../router.tsx";

export default function TreeView({ workspace }: ViewProps) {
  return (
    <Empty
      icon="tree"
      title="Nothing is open"
      action={
        <Button icon="doc" onClick={() => navigate(address.agentsDoc(workspace))}>
          Open the AGENTS.md of all threads
        </Button>
      }
    >
      Choose a thread or an AGENTS.md on the left, or press Ctrl-K to find one.
    </Empty>
  );
}
