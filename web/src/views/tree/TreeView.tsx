// The tree section without anything open: what it is for.

import { Empty } from "../../parts/states.tsx";

export default function TreeView() {
  return (
    <Empty icon="tree" title="Nothing is open">
      Choose a thread or an AGENTS.md on the left, or press Ctrl-K to find one.
    </Empty>
  );
}
