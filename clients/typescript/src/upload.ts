// Uploads that survive lost connections, restarts of the gateway and reloads of the page.
//
// The gateway keeps the acknowledged bytes. To continue, the client asks for the next offset and sends the rest.

import type { Client } from "./client.js";
import { ConnectionLostError, RpcError, TransferError } from "./errors.js";
import { encodeUpload } from "./frame.js";
import type { ArtifactRef, ArtifactUploadChunkRejectedNotification, ArtifactUploadStartParams } from "./generated.js";
import { Listeners } from "./listeners.js";
import { sha256, sha256OfBlob } from "./sha256.js";

/** Maximum number of chunks that are sent but not acknowledged. */
const WINDOW = 4;
/** Consecutive rejected chunks after which an upload fails. */
const MAX_REJECTIONS = 8;
/** Reasons for rejecting a chunk that a retry cannot resolve. */
const PERMANENT = ["malformed_frame", "length_mismatch", "chunk_too_large", "empty_chunk", "exceeds_size"];

export interface UploadOptions extends Omit<
  ArtifactUploadStartParams,
  "client_attachment_id" | "file_name" | "mime_type" | "sha256" | "size_bytes" | "source_kind"
> {
  /** The bytes, for example a `File` that the user selected. */
  file: Blob;
  /** The file name. Default: the name of the `File`, or `file` for a plain `Blob`. */
  file_name?: string;
  /** The MIME type. Default: that of the `Blob`. */
  mime_type?: string;
  /** The origin of the bytes. Default `api`. */
  source_kind?: ArtifactUploadStartParams["source_kind"];
  /** The value of `Upload.state` from before a page reload; continues that upload. */
  state?: UploadState;
}

/** The state to store, as JSON, in order to continue an upload after a page reload. */
export interface UploadState {
  workspace_id: string;
  client_attachment_id: string;
  sha256: string;
  size_bytes: number;
  upload_id: string;
}

export interface UploadProgress {
  /** The current step; `waiting` means waiting to continue after an interruption. */
  phase: "hashing" | "sending" | "paused" | "waiting" | "finishing" | "done" | "failed";
  /** Bytes hashed (phase `hashing`) or acknowledged. */
  done: number;
  /** Size of the file in bytes. */
  total: number;
}

/** Starts an upload, or continues the one whose state is given. */
export function upload(client: Client, options: UploadOptions): Upload {
  return new Upload(client, options);
}

export class Upload {
  /** Resolves with the artifact when the upload is complete. */
  readonly done: Promise<ArtifactRef>;
  readonly #client: Client;
  readonly #options: UploadOptions;
  readonly #listeners = new Listeners<UploadProgress>();
  readonly #abort = new AbortController();
  #state: UploadState | undefined;
  #progress: UploadProgress;
  #isPaused = false;
  #chunkSize = 256 << 10;
  /** Offset of the next byte to send. */
  #offset = 0;
  /** Bytes that the gateway has acknowledged. */
  #received = 0;
  /** Chunks sent but not acknowledged. */
  #inFlight = 0;
  /** Whether the connection broke since the client last asked for the offset. */
  #isInterrupted = false;
  #rejected: ArtifactUploadChunkRejectedNotification | undefined;
  #rejections = 0;
  /** Wakes `#send` after an acknowledgement, a rejection, `pause`, `resume`, `abort` or a change of the connection. */
  #wake: () => void = () => {};

  constructor(client: Client, options: UploadOptions) {
    this.#client = client;
    this.#options = options;
    this.#progress = { phase: "hashing", done: 0, total: options.file.size };
    this.done = this.#run();
    // Callers that do not await `done` see the failure in the progress; it must not be an unhandled rejection.
    this.done.catch(() => {});
  }

  /** The state to store for continuing after a reload; absent until the gateway has accepted the upload. */
  get state(): UploadState | undefined {
    return this.#state;
  }

  /** The current progress. */
  get progress(): UploadProgress {
    return this.#progress;
  }

  /** Calls `listener` on every change of the progress. Returns a function that removes the listener. */
  onProgress(listener: (progress: UploadProgress) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Stops sending until `resume` is called. */
  pause(): void {
    this.#isPaused = true;
    this.#wake();
  }

  /** Continues after `pause`. */
  resume(): void {
    this.#isPaused = false;
    this.#wake();
  }

  /** Aborts the upload; the gateway deletes the received bytes. */
  async abort(): Promise<void> {
    this.#abort.abort(new TransferError("aborted", "the upload was aborted"));
    this.#wake();
    await this.done.catch(() => {});
    const state = this.#state;
    if (!state || this.#progress.phase === "done") return;
    const { workspace_id, upload_id } = state;
    try {
      await this.#client.call("artifact/upload/abort", { workspace_id, upload_id }, { retry: true });
    } catch (error) {
      // The gateway no longer has the upload.
      if (!(error instanceof RpcError)) throw error;
    }
  }

  async #run(): Promise<ArtifactRef> {
    const offAck = this.#client.on("artifact/upload/chunk_ack", ({ upload_id, next_offset }) => {
      if (upload_id !== this.#state?.upload_id) return;
      this.#inFlight = Math.max(0, this.#inFlight - 1);
      this.#rejections = 0;
      this.#received = next_offset;
      this.#report("sending", next_offset);
      this.#wake();
    });
    const offRejected = this.#client.on("artifact/upload/chunk_rejected", (rejected) => {
      if (rejected.upload_id !== this.#state?.upload_id) return;
      this.#inFlight = Math.max(0, this.#inFlight - 1);
      this.#rejected = rejected;
      this.#wake();
    });
    const offState = this.#client.onState((state) => {
      // Chunks in flight are lost, even if the connection comes back.
      if (state !== "open") this.#isInterrupted = true;
      this.#wake();
    });
    try {
      const artifact = await this.#transfer();
      this.#report("done", this.#options.file.size);
      return artifact;
    } catch (error) {
      this.#report("failed", this.#received);
      throw error;
    } finally {
      offAck();
      offRejected();
      offState();
    }
  }

  async #transfer(): Promise<ArtifactRef> {
    const { file, state } = this.#options;
    const { signal } = this.#abort;
    const onProgress = (hashed: number) => this.#report("hashing", hashed);
    const hash = await sha256OfBlob(file, { signal, onProgress });
    if (state && (state.sha256 !== hash || state.size_bytes !== file.size)) {
      throw new TransferError("file_changed", "the file differs from the one whose upload was started");
    }
    this.#state = state;
    for (;;) {
      try {
        const finished = await this.#locate(hash);
        if (finished) return finished;
        await this.#send();
        this.#report("finishing", file.size);
        const { workspace_id, upload_id } = this.#state!;
        const { artifact } = await this.#client.call("artifact/upload/finish", { workspace_id, upload_id }, { signal });
        return artifact;
      } catch (error) {
        if (!(error instanceof ConnectionLostError || error instanceof Interrupted)) throw error;
        this.#report("waiting", this.#received);
      }
    }
  }

  /** Determines the offset to continue at and starts an upload if there is none. Returns the artifact if complete. */
  async #locate(hash: string): Promise<ArtifactRef | undefined> {
    const { file, state, ...target } = this.#options;
    const { signal } = this.#abort;
    await this.#client.opened(signal);
    this.#isInterrupted = false;
    this.#inFlight = 0;
    this.#rejected = undefined;
    if (this.#state) {
      const { workspace_id, upload_id } = this.#state;
      try {
        const found = await this.#client.call("artifact/upload/status", { workspace_id, upload_id }, { signal });
        if (found.artifact) return found.artifact;
        this.#offset = this.#received = found.next_offset;
        return undefined;
      } catch (error) {
        // The upload has most likely expired: start a new one.
        if (!(error instanceof RpcError)) throw error;
      }
    }
    const client_attachment_id = this.#state?.client_attachment_id ?? newAttachmentId();
    const mime_type = target.mime_type ?? file.type;
    const started = await this.#client.call(
      "artifact/upload/start",
      {
        ...target,
        client_attachment_id,
        file_name: target.file_name ?? (file as Partial<File>).name ?? "file",
        ...(mime_type ? { mime_type } : {}),
        sha256: hash,
        size_bytes: file.size,
        source_kind: target.source_kind ?? "api",
      },
      // Safe to retry: the gateway returns the same upload for the same attachment, size and hash.
      { signal, retry: true },
    );
    const { workspace_id } = target;
    this.#state = { workspace_id, client_attachment_id, sha256: hash, size_bytes: file.size, upload_id: started.upload_id };
    this.#chunkSize = started.recommended_chunk_size_bytes;
    this.#offset = this.#received = started.already_present ? file.size : (started.next_offset ?? 0);
    return undefined;
  }

  /** Sends the missing bytes, up to `WINDOW` chunks ahead of the acknowledgements. */
  async #send(): Promise<void> {
    const { file } = this.#options;
    this.#report("sending", this.#received);
    while (this.#received < file.size) {
      this.#abort.signal.throwIfAborted();
      if (this.#isInterrupted) throw new Interrupted();
      // The gateway also rejects the chunks after a rejected one; once all are settled, the offset is determined anew.
      if (this.#rejected && this.#inFlight === 0) throw this.#rejectionError(this.#rejected);
      if (this.#isPaused || this.#rejected || this.#inFlight >= WINDOW || this.#offset >= file.size) {
        if (this.#isPaused && this.#inFlight === 0) this.#report("paused", this.#received);
        await new Promise<void>((resolve) => (this.#wake = resolve));
      } else {
        await this.#sendChunk();
      }
    }
  }

  async #sendChunk(): Promise<void> {
    const { workspace_id, upload_id } = this.#state!;
    const offset = this.#offset;
    const bytes = new Uint8Array(await this.#options.file.slice(offset, offset + this.#chunkSize).arrayBuffer());
    if (this.#isInterrupted) return;
    const header = { workspace_id, upload_id, offset, len: bytes.length, chunk_sha256: sha256(bytes) };
    this.#client.sendFrame(encodeUpload(header, bytes));
    this.#inFlight += 1;
    this.#offset = offset + bytes.length;
  }

  /** Returns the error for a rejected chunk: permanent, or an interruption after which the upload continues. */
  #rejectionError(rejected: ArtifactUploadChunkRejectedNotification): Error {
    this.#rejections += 1;
    const isPermanent = PERMANENT.includes(rejected.kind) || this.#rejections > MAX_REJECTIONS;
    return isPermanent ? new TransferError(rejected.kind, rejected.message) : new Interrupted();
  }

  #report(phase: UploadProgress["phase"], done: number): void {
    this.#progress = { phase, done, total: this.#options.file.size };
    this.#listeners.tell(this.#progress);
  }
}

/** The offset to continue at must be requested from the gateway. */
class Interrupted extends Error {}

/** Returns a random id for the attachment. */
function newAttachmentId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `att_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
