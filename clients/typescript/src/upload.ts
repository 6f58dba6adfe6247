// Uploads that survive lost connections, restarts of the gateway and reloads of the page.
//
// The gateway keeps what it has acknowledged; whoever goes on asks it where, and sends the rest.

import type { Client } from "./client.js";
import { ConnectionLostError, RpcError, TransferError } from "./errors.js";
import { encodeUpload } from "./frame.js";
import type { ArtifactRef, ArtifactUploadChunkRejectedNotification, ArtifactUploadStartParams } from "./generated.js";
import { Listeners } from "./listeners.js";
import { sha256, sha256OfBlob } from "./sha256.js";

/** Chunks on the wire that are not acknowledged yet. */
const WINDOW = 4;
/** Refused chunks in a row after which an upload fails. */
const MAX_REJECTIONS = 8;
/** Why a chunk is refused that would be refused again. */
const HOPELESS = ["malformed_frame", "length_mismatch", "chunk_too_large", "empty_chunk", "exceeds_size"];

export interface UploadOptions extends Omit<
  ArtifactUploadStartParams,
  "client_attachment_id" | "file_name" | "mime_type" | "sha256" | "size_bytes" | "source_kind"
> {
  /** The bytes; a `File` from a page will do. */
  file: Blob;
  /** The name; that of the `File` unless given. */
  file_name?: string;
  /** The MIME type; that of the `Blob` unless given. */
  mime_type?: string;
  /** Where the bytes come from; `api` unless given. */
  source_kind?: ArtifactUploadStartParams["source_kind"];
  /** What `Upload.state` said before the page was reloaded. */
  state?: UploadState;
}

/** What one has to keep, as JSON, to go on after a reload. */
export interface UploadState {
  workspace_id: string;
  client_attachment_id: string;
  sha256: string;
  size_bytes: number;
  upload_id: string;
}

export interface UploadProgress {
  /** What happens. */
  phase: "hashing" | "sending" | "paused" | "waiting" | "finishing" | "done" | "failed";
  /** Bytes hashed or acknowledged. */
  done: number;
  total: number;
}

/** Starts an upload, or goes on with the one whose state is given. */
export function upload(client: Client, options: UploadOptions): Upload {
  return new Upload(client, options);
}

export class Upload {
  /** The artifact, once it is there. */
  readonly done: Promise<ArtifactRef>;
  readonly #client: Client;
  readonly #options: UploadOptions;
  readonly #listeners = new Listeners<UploadProgress>();
  readonly #abort = new AbortController();
  #state: UploadState | undefined;
  #progress: UploadProgress;
  #isPaused = false;
  #chunkSize = 256 << 10;
  /** The next byte to be sent. */
  #offset = 0;
  /** Bytes the gateway has. */
  #received = 0;
  #inFlight = 0;
  /** Whether the connection broke since the gateway was last asked where to go on. */
  #isInterrupted = false;
  #rejected: ArtifactUploadChunkRejectedNotification | undefined;
  #rejections = 0;
  /** Wakes whoever waits for an answer, the end of a pause or the end of it all. */
  #wake: () => void = () => {};

  constructor(client: Client, options: UploadOptions) {
    this.#client = client;
    this.#options = options;
    this.#progress = { phase: "hashing", done: 0, total: options.file.size };
    this.done = this.#run();
    // Whoever does not ask for the artifact is told of the failure by the progress.
    this.done.catch(() => {});
  }

  /** What to keep for after a reload; nothing before the gateway knows the upload. */
  get state(): UploadState | undefined {
    return this.#state;
  }

  /** How far it is. */
  get progress(): UploadProgress {
    return this.#progress;
  }

  /** Calls `listener` whenever it comes further. Answers how to stop that. */
  onProgress(listener: (progress: UploadProgress) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Sends nothing more until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#wake();
  }

  /** Goes on after `pause`. */
  resume(): void {
    this.#isPaused = false;
    this.#wake();
  }

  /** Gives it up; the gateway forgets the bytes. */
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
      // Forgotten already.
      if (!(error instanceof RpcError)) throw error;
    }
  }

  async #run(): Promise<ArtifactRef> {
    const offAck = this.#client.on("artifact/upload/chunk_ack", ({ upload_id, next_offset }) => {
      if (upload_id !== this.#state?.upload_id) return;
      this.#inFlight = Math.max(0, this.#inFlight - 1);
      this.#rejections = 0;
      this.#received = next_offset;
      this.#tell("sending", next_offset);
      this.#wake();
    });
    const offRejected = this.#client.on("artifact/upload/chunk_rejected", (rejected) => {
      if (rejected.upload_id !== this.#state?.upload_id) return;
      this.#inFlight = Math.max(0, this.#inFlight - 1);
      this.#rejected = rejected;
      this.#wake();
    });
    const offState = this.#client.onState((state) => {
      // Chunks under way are lost, whatever comes next.
      if (state !== "open") this.#isInterrupted = true;
      this.#wake();
    });
    try {
      const artifact = await this.#transfer();
      this.#tell("done", this.#options.file.size);
      return artifact;
    } catch (error) {
      this.#tell("failed", this.#received);
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
    const onProgress = (hashed: number) => this.#tell("hashing", hashed);
    const hash = await sha256OfBlob(file, { signal, onProgress });
    if (state && (state.sha256 !== hash || state.size_bytes !== file.size)) {
      throw new TransferError("file_changed", "the file is not the one whose upload was begun");
    }
    this.#state = state;
    for (;;) {
      try {
        const finished = await this.#locate(hash);
        if (finished) return finished;
        await this.#send();
        this.#tell("finishing", file.size);
        const { workspace_id, upload_id } = this.#state!;
        const { artifact } = await this.#client.call("artifact/upload/finish", { workspace_id, upload_id }, { signal });
        return artifact;
      } catch (error) {
        if (!(error instanceof ConnectionLostError || error instanceof Interrupted)) throw error;
        this.#tell("waiting", this.#received);
      }
    }
  }

  /** Finds out where to go on, beginning an upload if there is none. Answers the artifact if all is done. */
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
        // Expired, most likely: begin again.
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
      // The same attachment, size and hash answer the same upload.
      { signal, retry: true },
    );
    const { workspace_id } = target;
    this.#state = { workspace_id, client_attachment_id, sha256: hash, size_bytes: file.size, upload_id: started.upload_id };
    this.#chunkSize = started.recommended_chunk_size_bytes;
    this.#offset = this.#received = started.already_present ? file.size : (started.next_offset ?? 0);
    return undefined;
  }

  /** Sends what is missing, a few chunks ahead of the acknowledgements. */
  async #send(): Promise<void> {
    const { file } = this.#options;
    this.#tell("sending", this.#received);
    while (this.#received < file.size) {
      this.#abort.signal.throwIfAborted();
      if (this.#isInterrupted) throw new Interrupted();
      // Chunks behind a refused one are refused too; then the gateway is asked where to go on.
      if (this.#rejected && this.#inFlight === 0) throw this.#judge(this.#rejected);
      if (this.#isPaused || this.#rejected || this.#inFlight >= WINDOW || this.#offset >= file.size) {
        if (this.#isPaused && this.#inFlight === 0) this.#tell("paused", this.#received);
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

  /** What becomes of an upload with a refused chunk. */
  #judge(rejected: ArtifactUploadChunkRejectedNotification): Error {
    this.#rejections += 1;
    const isOver = HOPELESS.includes(rejected.kind) || this.#rejections > MAX_REJECTIONS;
    return isOver ? new TransferError(rejected.kind, rejected.message) : new Interrupted();
  }

  #tell(phase: UploadProgress["phase"], done: number): void {
    this.#progress = { phase, done, total: this.#options.file.size };
    this.#listeners.tell(this.#progress);
  }
}

/** The gateway has to be asked where to go on. */
class Interrupted extends Error {}

/** A name no other upload has. */
function newAttachmentId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `att_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
