// The inbox without anything open: how much waits, and who asked for help.

import "../company/company.css";
import type { ViewProps } from "../../app/section.ts";
import { Kbd } from "../../parts/Kbd.tsx";
import { Empty } from "../../parts/states.tsx";
import { Time } from "../../parts/Time.tsx";
import { useWaitingCount } from "../company/count.ts";
import { useCompany } from "../company/folder.ts";
import { ME } from "../company/me.ts";
import { useNames } from "../company/names.ts";
import { useRead } from "../company/reads.ts";

export default function InboxView({ workspace }: ViewProps) {
  const { dir } = useCompany(workspace);
  const waiting = useWaitingCount(workspace);
  return (
    <>
      {waiting === 0 ? (
        <Empty icon="check" title="Nothing waits for you">
          When somebody wants to change an AGENTS.md or memory, finish a milestone or start something risky, it waits
          here for your decision.
        </Empty>
      ) : (
        <Empty icon="inbox" title={waiting === 1 ? "One decision waits for you" : `${waiting} decisions wait for you`}>
          <Kbd keys="j" /> and <Kbd keys="k" /> open one after the other, <Kbd keys="a" /> approves and{" "}
          <Kbd keys="d" /> denies what is open, <Kbd keys="?" /> shows all keys.
        </Empty>
      )}
      {dir && <HelpWanted dir={dir} />}
    </>
  );
}

function HelpWanted({ dir }: { dir: string }) {
  const names = useNames(dir);
  const { data } = useRead("inbox.list_help_requests", { workspace_dir: dir, ...ME, limit: 20 });
  if (!data || data.length === 0) return null;
  return (
    <section className="page-column block">
      <h2>Help wanted</h2>
      <ul className="lines">
        {data.map(({ id, title, requester, target_manager, created_at }) => (
          <li key={id} className="line">
            <span className="line-text">{title}</span>
            <span className="muted">
              {names.actor(requester)} asks {names.actor(target_manager)}
            </span>
            <Time at={created_at} />
          </li>
        ))}
      </ul>
    </section>
  );
}
