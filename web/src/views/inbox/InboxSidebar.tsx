// The sidebar of the inbox: pending and decided items of the company and of AGENTS.md files.

import "../company/company.css";
import "../company/side.css";
import { useState } from "react";
import type { ViewProps } from "../../app/section.ts";
import { List } from "../../parts/List.tsx";
import { Loading } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { usePath } from "../../router.tsx";
import { Choices } from "../company/Choices.tsx";
import { useCompany } from "../company/folder.ts";
import { useAuthor } from "../proposal/author.ts";
import { isPending, useProposals } from "../proposal/proposals.ts";
import { newestFirst, ofProposal, useCompanyEntries, type Entry } from "./entries.ts";

const TABS = [
  { id: "pending", label: "Waiting" },
  { id: "decided", label: "Decided" },
] as const;

export default function InboxSidebar({ workspace }: ViewProps) {
  const { isKnown, dir } = useCompany(workspace);
  if (!isKnown) return <Loading />;
  return dir ? (
    <OfCompany workspace={workspace} dir={dir} />
  ) : (
    <Shown workspace={workspace} waiting={[]} decided={[]} />
  );
}

function OfCompany({ workspace, dir }: { workspace: string; dir: string }) {
  const entries = useCompanyEntries(workspace, dir);
  return entries ? <Shown workspace={workspace} {...entries} /> : <Loading />;
}

/** `waiting` and `decided` are the items of the company. */
function Shown({ workspace, waiting, decided }: { workspace: string; waiting: Entry[]; decided: Entry[] }) {
  const [tab, setTab] = useState<"pending" | "decided">("pending");
  const path = usePath();
  const nameOf = useAuthor(workspace);
  const isWaiting = tab === "pending";
  const proposals = useProposals(workspace)
    .filter((proposal) => isPending(proposal) === isWaiting)
    .map((proposal) => ofProposal(workspace, proposal, nameOf));
  const shown = newestFirst([...proposals, ...(isWaiting ? waiting : decided)]);
  const open = shown.find(({ href }) => href === path);
  return (
    <>
      <div className="sidebar-head">
        <h2>Inbox</h2>
        <Choices label="Filter" options={TABS} value={tab} onChange={setTab} />
      </div>
      {shown.length === 0 ? (
        <p className="sidebar-none">{isWaiting ? "Nothing to decide." : "No decisions yet."}</p>
      ) : (
        <List
          label={isWaiting ? "Waiting for a decision" : "Decided"}
          items={shown}
          keyOf={({ key }) => key}
          hrefOf={({ href }) => href}
          selected={open?.key}
          row={(entry) => <Row entry={entry} />}
          rowHeight={48}
          // The keys `a` and `d` decide the open item.
          opensOnMove
        />
      )}
    </>
  );
}

function Row({ entry: { title, at, meaning, word, who } }: { entry: Entry }) {
  return (
    <>
      <div className="row-title">
        <span>{title}</span>
        {at !== undefined && <Time at={at} />}
      </div>
      <div className="row-note">
        <Status meaning={meaning}>{word}</Status> · {who}
      </div>
    </>
  );
}
