// A proposed change of an AGENTS.md: who wants it and why, exactly what it changes, the decision, and what came of it.

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

// With the editor, which is large and seldom wanted here.
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
      title={`AGENTS.md of ${place}`}
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
              action="Propose the merged text"
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
  /** Begins to merge by hand. */
  onMerge: (text: string) => void;
}

function Shown({ workspace, read, place, onMerge }: ShownProps) {
  const { proposal, base_content, current_content, content } = read;
  const file = <Link to={address.agentsDoc(workspace, proposal.folder_id)}>the AGENTS.md of {place}</Link>;
  const author = useAuthor(workspace);
  // What a worker changed in its working copy names the run.
  const [, run, project] = /^Run `(run_\w+)` of project `(proj_\w+)`/.exec(proposal.rationale) ?? [];
  const putOnTop = async () => {
    const { clashes } = await rebase(proposal);
    if (clashes) onMerge(mergedText(merge(base_content, content, current_content)));
  };
  return (
    <div className="page-column inbox-item">
      {!isPending(proposal) && <Outcome proposal={proposal} workspace={workspace} />}
      <p className="proposal-lead">
        {beginning(author(proposal.author))} {isPending(proposal) ? "wants" : "wanted"} to {proposal.base_version === 0 ? "write" : "change"}{" "}
        {file}, because: {proposal.rationale}
      </p>
      {proposal.is_stale && (
        <div className="notice waiting">
          <Icon name="alert" />
          <span>
            {`It changes version ${proposal.base_version}, and the file has version ${proposal.current_version} by now. `}
            Put it on the newest version before you approve it.
          </span>
          <Button onClick={() => void putOnTop()}>Rebase</Button>
        </div>
      )}
      <Diff
        before={base_content}
        after={content}
        label={proposal.base_version === 0 ? "a new file" : `to version ${proposal.base_version}`}
      />
      <Inspector title="About this proposal">
        <InspectorPart title="Facts">
          <dl className="facts">
            <dt>By</dt>
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
          <InspectorPart title="Changed your mind?">
            <p className="muted">Whoever made a proposal can take it back.</p>
            <div className="inspector-actions">
              <Button onClick={() => void withdraw(proposal)}>Take it back</Button>
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
    <section className="outcome" aria-label="What happened">
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
              <Link to={address.agentsDoc(workspace, proposal.folder_id)}>version {proposal.saved_version}</Link>, with
              the lines below.
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
