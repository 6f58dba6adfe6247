// The inbox without anything open.

import { Empty } from "../../parts/states.tsx";
import { Kbd } from "../../parts/Kbd.tsx";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";
import { useRead } from "../company/reads.ts";

export default function InboxView({ dir }: CompanyViewProps) {
  const { data } = useRead("inbox.snapshot", { workspace_dir: dir, ...ME });
  const waiting = data?.pending.length ?? 0;
  if (waiting === 0) {
    return (
      <Empty icon="check" title="Nothing waits for you">
        When an agent wants to change memory, finish a milestone or start something risky, it asks here first.
      </Empty>
    );
  }
  return (
    <Empty icon="inbox" title={waiting === 1 ? "One decision waits for you" : `${waiting} decisions wait for you`}>
      <Kbd keys="j" /> and <Kbd keys="k" /> open one after the other, <Kbd keys="a" /> approves and <Kbd keys="d" />{" "}
      denies what is open, <Kbd keys="?" /> shows all keys.
    </Empty>
  );
}
