// The inspector of a thread: its AGENTS.md, its files, and the prompt of a turn.

import type { ArtifactRef, Thread } from "@accord/client";
import { address } from "../../address.ts";
import { Inspector, InspectorPart } from "../../app/Inspector.tsx";
import { useCall } from "../../data/calls.ts";
import { useKeys } from "../../keys/keys.ts";
import { Tabs } from "../../parts/Tabs.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link } from "../../router.tsx";
import { ArtifactPanel } from "../artifact/ArtifactPanel.tsx";
import { sourceName } from "../agents-doc/source.ts";
import { PromptManifestPart } from "./PromptManifestPart.tsx";

export interface Shown {
  tab: "about" | "files" | "prompt";
  /** The turn whose prompt is shown. Default: the last turn. */
  turn?: string;
  artifact?: string | undefined;
}

export function ThreadInspector({
  workspace,
  thread,
  shown,
  turns,
  onShow,
  onAttach,
}: {
  workspace: string;
  thread: Thread;
  shown: Shown;
  /** The ids of the turns, oldest first. */
  turns: string[];
  onShow: (shown: Shown) => void;
  onAttach: (artifact: ArtifactRef) => void;
}) {
  useKeys("Thread", [
    { key: "1", label: "Show details", run: () => onShow({ tab: "about" }) },
    { key: "2", label: "Show files", run: () => onShow({ tab: "files" }) },
    { key: "3", label: "Show prompt", run: () => onShow({ tab: "prompt" }) },
  ]);
  const turn = shown.turn ?? turns.at(-1);
  const before = turn && turns[turns.indexOf(turn) - 1];
  return (
    <Inspector title="About this thread">
      <Tabs
        label="About this thread"
        tabs={[
          { id: "about", title: "About" },
          { id: "files", title: "Files" },
          { id: "prompt", title: "Prompt" },
        ]}
        selected={shown.tab}
        onSelect={(tab) => onShow({ tab })}
      >
        {shown.tab === "about" && <About workspace={workspace} thread={thread} />}
        {shown.tab === "files" && (
          <ArtifactPanel
            workspace={workspace}
            thread={thread.id}
            selected={shown.artifact}
            onSelect={(artifact) => onShow({ tab: "files", artifact })}
            onAttach={onAttach}
          />
        )}
        {shown.tab === "prompt" &&
          (turn ? (
            <PromptManifestPart key={turn} workspace={workspace} thread={thread.id} turn={turn} before={before} />
          ) : (
            <InspectorPart title="Prompt">
              <p className="muted">The prompt sent to the model appears here after the first message.</p>
            </InspectorPart>
          ))}
      </Tabs>
    </Inspector>
  );
}

function About({ workspace, thread }: { workspace: string; thread: Thread }) {
  const { data } = useCall("thread/agents_doc/resolve_for_thread", { workspace_id: workspace, thread_id: thread.id });
  const effective = data?.effective;
  return (
    <>
      <InspectorPart title="AGENTS.md">
        {effective ? (
          <p>
            <Link to={address.agentsDoc(workspace, effective.source_folder_id)}>{sourceName(effective)}</Link>, version{" "}
            {effective.doc.version}, <Time at={effective.doc.updated_at} />
          </p>
        ) : (
          <p className="muted">
            None. <Link to={address.agentsDoc(workspace)}>Create one at the root</Link> to apply it to every thread.
          </p>
        )}
      </InspectorPart>
      <InspectorPart title="Thread">
        <dl className="facts">
          <dt>Model</dt>
          <dd>
            {thread.model_provider} / {thread.model}
          </dd>
          <dt>Mode</dt>
          <dd>{thread.mode}</dd>
          <dt>Created</dt>
          <dd>
            <Time at={thread.created_at} />
          </dd>
          <dt>Id</dt>
          <dd className="mono">{thread.id}</dd>
        </dl>
      </InspectorPart>
    </>
  );
}
