// Differences and merges of texts.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { moduleServer } from "./modules.mjs";

let server;
let lines;
before(async () => {
  server = await moduleServer();
  lines = await server.ssrLoadModule("/src/parts/lines.ts");
});
after(() => server?.close());

const short = (before, after) =>
  lines.diffLines(before, after).map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-" }[kind]}${text}`);

test("a changed line is removed and added", () => {
  assert.deepEqual(short("a\nb\nc", "a\nx\nc"), [" a", "-b", "+x", " c"]);
});

test("lines are numbered in both texts", () => {
  assert.deepEqual(lines.diffLines("a\nc", "a\nb\nc").at(-1), { kind: "same", text: "c", before: 2, after: 3 });
});

test("from nothing everything is added, to nothing everything is removed", () => {
  assert.deepEqual(short("", "a\nb"), ["+a", "+b"]);
  assert.deepEqual(short("a\nb", ""), ["-a", "-b"]);
  assert.deepEqual(short("", ""), []);
});

test("a difference leads from one text to the other, whatever they are", () => {
  let seed = 7;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 300; round += 1) {
    const text = () => Array.from({ length: random(12) }, () => "abcd"[random(4)]).join("\n");
    const [a, b] = [text(), text()];
    const diff = lines.diffLines(a, b);
    const side = (not) => diff.filter(({ kind }) => kind !== not).map(({ text }) => text);
    assert.equal(side("added").join("\n"), a);
    assert.equal(side("removed").join("\n"), b);
  }
});

test("changes of different lines merge", () => {
  const parts = lines.merge("1\n2\n3\n4\n5", "one\n2\n3\n4\n5", "1\n2\n3\n4\nfive");
  assert.equal(lines.mergedText(parts), "one\n2\n3\n4\nfive");
  assert.ok(parts.every(({ kind }) => kind === "settled"));
});

test("the same change on both sides is one change", () => {
  assert.equal(lines.mergedText(lines.merge("a\nb", "a\nx", "a\nx")), "a\nx");
});

test("different changes of one line clash and both are kept", () => {
  const parts = lines.merge("a\nb\nc", "a\nmine\nc", "a\ntheirs\nc");
  assert.equal(lines.mergedText(parts), "a\n<<<<<<< mine\nmine\n=======\ntheirs\n>>>>>>> theirs\nc");
});
