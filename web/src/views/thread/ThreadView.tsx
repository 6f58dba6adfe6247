// A thread: its turns, the composer, and the inspector.

import "./thread.css";
import { useEffect, useRef, useState, useSyncExternalStore, type DragEvent } from "react";
import { address } from "../../address.ts";
import { InspectorToggle } from "../../app/Inspector.tsx";
import { Page } from "../../app/Page.tsx";
import type { ViewProps } from "../../app/section.ts";
import { setPreference } from "../../data/preference.ts";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { threadName } from "../tree/model.ts";
import { useTree } from "../tree/tree.ts";
import { attachmentsOf } from "./attachments.ts";
import { Composer } from "./Composer.tsx";
import { Conversation } from "./conversation.ts";
import { ThreadInspector, type Shown } from "./ThreadInspector.tsx";
import { TurnEntry } from "./TurnEntry.tsx";

export default function ThreadView({ workspace, params }: ViewProps) {
  const id = params["thread"] ?? "";
  const [conversation] = useState(() => new Conversation(workspace, id));
  useSyncExternalStore(conversation.subscribe, conversation.snapshot);
  useEffect(() => conversation.open(), [conversation]);
  const { places } = useTree(workspace);
  const [shown, setShown] = useState<Shown>({ tab: "about" });
  const attachments = attachmentsOf(workspace, id);
  const [isDropping, setDropping] = useState(false);
  const { state, turns } = conversation;
  const scroller = useStickToBottom(state.kind === "ready" && turns.length > 0);
  const inspect = (next: Shown) => {
    setShown(next);
    setPreference("inspector", "open");
  };

  if (state.kind === "loading") return <Loading />;
  if (state.kind === "failed") return <Failure error={state.error} onRetry={() => void conversation.load()} />;
  if (state.kind === "gone") {
    return (
      <Empty icon="thread" title="Thread not found">
        The thread was deleted. Select another one on the left.
      </Empty>
    );
  }
  const { thread } = state;
  const path = places?.pathOf(places.folderOf(id)) ?? [];
  const over = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    setDropping(true);
  };
  return (
    <Page
      title={threadName(thread)}
      crumbs={path.map((folder) => ({ label: folder.name, to: address.folder(workspace, folder.id) }))}
      back={address.tree(workspace)}
      state={conversation.running && <Status meaning="running">Answering</Status>}
      actions={<InspectorToggle />}
    >
      <div
        className="thread-view"
        data-dropping={isDropping || undefined}
        onDragOver={over}
        onDragLeave={(event) => !event.currentTarget.contains(event.relatedTarget as Node | null) && setDropping(false)}
        onDrop={(event) => {
          if (event.dataTransfer.files.length === 0) return;
          event.preventDefault();
          setDropping(false);
          for (const file of event.dataTransfer.files) void attachments.add(file, "drag_drop");
        }}
      >
        <div className="thread-scroll" ref={scroller} tabIndex={0} role="log" aria-label="Conversation" aria-live="off">
          {turns.length === 0 ? (
            <Empty icon="thread" title="Write a message to start">
              The answer appears here as it is written. Drop or paste files to attach them.
            </Empty>
          ) : (
            <div className="turns">
              {turns.map((turn) => (
                <TurnEntry
                  key={turn.id}
                  workspace={workspace}
                  thread={id}
                  turn={turn}
                  onPrompt={() => inspect({ tab: "prompt", turn: turn.id })}
                  onArtifact={(artifact) => inspect({ tab: "files", artifact })}
                />
              ))}
            </div>
          )}
        </div>
        <Composer workspace={workspace} thread={thread} conversation={conversation} attachments={attachments} />
      </div>
      <ThreadInspector
        workspace={workspace}
        thread={thread}
        shown={shown}
        turns={turns.map((turn) => turn.id)}
        onShow={setShown}
        onAttach={(artifact) => attachments.attach(artifact)}
      />
    </Page>
  );
}

/** Keeps the view scrolled to its end while it is at the end. */
function useStickToBottom(isReady: boolean) {
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    let isAtEnd = true;
    const stick = () => {
      if (isAtEnd) element.scrollTop = element.scrollHeight;
    };
    const note = () => {
      isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 60;
    };
    const sizes = new ResizeObserver(stick);
    sizes.observe(element);
    if (element.firstElementChild) sizes.observe(element.firstElementChild);
    element.addEventListener("scroll", note, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("scroll", note);
    };
  }, [isReady]);
  return scroller;
}
