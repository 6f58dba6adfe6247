import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { Sha256, sha256, sha256OfBlob } from "../dist/index.js";
import { someBytes } from "./gateway.mjs";

const ascii = (text) => new TextEncoder().encode(text);
const expected = (bytes) => createHash("sha256").update(bytes).digest("hex");

test("the published test vectors match", () => {
  const vectors = {
    "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    abc: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq:
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu":
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
  };
  for (const [text, hash] of Object.entries(vectors)) assert.equal(sha256(ascii(text)), hash);
  const million = sha256(ascii("a".repeat(1_000_000)));
  assert.equal(million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
});

test("every length around the block boundaries is correct", () => {
  for (let length = 0; length < 200; length += 1) {
    const bytes = someBytes(length, length + 1);
    assert.equal(sha256(bytes), expected(bytes), `${length} bytes`);
  }
});

test("pieces of any size make the same hash", () => {
  const bytes = someBytes(10_000);
  for (const size of [1, 7, 63, 64, 65, 1000]) {
    const hash = new Sha256();
    for (let at = 0; at < bytes.length; at += size) hash.update(bytes.subarray(at, at + size));
    assert.equal(hash.hex(), expected(bytes), `pieces of ${size}`);
  }
});

test("a large blob is hashed in slices that yield to the event loop", async () => {
  const bytes = someBytes(3_500_000);
  let turns = 0;
  const timer = setInterval(() => (turns += 1));
  const seen = [];
  const hash = await sha256OfBlob(new Blob([bytes]), { onProgress: (hashed) => seen.push(hashed) });
  clearInterval(timer);
  assert.equal(hash, expected(bytes));
  assert.deepEqual(seen, [1048576, 2097152, 3145728, 3500000]);
  assert.ok(turns > 0);
});
