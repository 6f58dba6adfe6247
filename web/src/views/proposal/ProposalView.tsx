// A proposed change of an AGENTS.md: author, reason, difference, decision and outcome.

import "../company/company.css";
import "../inbox/inbox.css";
import type { ThreadAgentsDocProposal, ThreadAgentsDocProposalGetResponse } from "@accord/client";
import { useState } from "react";
import { address } from "../../address.ts";
import { Inspector, InspectorPart, InspectorToggle } from "../../app/Inspector.tsx";
import { later } from "../../app/later.tsx";
import { Page } from "../../app/Page.tsx";
import type { ViewProps } from "../../app/section.ts";
import { useCall } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Diff } from "../../parts/Diff.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { merge, mergedText } from "../../parts/lines.ts";
import { count } from "../../parts/size.ts";
import { Await } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import { shortId } from "../company/names.ts";
import { DecisionBar } from "../inbox/DecisionBar.tsx";
import { useTree } from "../tree/tree.ts";
import { beginning, useAuthor } from "./author.ts";
import { decide, isPending, rebase, rebaseWith, STATUSES, withdraw } from "./proposals.ts";

// Contains the editor, which is large and rarely needed here.
const Merging = later(async () => ({ default: (await import("../agents-doc/Merging.tsx")).Merging }));

export default function ProposalView({ workspace, params }: ViewProps) {
  const query = useCall("thread/agents_doc/proposal/get", {
    workspace_id: workspace,
    proposal_id: params["proposal"] ?? "",
  });
  const { places } = useTree(workspace);
  const [merged, setMerged] = useState<string>();
  const proposal = query.data?.proposal;
  const place = places?.pathOf(proposal?.folder_id ?? null).at(-1)?.name ?? "the root";
  return (
    <Page
      title={`AGENTS.md in ${place}`}
      back={at.inbox(workspace)}
      crumbs={[{ label: "Inbox", to: at.inbox(workspace) }]}
      state={
        proposal && (
          <Status meaning={STATUSES[proposal.status].meaning}>
            {isPending(proposal) ? "Waiting for you" : STATUSES[proposal.status].label}
          </Status>
        )
      }
      actions={<InspectorToggle />}
    >
      <Await query={query}>
        {(read) =>
          merged === undefined ? (
            <Shown workspace={workspace} read={read} place={place} onMerge={setMerged} />
          ) : (
            <Merging
              merged={merged}
              action="Propose merged text"
              onChange={setMerged}
              onBack={() => setMerged(undefined)}
              onDone={() => void rebaseWith(read.proposal, merged).then((isDone) => isDone && setMerged(undefined))}
            />
          )
        }
      </Await>
      {proposal && isPending(proposal) && merged === undefined && (
        <DecisionBar
          draft={`proposal.${proposal.id}`}
          canApprove={!proposal.is_stale}
          onDecide={(decision, note) => decide(proposal, decision === "approved" ? "approve" : "deny", note)}
        />
      )}
    </Page>
  );
}

interface ShownProps {
  workspace: string;
  read: ThreadAgentsDocProposalGetResponse;
  place: string;
  /** Starts a manual merge with this text. */
  onMerge: (text: string) => void;
}

function Shown({ workspace, read, place, onMerge }: ShownProps) {
  const { proposal, base_content, current_content, content } = read;
  const file = <Link to={address.agentsDoc(workspace, proposal.folder_id)}>the AGENTS.md in {place}</Link>;
  const author = useAuthor(workspace);
  // The rationale of a change in a worker's working copy contains the run.
  const [, run, project] = /^Run `(run_\w+)` of project `(proj_\w+)`/.exec(proposal.rationale) ?? [];
  const putOnTop = async () => {
    const { clashes } = await rebase(proposal);
    if (clashes) onMerge(mergedText(merge(base_content, content, current_content)));
  };
  return (
    <div className="page-column inbox-item">
      {!isPending(proposal) && <Outcome proposal={proposal} workspace={workspace} />}
      <p className="proposal-lead">
        {beginning(author(proposal.author))} {isPending(proposal) ? "proposes" : "proposed"} to{" "}
        {proposal.base_version === 0 ? "create" : "change"} {file}. Reason: {proposal.rationale}
      </p>
      {proposal.is_stale && (
        <div className="notice waiting">
          <Icon name="alert" />
          <span>
            {`This proposal is based on version ${proposal.base_version}. The current version is ${proposal.current_version}. `}
            Rebase it before you approve it.
          </span>
          <Button onClick={() => void putOnTop()}>Rebase</Button>
        </div>
      )}
      <Diff
        before={base_content}
        after={content}
        label={proposal.base_version === 0 ? "new file" : `to version ${proposal.base_version}`}
      />
      <Inspector title="About this proposal">
        <InspectorPart title="Details">
          <dl className="facts">
            <dt>Author</dt>
            <dd>
              {proposal.author.startsWith("agent_") ? (
                <Link to={at.agent(workspace, proposal.author)}>{author(proposal.author)}</Link>
              ) : (
                author(proposal.author)
              )}
            </dd>
            {run && project && (
              <>
                <dt>Run</dt>
                <dd>
                  <Link to={at.run(workspace, project, run)}>{shortId(run)}</Link>
                </dd>
              </>
            )}
            <dt>Proposed</dt>
            <dd>
              <Time at={proposal.created_at} />
            </dd>
            {proposal.updated_at !== proposal.created_at && (
              <>
                <dt>Changed</dt>
                <dd>
                  <Time at={proposal.updated_at} />
                </dd>
              </>
            )}
            <dt>Length</dt>
            <dd>{count(proposal.char_count)} characters</dd>
            <dt>SHA-256</dt>
            <dd className="mono">{proposal.content_sha256.slice(0, 16)}…</dd>
          </dl>
        </InspectorPart>
        {isPending(proposal) && (
          <InspectorPart title="Withdraw">
            <p className="muted">The author of a proposal can withdraw it.</p>
            <div className="inspector-actions">
              <Button onClick={() => void withdraw(proposal)}>Withdraw proposal</Button>
            </div>
          </InspectorPart>
        )}
      </Inspector>
    </div>
  );
}

function Outcome({ proposal, workspace }: { proposal: ThreadAgentsDocProposal; workspace: string }) {
  const author = useAuthor(workspace);
  const isApproved = proposal.status === "approved";
  return (
    <section className="outcome" aria-label="Outcome">
      <h2 className={isApproved ? "outcome-done" : "outcome-failed"}>
        <Icon name={isApproved ? "check" : "close"} />
        {STATUSES[proposal.status].label} by {author(proposal.decided_by)}{" "}
        {proposal.decided_at && <Time at={proposal.decided_at} />}
      </h2>
      <ul>
        <li>
          {isApproved ? (
            <>
              Saved as{" "}
              <Link to={address.agentsDoc(workspace, proposal.folder_id)}>version {proposal.saved_version}</Link> with
              the changes below.
            </>
          ) : (
            "The file was not changed."
          )}
        </li>
        {proposal.note && <li>Note: {proposal.note}</li>}
      </ul>
    </section>
  );
}
