// The inspector of an AGENTS.md: the threads that use it, its size in the prompt, and its history.

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
      <InspectorPart title="Used here">
        {isInForce ? (
          <p>This file, version {effective.doc.version}.</p>
        ) : effective ? (
          <p>
            Inherited from{" "}
            <Link to={address.agentsDoc(workspace, effective.source_folder_id)}>{sourceName(effective)}</Link>, version{" "}
            {effective.doc.version}.{session.doc && " This file is empty, so the inherited one applies."}
          </p>
        ) : (
          <p className="muted">No instructions: this file and the ones above it are empty.</p>
        )}
        <p className="muted">
          {followers.length === 1 ? "Used by 1 thread." : `Used by ${count(followers.length)} threads.`}
        </p>
      </InspectorPart>
      <InspectorPart title="Prompt size">
        <p>
          {count(size)} <span className="muted">of {count(BUDGET)} characters</span>
        </p>
        <meter
          className="budget"
          min={0}
          max={BUDGET}
          high={BUDGET * 0.9}
          value={Math.min(size, BUDGET)}
          aria-label="Prompt size"
        />
        {size > BUDGET && <p className="budget-over">Text after {count(BUDGET)} characters is cut off.</p>}
        <Button className="wide" disabled={followers.length === 0} onClick={() => setPreviewing(true)}>
          Preview prompt
        </Button>
        {followers.length === 0 && <p className="muted small">Available when a thread uses this file.</p>}
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

/** Returns the threads that use the file of a folder: those in it and below, except below another active file. */
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
