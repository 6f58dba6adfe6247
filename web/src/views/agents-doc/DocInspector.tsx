// What an AGENTS.md means: who follows it, how much of the prompt it takes, and how it came to be.

import type { ThreadAgentsDocResolvedPayload } from "@accord/client";
import { useMemo, useState } from "react";
import { address } from "../../address.ts";
import { Inspector, InspectorPart } from "../../app/Inspector.tsx";
import { Button } from "../../parts/Button.tsx";
import { count } from "../../parts/size.ts";
import { Link } from "../../router.tsx";
import { ScopeProposals } from "../proposal/ScopeProposals.tsx";
import type { FolderId, Places } from "../tree/model.ts";
import { useTree } from "../tree/tree.ts";
import { BUDGET } from "./budget.ts";
import { History } from "./History.tsx";
import { PromptPreview } from "./PromptPreview.tsx";
import type { DocSession } from "./session.ts";
import { sourceName } from "./source.ts";


export function DocInspector({
  workspace,
  folder,
  session,
  effective,
}: {
  workspace: string;
  folder: string | undefined;
  session: DocSession;
  effective: ThreadAgentsDocResolvedPayload | undefined;
}) {
  const { places } = useTree(workspace);
  const [isPreviewing, setPreviewing] = useState(false);
  const followers = useMemo(() => (places ? followersOf(places, folder ?? null) : []), [places, folder]);
  const size = [...session.text].length;
  const isInForce = effective !== undefined && !effective.inherited;
  return (
    <Inspector title="About this file">
      <InspectorPart title="In force here">
        {isInForce ? (
          <p>This file, version {effective.doc.version}.</p>
        ) : effective ? (
          <p>
            Inherited from <Link to={address.agentsDoc(workspace, effective.source_folder_id)}>{sourceName(effective)}</Link>,
            version {effective.doc.version}.{session.doc && " An empty file hides nothing."}
          </p>
        ) : (
          <p className="muted">Nothing yet: neither this file nor one above has any text.</p>
        )}
        <p className="muted">
          {followers.length === 1 ? "1 thread follows it." : `${count(followers.length)} threads follow it.`}
        </p>
      </InspectorPart>
      <InspectorPart title="Share of the prompt">
        <p>
          {count(size)} <span className="muted">of {count(BUDGET)} characters</span>
        </p>
        <meter className="budget" min={0} max={BUDGET} high={BUDGET * 0.9} value={Math.min(size, BUDGET)} aria-label="Share of the prompt" />
        {size > BUDGET && <p className="budget-over">The prompt is cut after {count(BUDGET)} characters.</p>}
        <Button className="wide" disabled={followers.length === 0} onClick={() => setPreviewing(true)}>
          Show the exact prompt section
        </Button>
        {followers.length === 0 && <p className="muted small">A thread in this scope is needed to show it.</p>}
      </InspectorPart>
      <ScopeProposals workspace={workspace} folder={folder} />
      <History workspace={workspace} session={session} />
      {followers[0] && (
        <PromptPreview
          workspace={workspace}
          thread={followers[0]}
          open={isPreviewing}
          onClose={() => setPreviewing(false)}
        />
      )}
    </Inspector>
  );
}

/** The threads that get the file of a scope: those in it and below, except below another active file. */
function followersOf(places: Places, scope: FolderId): string[] {
  const below = (folder: FolderId): string[] => [
    ...places.threadsIn(folder).map(({ id }) => id),
    ...places
      .foldersIn(folder)
      .filter(({ id }) => places.doc(id)?.status !== "active")
      .flatMap(({ id }) => below(id)),
  ];
  return below(scope);
}
