import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { contentRequest, download, downloadBlob, sha256, upload } from "../dist/index.js";
import { Gateway, Wire, newId, someBytes, until } from "./gateway.mjs";

const MB = 1 << 20;
const gateway = new Gateway();
const wire = new Wire();
const workspace_id = newId("ws");
let client;
before(async () => {
  await gateway.start();
  await wire.lay(gateway.url);
  client = gateway.connect();
  await client.call("workspace/create", { workspace_id });
});
after(async () => {
  await gateway.stop();
  wire.stop();
});

const file = (length, seed, name = "data.bin") => new File([someBytes(length, seed)], name);
const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());
const hashOf = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Resolves with the first progress of at least `done` bytes. */
const reaches = (sending, done) =>
  until((listener) => sending.onProgress(listener), (progress) => progress.phase === "sending" && progress.done >= done);
const enters = (sending, phase) =>
  until((listener) => sending.onProgress(listener), (progress) => progress.phase === phase);

describe("uploads", () => {
  test("a file arrives with its name, its size and its hash", async () => {
    const source = file(3 * MB + 17, 1);
    const sending = upload(client, { workspace_id, file: source });
    const phases = [];
    sending.onProgress(({ phase }) => phases.at(-1) === phase || phases.push(phase));
    const artifact = await sending.done;
    assert.equal(artifact.display_name, "data.bin");
    assert.equal(artifact.size_bytes, source.size);
    assert.equal(artifact.sha256, hashOf(await bytesOf(source)));
    assert.deepEqual(phases, ["hashing", "sending", "finishing", "done"]);
    assert.deepEqual(sending.progress, { phase: "done", done: source.size, total: source.size });
  });

  test("five megabytes arrive although the gateway is killed during the upload", async () => {
    const source = file(5 * MB, 2);
    const sending = upload(client, { workspace_id, file: source });
    await reaches(sending, MB);
    // Some chunks are stored, some in flight, some not sent: the gateway reports the offset to continue at.
    sending.pause();
    const waiting = enters(sending, "waiting");
    await gateway.kill();
    sending.resume();
    await waiting;
    const offsets = [];
    client.on("artifact/upload/chunk_ack", ({ offset }) => offsets.push(offset));
    await gateway.start();
    const artifact = await sending.done;
    assert.equal(artifact.sha256, hashOf(await bytesOf(source)));
    assert.ok(offsets[0] >= MB, `the upload continued at ${offsets[0]}`);
  });

  test("a paused upload sends nothing", async () => {
    const source = file(4 * MB, 3);
    const sending = upload(client, { workspace_id, file: source });
    await reaches(sending, 1);
    const paused = enters(sending, "paused");
    sending.pause();
    const { done } = await paused;
    assert.ok(done < source.size);
    const { upload_id } = sending.state;
    const status = await client.call("artifact/upload/status", { workspace_id, upload_id });
    assert.equal(status.next_offset, done);
    sending.resume();
    assert.equal((await sending.done).sha256, hashOf(await bytesOf(source)));
  });

  test("another client continues with the stored state, as after a page reload", async () => {
    const source = file(3 * MB, 4);
    const tab = gateway.connect();
    const before = upload(tab, { workspace_id, file: source });
    await reaches(before, MB);
    const state = JSON.parse(JSON.stringify(before.state));
    tab.close();
    await assert.rejects(before.done, { name: "ClosedError" });

    const offsets = [];
    const reloaded = gateway.connect();
    reloaded.on("artifact/upload/chunk_ack", ({ offset }) => offsets.push(offset));
    const again = upload(reloaded, { workspace_id, file: source, state });
    const artifact = await again.done;
    assert.equal(artifact.sha256, state.sha256);
    assert.equal(again.state.upload_id, state.upload_id);
    assert.ok(offsets[0] >= MB, `the upload continued at ${offsets[0]}`);
    // When the upload is complete, the same state returns the same artifact.
    const known = await upload(reloaded, { workspace_id, file: source, state }).done;
    assert.equal(known.artifact_id, artifact.artifact_id);
    // A different file is rejected.
    const other = upload(reloaded, { workspace_id, file: file(3 * MB, 5), state });
    await assert.rejects(other.done, { kind: "file_changed" });
  });

  test("a chunk damaged in transit is sent again", async () => {
    let damaged = 0;
    class Bad extends WebSocket {
      send(data) {
        if (typeof data !== "string" && damaged < 2) {
          data[data.length - 1] ^= 1;
          damaged += 1;
        }
        super.send(data);
      }
    }
    const unlucky = gateway.connect({ WebSocket: Bad });
    const rejections = [];
    unlucky.on("artifact/upload/chunk_rejected", ({ kind }) => rejections.push(kind));
    const source = file(2 * MB, 6);
    const artifact = await upload(unlucky, { workspace_id, file: source }).done;
    assert.equal(artifact.sha256, hashOf(await bytesOf(source)));
    assert.equal(rejections[0], "hash_mismatch");
  });

  test("the gateway forgets an aborted upload", async () => {
    const sending = upload(client, { workspace_id, file: file(4 * MB, 7) });
    await reaches(sending, 1);
    const failed = assert.rejects(sending.done, { kind: "aborted" });
    await sending.abort();
    await failed;
    const { upload_id } = sending.state;
    await assert.rejects(client.call("artifact/upload/status", { workspace_id, upload_id }), { kind: "unknown_upload" });
  });

  test("empty files and bytes that are already stored need no chunk", async () => {
    const frames = [];
    client.on("artifact/upload/chunk_ack", (ack) => frames.push(ack));
    const empty = await upload(client, { workspace_id, file: file(0, 1, "empty") }).done;
    assert.equal(empty.size_bytes, 0);
    const again = await upload(client, { workspace_id, file: file(3 * MB + 17, 1) }).done;
    assert.equal(again.size_bytes, 3 * MB + 17);
    assert.deepEqual(frames, []);
  });

  test("an upload that the gateway rejects fails", async () => {
    const sending = upload(client, { workspace_id: "ws_none", file: file(10, 1) });
    await assert.rejects(sending.done, { kind: "unknown_workspace" });
    assert.equal(sending.progress.phase, "failed");
  });
});

describe("downloads", () => {
  let artifact_id;
  const bytes = someBytes(3 * MB + 5, 8);
  before(async () => {
    const options = { workspace_id, file: new File([bytes], "pixels.bin") };
    artifact_id = (await upload(client, options).done).artifact_id;
  });

  test("the bytes are downloaded and verified", async () => {
    const seen = [];
    const options = { workspace_id, artifact_id, onProgress: ({ done }) => seen.push(done) };
    const blob = await downloadBlob(client, options);
    assert.equal(sha256(await bytesOf(blob)), hashOf(bytes));
    assert.equal(seen.at(-1), bytes.length);
    assert.ok(seen.length > 4);
  });

  test("a download continues after a lost connection", async () => {
    const far = gateway.connect({ url: wire.url });
    const hash = createHash("sha256");
    let chunks = 0;
    for await (const chunk of download(far, { workspace_id, artifact_id })) {
      hash.update(chunk);
      chunks += 1;
      if (chunks !== 2) continue;
      wire.cut();
      wire.mend();
    }
    assert.equal(hash.digest("hex"), hashOf(bytes));
  });

  test("a damaged chunk is detected", async () => {
    class Bad extends WebSocket {
      set onmessage(listener) {
        super.onmessage = (event) => {
          if (typeof event.data !== "string") new Uint8Array(event.data)[event.data.byteLength - 1] ^= 1;
          listener?.(event);
        };
      }
    }
    const unlucky = gateway.connect({ WebSocket: Bad });
    await assert.rejects(downloadBlob(unlucky, { workspace_id, artifact_id }), { kind: "hash_mismatch" });
  });

  test("leaving the iteration early frees the download for others", async () => {
    for (let round = 0; round < 4; round += 1) {
      for await (const chunk of download(client, { workspace_id, artifact_id })) {
        assert.ok(chunk.length > 0);
        break;
      }
    }
  });

  test("the bytes are also available over HTTP", async () => {
    const { url, headers } = contentRequest(client, { workspace_id, artifact_id });
    const answer = await fetch(url, { headers });
    assert.equal(answer.status, 200);
    assert.equal(hashOf(new Uint8Array(await answer.arrayBuffer())), hashOf(bytes));
  });
});
