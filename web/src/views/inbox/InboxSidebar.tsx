// What waits for a decision, and what was decided.

import "../company/company.css";
import type { InboxDecision, InboxPending } from "@accord/client";
import { useState } from "react";
import { useKeys } from "../../keys/keys.ts";
import { List } from "../../parts/List.tsx";
import { Await } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import { Choices } from "../company/Choices.tsx";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";
import { meaningOf } from "../company/meaning.ts";
import { shortId, subjectWord, useNames, words, type Names } from "../company/names.ts";
import { useRead } from "../company/reads.ts";

const TABS = [
  { id: "pending", label: "Waiting" },
  { id: "decided", label: "Decided" },
] as const;

export default function InboxSidebar({ workspace, dir, params }: CompanyViewProps) {
  const [tab, setTab] = useState<"pending" | "decided">("pending");
  const query = useRead("inbox.snapshot", { workspace_dir: dir, ...ME });
  const names = useNames(dir);
  // What is decided by `a` and `d` is what is open, so moving through the list opens.
  const shown =
    tab === "pending"
      ? (query.data?.pending.map(({ project_id, artifact_id }) => ({ project_id, artifact_id })) ?? [])
      : (query.data?.recent_decisions.map((one) => ({
          project_id: one.project_id,
          artifact_id: one.subject_artifact_id,
        })) ?? []);
  const step = (by: number) => {
    const here = shown.findIndex(({ artifact_id }) => artifact_id === params["artifact"]);
    const next = shown[Math.min(shown.length - 1, Math.max(0, here + by))];
    if (next) navigate(at.item(workspace, next.project_id, next.artifact_id));
  };
  useKeys("Inbox", [
    { key: "j", label: "Open the next", run: () => step(1) },
    { key: "k", label: "Open the previous", run: () => step(-1) },
  ]);
  return (
    <>
      <div className="sidebar-head">
        <h2>Inbox</h2>
        <Choices label="Which" options={TABS} value={tab} onChange={setTab} />
      </div>
      <Await query={query}>
        {({ pending, recent_decisions }) =>
          tab === "pending" ? (
            pending.length === 0 ? (
              <p className="sidebar-none">Nothing waits for you.</p>
            ) : (
              <List<InboxPending>
                label="Waiting for a decision"
                items={pending}
                keyOf={({ artifact_id }) => artifact_id}
                hrefOf={({ project_id, artifact_id }) => at.item(workspace, project_id, artifact_id)}
                selected={params["artifact"]}
                row={(item) => <Pending item={item} names={names} />}
                rowHeight={48}
              />
            )
          ) : (
            <List<InboxDecision>
              label="Decided"
              items={recent_decisions}
              keyOf={({ review_id }) => review_id}
              hrefOf={({ project_id, subject_artifact_id }) => at.item(workspace, project_id, subject_artifact_id)}
              selected={
                recent_decisions.find(({ subject_artifact_id }) => subject_artifact_id === params["artifact"])
                  ?.review_id
              }
              row={(item) => <Decided item={item} names={names} />}
              rowHeight={48}
            />
          )
        }
      </Await>
    </>
  );
}

function Pending({ item, names }: { item: InboxPending; names: Names }) {
  return (
    <>
      <div className="row-title">
        <span>{item.title ?? shortId(item.artifact_id)}</span>
        {item.created_at && <Time at={item.created_at} />}
      </div>
      <div className="row-note">
        <Status meaning={item.invalid ? "failed" : "waiting"}>
          {item.invalid ? "Malformed" : subjectWord(item.artifact_type)}
        </Status>{" "}
        · {names.actor(item.produced_by)}
      </div>
    </>
  );
}

function Decided({ item, names }: { item: InboxDecision; names: Names }) {
  return (
    <>
      <div className="row-title">
        <span>
          {subjectWord(item.subject_kind)} of {names.project(item.project_id)}
        </span>
        <Time at={item.created_at} />
      </div>
      <div className="row-note">
        <Status meaning={meaningOf(item.decision)}>{words(item.decision)}</Status> · {names.actor(item.actor_id)}
      </div>
    </>
  );
}
