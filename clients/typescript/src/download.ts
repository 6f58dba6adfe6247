// Downloads: chunks in binary frames, each with its hash, and the whole with another.

import type { Client } from "./client.js";
import { ConnectionLostError, TransferError } from "./errors.js";
import { decodeDownload } from "./frame.js";
import type { ArtifactDownloadStartParams, ArtifactDownloadStartResponse } from "./generated.js";
import { Sha256, sha256 } from "./sha256.js";

/** Chunks that are asked for ahead of the one that is waited for. */
const AHEAD = 3;

export interface DownloadOptions extends ArtifactDownloadStartParams {
  signal?: AbortSignal;
  onProgress?: (progress: { done: number; total: number }) => void;
}

type Chunk = Uint8Array<ArrayBuffer>;

/**
 * The bytes of an artifact, chunk by chunk, each of them checked; fails at the end if the whole has another hash.
 *
 * Goes on after a lost connection. Whoever stops early ends the download.
 */
export async function* download(client: Client, options: DownloadOptions): AsyncGenerator<Chunk, void, undefined> {
  const { signal, onProgress, ...target } = options;
  const hash = new Sha256();
  let done = 0;
  for (;;) {
    const started = await client.call("artifact/download/start", target, signal ? { signal } : {});
    // The same bytes after a lost connection, whatever became of the artifact.
    target.version_id = started.artifact.version_id ?? null;
    const session = new Session(client, options.workspace_id, started, signal);
    try {
      while (done < started.size_bytes) {
        const bytes = await session.next(done);
        hash.update(bytes);
        done += bytes.length;
        onProgress?.({ done, total: started.size_bytes });
        yield bytes;
      }
      await session.end("finish");
      if (hash.hex() !== started.sha256) {
        throw new TransferError("hash_mismatch", "the bytes do not have the hash of the artifact");
      }
      return;
    } catch (error) {
      // The gateway forgets a download with its connection; another one goes on where this one stopped.
      if (!(error instanceof ConnectionLostError)) throw error;
    } finally {
      await session.end("abort");
    }
  }
}

/** The bytes of an artifact as a `Blob` with its type. */
export async function downloadBlob(client: Client, options: DownloadOptions): Promise<Blob> {
  const { workspace_id, artifact_id, version_id, signal } = options;
  const named = { workspace_id, artifact_id, ...(version_id ? { version_id } : {}) };
  const { artifact } = await client.call("artifact/get", named, signal ? { signal } : {});
  const chunks: Chunk[] = [];
  for await (const chunk of download(client, options)) chunks.push(chunk);
  return new Blob(chunks, { type: artifact.artifact.mime_type ?? "application/octet-stream" });
}

/** Where the bytes of an artifact are over HTTP, and the header that goes with a request for them. */
export function contentRequest(
  client: Client,
  artifact: { workspace_id: string; artifact_id: string; version_id?: string | null },
): { url: string; headers: Record<string, string> } {
  const { workspace_id, artifact_id, version_id } = artifact;
  const path = [workspace_id, artifact_id, version_id ?? "current"].map(encodeURIComponent).join("/");
  return { url: new URL(`artifacts/${path}/content`, client.httpUrl).href, headers: { ...client.headers } };
}

/** One download of one connection. */
class Session {
  readonly #client: Client;
  readonly #params: { workspace_id: string; download_id: string };
  readonly #size: number;
  readonly #chunkSize: number;
  readonly #options: { retry: false; signal?: AbortSignal };
  /** The chunks asked for, by where they begin. */
  readonly #asked = new Map<number, Promise<Chunk>>();
  /** The chunks that came and whose answer did not yet, by where they begin. */
  readonly #came = new Map<number, Chunk>();
  readonly #offFrame: () => void;
  #isOver = false;

  constructor(client: Client, workspace_id: string, started: ArtifactDownloadStartResponse, signal?: AbortSignal) {
    this.#client = client;
    this.#params = { workspace_id, download_id: started.download_id };
    this.#size = started.size_bytes;
    this.#chunkSize = started.recommended_chunk_size_bytes;
    this.#options = { retry: false, ...(signal ? { signal } : {}) };
    this.#offFrame = client.onFrame((data) => {
      const frame = decodeDownload(data);
      if (frame?.header.download_id !== started.download_id) return;
      // A broken chunk is not kept, so its answer finds none.
      const { offset, len, chunk_sha256 } = frame.header;
      const isWhole = frame.bytes.length === len && sha256(frame.bytes) === chunk_sha256;
      if (isWhole) this.#came.set(offset, frame.bytes);
    });
  }

  /** The chunk at `offset`; those behind it are asked for already. */
  async next(offset: number): Promise<Chunk> {
    for (let ahead = 0; ahead <= AHEAD; ahead += 1) {
      const at = offset + ahead * this.#chunkSize;
      if (at < this.#size && !this.#asked.has(at)) {
        const asked = this.#ask(at);
        asked.catch(() => {});
        this.#asked.set(at, asked);
      }
    }
    const chunk = await this.#asked.get(offset);
    this.#asked.delete(offset);
    if (!chunk) throw new TransferError("no_chunk", `no chunk was asked for at ${offset}`);
    return chunk;
  }

  async #ask(offset: number): Promise<Chunk> {
    const len = Math.min(this.#chunkSize, this.#size - offset);
    await this.#client.call("artifact/download/chunk", { ...this.#params, offset, len }, this.#options);
    // The frame comes before the answer.
    const chunk = this.#came.get(offset);
    this.#came.delete(offset);
    if (!chunk) throw new TransferError("hash_mismatch", `the chunk at ${offset} does not have the hash of its header`);
    return chunk;
  }

  /** Tells the gateway; without a connection there is no download either. */
  async end(how: "finish" | "abort"): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#offFrame();
    if (this.#client.state !== "open") return;
    const method = how === "finish" ? "artifact/download/finish" : "artifact/download/abort";
    await this.#client.call(method, this.#params, { retry: false }).catch(() => {});
  }
}
