// An inbox item: the exact change, the decision, and the outcome.

import "../company/company.css";
import "./inbox.css";
import type { InboxReadResponse } from "@accord/client";
import { useEffect, useState } from "react";
import { Inspector, InspectorPart, InspectorToggle } from "../../app/Inspector.tsx";
import { Page } from "../../app/Page.tsx";
import { useCall } from "../../data/calls.ts";
import { useKeys } from "../../keys/keys.ts";
import { Button } from "../../parts/Button.tsx";
import { Kbd } from "../../parts/Kbd.tsx";
import { count } from "../../parts/size.ts";
import { Await } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link, navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import { Comments } from "../company/Comments.tsx";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";
import { meaningOf } from "../company/meaning.ts";
import { audience, shortId, useNames, words } from "../company/names.ts";
import { RunLink } from "../company/RunLink.tsx";
import { Changed } from "./Changed.tsx";
import { decide, useOutcome } from "./decide.ts";
import { DecisionBar } from "./DecisionBar.tsx";
import { Outcome } from "./Outcome.tsx";
import { readDocument } from "./document.ts";
import { Proposal } from "./Proposal.tsx";

export default function ItemView({ workspace, dir, params }: CompanyViewProps) {
  const project_id = params["project"] ?? "";
  const artifact_id = params["artifact"] ?? "";
  const names = useNames(dir);
  const document = useCall("inbox.read", { workspace_dir: dir, project_id, artifact_id, ...ME });
  const [looked, setLooked] = useState<InboxReadResponse>();
  // The first version shown stays the reference until the user reviews a newer one.
  const shown = looked?.artifact_id === artifact_id ? looked : document.data;
  useEffect(() => {
    if (document.data && looked?.artifact_id !== artifact_id) setLooked(document.data);
  }, [artifact_id, document.data, looked]);
  const inbox = useCall("inbox.snapshot", { workspace_dir: dir, ...ME }).data;
  const pending = inbox?.pending ?? [];
  const item = pending.find((one) => one.artifact_id === artifact_id);
  const decision = inbox?.recent_decisions.find((one) => one.subject_artifact_id === artifact_id);
  const outcome = useOutcome(artifact_id);
  const hasChanged = item && !outcome && document.data?.sha256 !== shown?.sha256;

  const next = () => {
    const other = pending.find((one) => one.artifact_id !== artifact_id);
    navigate(other ? at.item(workspace, other.project_id, other.artifact_id) : at.inbox(workspace));
  };
  useKeys("Inbox", [{ key: "n", label: "Next item", run: next }]);

  return (
    <Page
      title={item?.title ?? (document.data ? readDocument(document.data).title : shortId(artifact_id))}
      back={at.inbox(workspace)}
      crumbs={[{ label: names.project(project_id), to: at.project(workspace, project_id) }]}
      state={
        decision ? (
          <Status meaning={meaningOf(decision.decision)}>{words(decision.decision)}</Status>
        ) : (
          item && <Status meaning="waiting">Waiting for you</Status>
        )
      }
      actions={<InspectorToggle />}
    >
      <Await query={document}>
        {(data) => (
          <>
            <div className="page-column inbox-item">
              {decision && (
                <Outcome
                  workspace={workspace}
                  dir={dir}
                  decision={decision}
                  outcome={outcome}
                  names={names}
                  document={readDocument(data)}
                />
              )}
              {hasChanged && shown && <Changed before={shown} now={data} onLooked={() => setLooked(data)} />}
              <Proposal
                document={readDocument(data)}
                workspace={workspace}
                dir={dir}
                names={names}
                isDecided={decision !== undefined}
              />
            </div>
            <Inspector title="Details">
              <InspectorPart title="Source">
                <Origin
                  workspace={workspace}
                  dir={dir}
                  project={project_id}
                  document={readDocument(data)}
                  names={names}
                />
              </InspectorPart>
              <InspectorPart title="Comments">
                <Comments dir={dir} project={project_id} target={{ target_artifact_id: artifact_id }} names={names} />
              </InspectorPart>
            </Inspector>
          </>
        )}
      </Await>
      {item && shown && !hasChanged && (
        <DecisionBar
          draft={`review.${artifact_id}`}
          canApprove={item.invalid !== true}
          onDecide={(wanted, notes) => decide(dir, item, wanted, shown.sha256, notes)}
        />
      )}
      {decision && pending.length > 0 && (
        <div className="decision-bar">
          <span className="muted">{`${count(pending.length)} more waiting`}</span>
          <Button onClick={next}>
            Next <Kbd keys="n" />
          </Button>
        </div>
      )}
    </Page>
  );
}

function Origin({
  workspace,
  dir,
  project,
  document,
  names,
}: {
  workspace: string;
  dir: string;
  project: string;
  document: ReturnType<typeof readDocument>;
  names: ReturnType<typeof useNames>;
}) {
  return (
    <dl className="facts">
      <dt>Author</dt>
      <dd>
        <Link to={at.agent(workspace, document.text("produced_by"))}>{names.actor(document.text("produced_by"))}</Link>
      </dd>
      <dt>Created</dt>
      <dd>{document.text("created_at") && <Time at={document.text("created_at")} />}</dd>
      {document.text("run_id") && (
        <>
          <dt>Run</dt>
          <dd>
            <RunLink workspace={workspace} dir={dir} project={project} run={document.text("run_id")} />
          </dd>
        </>
      )}
      <dt>Visible to</dt>
      <dd>{audience(document.text("visibility"))}</dd>
      {document.text("sensitivity") && (
        <>
          <dt>Sensitivity</dt>
          <dd>{words(document.text("sensitivity"))}</dd>
        </>
      )}
      <dt>File</dt>
      <dd className="mono">{document.relpath}</dd>
    </dl>
  );
}
