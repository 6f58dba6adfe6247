// The composer of the next message. The text is kept as a draft until the gateway has accepted it.

import type { Thread, UserInput } from "@accord/client";
import { useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { call, sentence } from "../../data/calls.ts";
import { useDraft } from "../../data/drafts.ts";
import { useKeys } from "../../keys/keys.ts";
import { IconButton } from "../../parts/Button.tsx";
import { AttachmentChips } from "./AttachmentChips.tsx";
import type { Attachments } from "./attachments.ts";
import type { Conversation } from "./conversation.ts";
import { ModelChoice, type Model } from "./ModelChoice.tsx";

export function Composer({
  workspace,
  thread,
  conversation,
  attachments,
}: {
  workspace: string;
  thread: Thread;
  conversation: Conversation;
  attachments: Attachments;
}) {
  const [text, setText] = useDraft(`composer.${workspace}.${thread.id}`);
  const [error, setError] = useState<string>();
  const [isSending, setSending] = useState(false);
  const [model, setModel] = useState<Model>({ provider: thread.model_provider, id: thread.model });
  const input = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const list = useSyncExternalStore(attachments.subscribe, attachments.snapshot);
  const isRunning = conversation.running !== undefined;
  const isUploading = list.some(({ artifact, error }) => !artifact && !error);
  const hasFailed = list.some(({ error }) => error);
  const isReady = (text.trim() !== "" || list.length > 0) && !isUploading && !hasFailed && !isSending && !isRunning;
  useKeys("Thread", [{ key: "e", label: "Write a message", run: () => input.current?.focus() }]);
  useLayoutEffect(() => {
    const element = input.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 320)}px`;
  }, [text]);

  const send = async () => {
    if (!isReady) return;
    const parts: UserInput[] = [];
    if (text.trim() !== "") parts.push({ type: "text", text });
    for (const { artifact } of list) {
      if (artifact)
        parts.push({ type: "artifact", artifact_id: artifact.artifact_id, version_id: artifact.version_id ?? null });
    }
    setSending(true);
    setError(undefined);
    try {
      const params = {
        thread_id: thread.id,
        turn_id: attachments.turnId,
        input: parts,
        model_provider: model.provider,
      };
      // The turn id makes the request idempotent, so it can be retried.
      const { turn } = await call("turn/start", model.id ? { ...params, model: model.id } : params, { retry: true });
      conversation.sent(turn, parts);
      attachments.clear();
      setText("");
    } catch (failure) {
      setError(sentence(failure));
    } finally {
      setSending(false);
      input.current?.focus();
    }
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {error && (
        <p className="composer-error" role="alert">
          Not sent: {error}
        </p>
      )}
      <AttachmentChips list={list} attachments={attachments} />
      <textarea
        ref={input}
        className="composer-input"
        aria-label="Message"
        placeholder="Message"
        rows={1}
        autoFocus
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          void send();
        }}
        onPaste={(event) => {
          const files = [...event.clipboardData.files];
          if (files.length === 0) return;
          event.preventDefault();
          for (const file of files) void attachments.add(file, "paste");
        }}
      />
      <div className="composer-bar">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files"
          onChange={(event) => {
            for (const file of event.target.files ?? []) void attachments.add(file, "user_composer");
            event.target.value = "";
          }}
        />
        <IconButton label="Attach files" icon="clip" onClick={() => picker.current?.click()} />
        <ModelChoice model={model} onChange={setModel} />
        <span className="composer-hint">{hint(isRunning, isUploading, hasFailed)}</span>
        <IconButton className="send" label="Send" icon="send" type="submit" disabled={!isReady} />
      </div>
    </form>
  );
}

function hint(isRunning: boolean, isUploading: boolean, hasFailed: boolean): string {
  if (isRunning) return "Answering";
  if (hasFailed) return "Remove the file that failed to upload";
  return isUploading ? "Uploading files" : "Enter to send, Shift+Enter for a new line";
}
