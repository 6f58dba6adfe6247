// The inbox without an open item: the number of pending decisions, and help requests.

import "../company/company.css";
import type { ViewProps } from "../../app/section.ts";
import { useCall } from "../../data/calls.ts";
import { Kbd } from "../../parts/Kbd.tsx";
import { Empty } from "../../parts/states.tsx";
import { Time } from "../../parts/Time.tsx";
import { useWaitingCount } from "../company/count.ts";
import { useCompany } from "../company/folder.ts";
import { ME } from "../company/me.ts";
import { plural, useNames } from "../company/names.ts";

export default function InboxView({ workspace }: ViewProps) {
  const { dir } = useCompany(workspace);
  const waiting = useWaitingCount(workspace);
  return (
    <>
      {waiting === 0 ? (
        <Empty icon="check" title="Nothing to decide">
          Proposed changes to AGENTS.md files and memory, completed milestones and risky actions appear here for your
          decision.
        </Empty>
      ) : (
        <Empty icon="inbox" title={`${plural(waiting, "decision")} waiting for you`}>
          Press <Kbd keys="j" /> and <Kbd keys="k" /> to move between items, <Kbd keys="a" /> to approve,{" "}
          <Kbd keys="d" /> to deny and <Kbd keys="?" /> to show all shortcuts.
        </Empty>
      )}
      {dir && <HelpWanted dir={dir} />}
    </>
  );
}

function HelpWanted({ dir }: { dir: string }) {
  const names = useNames(dir);
  const { data } = useCall("inbox.list_help_requests", { workspace_dir: dir, ...ME, limit: 20 });
  if (!data || data.length === 0) return null;
  return (
    <section className="page-column block">
      <h2>Help requests</h2>
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
