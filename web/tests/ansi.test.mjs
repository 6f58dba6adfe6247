// Parsing of terminal output and patches.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { moduleServer } from "./modules.mjs";

let server;
let ansi;
let patch;
before(async () => {
  server = await moduleServer();
  ansi = await server.ssrLoadModule("/src/parts/ansi.ts");
  patch = await server.ssrLoadModule("/src/parts/patch.ts");
});
after(() => server?.close());

const E = "\u001b";
const shown = (text) =>
  ansi.ansiLines(text).map((line) => line.map((span) => [span.text, ansi.ansiClasses(span.style)]));

test("colours and styles last until they are changed, across lines", () => {
  assert.deepEqual(shown(`a ${E}[1;31mb\nc${E}[0m d`), [
    [
      ["a ", ""],
      ["b", "ansi-bold ansi-red"],
    ],
    [
      ["c", "ansi-bold ansi-red"],
      [" d", ""],
    ],
  ]);
  assert.deepEqual(shown(`${E}[4;32;44mx${E}[24;39;49my`), [
    [
      ["x", "ansi-underline ansi-green ansi-on-blue"],
      ["y", ""],
    ],
  ]);
  assert.deepEqual(shown(`${E}[91mx${E}[my`), [
    [
      ["x", "ansi-red"],
      ["y", ""],
    ],
  ]);
});

test("colours of large palettes become the nearest of ours", () => {
  assert.deepEqual(shown(`${E}[38;5;196mx`), [[["x", "ansi-red"]]]);
  assert.deepEqual(shown(`${E}[38;2;20;200;30mx`), [[["x", "ansi-green"]]]);
  assert.deepEqual(shown(`${E}[48;5;4;1mx`), [[["x", "ansi-bold ansi-on-blue"]]]);
});

test("other control sequences are dropped, and a carriage return begins the line again", () => {
  assert.equal(ansi.plainText(`${E}[2J${E}[Hhello${E}]0;title\u0007 there${E}(B\u0007`), "hello there");
  assert.equal(ansi.plainText("10 %\r50 %\r100 %\r\ndone\r\n"), "100 %\ndone\n");
  assert.equal(ansi.plainText("a\tb"), "a\tb");
});

test("markup in output stays text", () => {
  assert.deepEqual(shown("<img src=x onerror=alert(1)>"), [[["<img src=x onerror=alert(1)>", ""]]]);
});

test("a piece may end within a control sequence", () => {
  const reader = new ansi.AnsiReader();
  for (const letter of `a${E}[31mb${E}[0mc`) reader.write(letter);
  assert.deepEqual(reader.lines, [
    [
      { text: "a", style: {} },
      { text: "b", style: { colour: "red" } },
      { text: "c", style: {} },
    ],
  ]);
});

test("a patch is read file by file, with the numbers of its lines", () => {
  const text = [
    "diff --git a/one.rs b/one.rs",
    "index 1..2 100644",
    "--- a/one.rs",
    "+++ b/one.rs",
    "@@ -3,2 +3,3 @@ fn main() {",
    " same",
    "--- an old line that looks like a head",
    "+new",
    "+newer",
    "diff --git a/two.txt b/two.txt",
    "new file mode 100644",
    "--- /dev/null",
    "+++ b/two.txt",
    "@@ -0,0 +1 @@",
    "+only",
    "\\ No newline at end of file",
    "",
  ].join("\n");
  assert.deepEqual(patch.readPatch(text), [
    {
      name: "one.rs",
      change: "changed",
      isBinary: false,
      hunks: [
        {
          heading: "fn main() {",
          lines: [
            { kind: "same", text: "same", before: 3, after: 3 },
            { kind: "removed", text: "-- an old line that looks like a head", before: 4 },
            { kind: "added", text: "new", after: 4 },
            { kind: "added", text: "newer", after: 5 },
          ],
        },
      ],
    },
    {
      name: "two.txt",
      change: "added",
      isBinary: false,
      hunks: [{ heading: "", lines: [{ kind: "added", text: "only", after: 1 }] }],
    },
  ]);
});
