// The files of the next message of a thread. Uploads start immediately and can be paused and resumed, also after a
// reload of the page.

import { upload, type ArtifactRef, type Upload, type UploadProgress, type UploadState } from "@accord/client";
import { attempt, call, callOptions, queries, sentence } from "../../data/calls.ts";
import { client } from "../../data/client.ts";
import { keepDraft, readDraft } from "../../data/drafts.ts";
import { forgetFile, keepFile, readFile } from "../../data/files.ts";
import { newId } from "../../data/id.ts";
import { bytes } from "../../parts/size.ts";

export interface Attachment {
  id: string;
  name: string;
  size: number;
  progress: UploadProgress;
  isPaused: boolean;
  error: string | undefined;
  /** Whether the file can never be uploaded, for example because it is too large. */
  isRefused: boolean;
  artifact: ArtifactRef | undefined;
}

/** The state of an attachment that survives a reload. */
interface Kept {
  id: string;
  name: string;
  size: number;
  source: "drag_drop" | "paste" | "user_composer";
  isPaused: boolean;
  state?: UploadState | undefined;
  artifact?: ArtifactRef | undefined;
  isOwn?: boolean;
}

interface Held extends Attachment {
  /** Whether it was uploaded for this message rather than selected from the workspace. */
  isOwn: boolean;
  source: Kept["source"];
  upload: Upload | undefined;
}

/** The attachments of opened threads; uploads continue when another thread is opened. */
const threads = new Map<string, Attachments>();

export function attachmentsOf(workspace: string, thread: string): Attachments {
  const known = threads.get(thread);
  if (known) return known;
  const made = new Attachments(workspace, thread);
  threads.set(thread, made);
  return made;
}

/** Returns the maximum file size in bytes, or infinity if it is unknown; the gateway then rejects larger uploads itself. */
async function largestFile(workspace_id: string): Promise<number> {
  try {
    const { upload } = await queries.fetchQuery(callOptions("artifact/capabilities", { workspace_id }));
    return upload.max_file_size_bytes;
  } catch {
    return Infinity;
  }
}

export class Attachments {
  /** The id of the turn that will contain the files; changes after sending. */
  turnId = newId("trn");
  list: Attachment[] = [];
  readonly #workspace: string;
  readonly #thread: string;
  readonly #listeners = new Set<() => void>();
  #held: Held[] = [];

  constructor(workspace: string, thread: string) {
    this.#workspace = workspace;
    this.#thread = thread;
    void this.#recall();
  }

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  snapshot = () => this.list;

  /** Uploads a file for the next message. */
  async add(file: File, source: Kept["source"]): Promise<void> {
    const id = crypto.getRandomValues(new Uint32Array(3)).join("-");
    const kept: Kept = { id, name: file.name || "pasted", size: file.size, source, isPaused: false };
    const limit = await largestFile(this.#workspace);
    if (file.size > limit) {
      this.#refuse(kept, `This file is ${bytes(file.size)}. The maximum is ${bytes(limit)}.`);
      return;
    }
    await keepFile(id, file);
    this.#begin(kept, file);
  }

  /** Shows a file that cannot be uploaded, with the reason. */
  #refuse(kept: Kept, error: string): void {
    this.#held.push({
      ...kept,
      progress: { phase: "failed", done: 0, total: kept.size },
      error,
      isRefused: true,
      artifact: undefined,
      isOwn: false,
      upload: undefined,
    });
    this.#changed();
  }

  /** Attaches an existing file of the workspace. */
  attach(artifact: ArtifactRef): void {
    if (this.#held.some((one) => one.artifact?.artifact_id === artifact.artifact_id)) return;
    const size = artifact.size_bytes ?? 0;
    this.#held.push({
      id: artifact.artifact_id,
      name: artifact.display_name,
      size,
      source: "user_composer",
      isPaused: false,
      progress: { phase: "done", done: size, total: size },
      error: undefined,
      isRefused: false,
      artifact,
      isOwn: false,
      upload: undefined,
    });
    this.#changed();
  }

  setPaused(id: string, isPaused: boolean): void {
    const held = this.#held.find((one) => one.id === id);
    if (!held?.upload) return;
    held.isPaused = isPaused;
    if (isPaused) held.upload.pause();
    else held.upload.resume();
    this.#changed();
  }

  remove(id: string): void {
    const held = this.#held.find((one) => one.id === id);
    this.#held = this.#held.filter((one) => one !== held);
    void forgetFile(id);
    if (held?.upload && !held.artifact) void held.upload.abort().catch(() => {});
    // A file that was uploaded only for this message is deleted; one of the workspace stays.
    if (held?.artifact && held.isOwn) {
      const { artifact_id } = held.artifact;
      void attempt("Deleting the removed file", () =>
        call("artifact/delete", { workspace_id: this.#workspace, artifact_id }, { retry: true }),
      );
    }
    this.#changed();
  }

  /** Restarts a failed upload. */
  async retry(id: string): Promise<void> {
    const held = this.#held.find((one) => one.id === id);
    const file = await readFile(id);
    if (!held || !file) return;
    this.#held = this.#held.filter((one) => one !== held);
    this.#begin({ id, name: held.name, size: held.size, source: held.source, isPaused: false }, file);
  }

  /** Resets the list after the message was sent. */
  clear(): void {
    for (const { id } of this.#held) void forgetFile(id);
    this.#held = [];
    this.turnId = newId("trn");
    this.#changed();
  }

  #begin(kept: Kept, file: Blob): void {
    const task = upload(client, {
      file,
      file_name: kept.name,
      workspace_id: this.#workspace,
      thread_id: this.#thread,
      planned_turn_id: this.turnId,
      source_kind: kept.source,
      ...(kept.state ? { state: kept.state } : {}),
    });
    const held: Held = {
      ...kept,
      progress: task.progress,
      error: undefined,
      isRefused: false,
      artifact: undefined,
      isOwn: true,
      upload: task,
    };
    if (kept.isPaused) task.pause();
    this.#held.push(held);
    task.onProgress((progress) => {
      // The file is done once its artifact is known, see below; the message cannot be sent before.
      if (progress.phase === "done") return;
      held.progress = progress;
      this.#changed();
    });
    task.done.then(
      (artifact) => {
        held.artifact = artifact;
        held.progress = task.progress;
        void forgetFile(held.id);
        // The user removed the file while its last bytes were being uploaded.
        if (!this.#held.includes(held)) {
          void call("artifact/delete", { workspace_id: this.#workspace, artifact_id: artifact.artifact_id }).catch(
            () => {},
          );
        }
        this.#changed();
      },
      (error: unknown) => {
        held.error = sentence(error);
        this.#changed();
      },
    );
    this.#changed();
  }

  get #draftName(): string {
    return `attachments.${this.#thread}`;
  }

  /** Resumes the uploads that a reload of the page interrupted. */
  async #recall(): Promise<void> {
    const text = readDraft(this.#draftName);
    if (!text) return;
    const { turnId, files } = JSON.parse(text) as { turnId: string; files: Kept[] };
    this.turnId = turnId;
    for (const kept of files) {
      if (kept.artifact) {
        this.attach(kept.artifact);
        const held = this.#held.find((one) => one.artifact?.artifact_id === kept.artifact?.artifact_id);
        if (held) held.isOwn = kept.isOwn ?? false;
      } else {
        const file = await readFile(kept.id);
        if (file) this.#begin(kept, file);
      }
    }
  }

  #changed(): void {
    const kept = this.#held
      .filter(({ isRefused }) => !isRefused)
      .map(({ id, name, size, source, isPaused, upload: task, artifact, isOwn }): Kept => {
        return { id, name, size, source, isPaused, state: task?.state, artifact, isOwn };
      });
    keepDraft(this.#draftName, kept.length > 0 ? JSON.stringify({ turnId: this.turnId, files: kept }) : "");
    this.list = this.#held.map(({ upload: _, source: __, isOwn: ___, ...shown }) => shown);
    this.#listeners.forEach((listener) => listener());
  }
}
