// A turn: the message, the answer and the status.

import type { TurnItem } from "@accord/client";
import { memo } from "react";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Markdown } from "../../parts/Markdown.tsx";
import { count } from "../../parts/size.ts";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { attempt, call } from "../../data/calls.ts";
import { ArtifactChip } from "../artifact/ArtifactChip.tsx";
import type { ShownTurn } from "./conversation.ts";

interface Props {
  workspace: string;
  thread: string;
  turn: ShownTurn;
  onPrompt: () => void;
  onArtifact: (artifact: string) => void;
}

export const TurnEntry = memo(
  function TurnEntry({ workspace, thread, turn, onPrompt, onArtifact }: Props) {
    const attached = turn.input.filter((one) => one.type === "artifact");
    const said = turn.input.filter((one) => one.type === "text").map(({ text }) => text);
    const answers = turn.items.filter(({ type }) => type !== "userMessage");
    return (
      <article className="turn" aria-label="Turn" data-turn={turn.id} data-status={turn.status}>
        <div className="said">
          {said.length > 0 && <p>{said.join("\n\n")}</p>}
          {attached.length > 0 && (
            <div className="chips">
              {attached.map(({ artifact_id }) => (
                <ArtifactChip
                  key={artifact_id}
                  workspace={workspace}
                  artifact={artifact_id}
                  onOpen={() => onArtifact(artifact_id)}
                />
              ))}
            </div>
          )}
        </div>
        {answers.map((item) => (
          <Item key={item.id} item={item} isStreaming={item.id === turn.streaming} />
        ))}
        {turn.status === "InProgress" && answers.length === 0 && (
          <p className="waiting">
            <Status meaning="running">Thinking…</Status>
          </p>
        )}
        <footer className="turn-foot">
          <TurnEnd turn={turn} />
          {turn.startedAt && <Time at={turn.startedAt / 1000} />}
          {turn.usage && (
            <span>
              {count(turn.usage.inputTokens)} tokens in, {count(turn.usage.outputTokens)} out
            </span>
          )}
          <IconButton label="Show prompt" icon="info" onClick={onPrompt} />
          {turn.status === "InProgress" && (
            <Button
              icon="stop"
              onClick={() =>
                void attempt("Stopping", () =>
                  call("turn/cancel", { thread_id: thread, turn_id: turn.id }, { retry: true }),
                )
              }
            >
              Stop
            </Button>
          )}
        </footer>
      </article>
    );
  },
  (a, b) =>
    a.turn.items === b.turn.items &&
    a.turn.status === b.turn.status &&
    a.turn.streaming === b.turn.streaming &&
    a.turn.input === b.turn.input &&
    a.turn.usage === b.turn.usage,
);

function TurnEnd({ turn }: { turn: ShownTurn }) {
  switch (turn.status) {
    case "InProgress":
      return <Status meaning="running">Answering</Status>;
    case "Completed":
      return null;
    case "Failed":
      return (
        <span className="turn-error">
          <Status meaning="failed">Failed</Status> {turn.error}
        </span>
      );
    case "Interrupted":
      return (
        <span className="turn-error">
          <Status meaning="idle">Stopped</Status> {turn.error}
        </span>
      );
  }
}

function Item({ item, isStreaming }: { item: TurnItem; isStreaming: boolean }) {
  switch (item.type) {
    case "userMessage":
      return null;
    case "agentMessage":
      return (
        <div className="answer" data-streaming={isStreaming || undefined}>
          <Markdown text={item.text} />
        </div>
      );
    case "reasoning":
      return (
        <details className="reasoning">
          <summary>{item.summary.join(" ") || "Reasoning"}</summary>
          <Markdown text={item.content.join("\n\n")} />
        </details>
      );
    case "systemEvent":
      return (
        <p className={`system-event ${item.level}`}>
          <Icon name={item.level === "info" ? "info" : "alert"} />
          {item.message}
        </p>
      );
  }
}
