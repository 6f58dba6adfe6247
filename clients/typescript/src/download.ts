// Downloads of artifacts in binary frames. The client verifies the hash of every chunk and of the whole file.

import type { Client } from "./client.js";
import { ConnectionLostError, TransferError } from "./errors.js";
import { decodeDownload } from "./frame.js";
import type { ArtifactDownloadStartParams, ArtifactDownloadStartResponse } from "./generated.js";
import { Sha256, sha256 } from "./sha256.js";

/** Chunks that are requested ahead of the awaited one. */
const AHEAD = 3;

export interface DownloadOptions extends ArtifactDownloadStartParams {
  signal?: AbortSignal;
  onProgress?: (progress: { done: number; total: number }) => void;
}

type Chunk = Uint8Array<ArrayBuffer>;

/**
 * Yields the bytes of an artifact in verified chunks; throws at the end if the hash of the whole file differs.
 *
 * Continues after a lost connection. Leaving the iteration early aborts the download.
 */
export async function* download(client: Client, options: DownloadOptions): AsyncGenerator<Chunk, void, undefined> {
  const { signal, onProgress, ...target } = options;
  const hash = new Sha256();
  let done = 0;
  for (;;) {
    const started = await client.call("artifact/download/start", target, signal ? { signal } : {});
    // Pins the version, so that a restart after a lost connection continues with the same bytes.
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
        throw new TransferError("hash_mismatch", "the hash of the downloaded bytes differs from that of the artifact");
      }
      return;
    } catch (error) {
      // The gateway drops a download with its connection; the next one continues at the same offset.
      if (!(error instanceof ConnectionLostError)) throw error;
    } finally {
      await session.end("abort");
    }
  }
}

/** Downloads an artifact into a `Blob` with its MIME type. */
export async function downloadBlob(client: Client, options: DownloadOptions): Promise<Blob> {
  const { workspace_id, artifact_id, version_id, signal } = options;
  const named = { workspace_id, artifact_id, ...(version_id ? { version_id } : {}) };
  const { artifact } = await client.call("artifact/get", named, signal ? { signal } : {});
  const chunks: Chunk[] = [];
  for await (const chunk of download(client, options)) chunks.push(chunk);
  return new Blob(chunks, { type: artifact.artifact.mime_type ?? "application/octet-stream" });
}

/** Returns the URL and the headers for fetching the bytes of an artifact over HTTP. */
export function contentRequest(
  client: Client,
  artifact: { workspace_id: string; artifact_id: string; version_id?: string | null },
): { url: string; headers: Record<string, string> } {
  const { workspace_id, artifact_id, version_id } = artifact;
  const path = [workspace_id, artifact_id, version_id ?? "current"].map(encodeURIComponent).join("/");
  return { url: new URL(`artifacts/${path}/content`, client.httpUrl).href, headers: { ...client.headers } };
}

/** One download on one connection. */
class Session {
  readonly #client: Client;
  readonly #params: { workspace_id: string; download_id: string };
  readonly #size: number;
  readonly #chunkSize: number;
  readonly #options: { retry: false; signal?: AbortSignal };
  /** Requested chunks by offset. */
  readonly #requested = new Map<number, Promise<Chunk>>();
  /** Verified chunks by offset whose response has not arrived yet. */
  readonly #received = new Map<number, Chunk>();
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
      // A damaged chunk is not stored, so `#request` fails when its response arrives.
      const { offset, len, chunk_sha256 } = frame.header;
      const isWhole = frame.bytes.length === len && sha256(frame.bytes) === chunk_sha256;
      if (isWhole) this.#received.set(offset, frame.bytes);
    });
  }

  /** Returns the chunk at `offset` and requests the following ones ahead. */
  async next(offset: number): Promise<Chunk> {
    for (let ahead = 0; ahead <= AHEAD; ahead += 1) {
      const at = offset + ahead * this.#chunkSize;
      if (at < this.#size && !this.#requested.has(at)) {
        const requested = this.#request(at);
        requested.catch(() => {});
        this.#requested.set(at, requested);
      }
    }
    const chunk = await this.#requested.get(offset);
    this.#requested.delete(offset);
    if (!chunk) throw new TransferError("no_chunk", `no chunk was requested at offset ${offset}`);
    return chunk;
  }

  async #request(offset: number): Promise<Chunk> {
    const len = Math.min(this.#chunkSize, this.#size - offset);
    await this.#client.call("artifact/download/chunk", { ...this.#params, offset, len }, this.#options);
    // The gateway sends the frame before the response.
    const chunk = this.#received.get(offset);
    this.#received.delete(offset);
    if (!chunk) throw new TransferError("hash_mismatch", `the chunk at offset ${offset} does not match its hash`);
    return chunk;
  }

  /** Ends the download on the gateway; a lost connection has already ended it. */
  async end(how: "finish" | "abort"): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#offFrame();
    if (this.#client.state !== "open") return;
    const method = how === "finish" ? "artifact/download/finish" : "artifact/download/abort";
    await this.#client.call(method, this.#params, { retry: false }).catch(() => {});
  }
}
