// Readable output of worker programs, and readable versions of fixed protocol messages.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { moduleServer } from "./modules.mjs";

let server;
let output;
let wording;
before(async () => {
  server = await moduleServer();
  output = await server.ssrLoadModule("/src/views/company/worker-output.ts");
  wording = await server.ssrLoadModule("/src/data/wording.ts");
});
after(() => server?.close());

const command = { id: "item_0", type: "command_execution", command: "ls", aggregated_output: "a\nb\n", exit_code: 0 };
const started = JSON.stringify({ type: "item.started", item: { ...command, aggregated_output: "", exit_code: null } });
const completed = JSON.stringify({ type: "item.completed", item: command });
const message = JSON.stringify({
  type: "item.completed",
  item: { type: "agent_message", text: "Two files.\nNo more." },
});

test("a command is shown once, with its output", () => {
  assert.equal(output.readable(`${started}\n${completed}\n${message}\n`), "$ ls\na\nb\nTwo files.\nNo more.\n");
  assert.equal(output.readable(completed), "$ ls\na\nb");
});

test("a line may come in pieces, and a line of another program stays as it is", () => {
  const reader = new output.WorkerReader();
  const text = `plain\n${message}\n{"type":"other"}\n{ no json\n`;
  const read = [...text].map((letter) => reader.read(letter)).join("");
  assert.equal(read, 'plain\nTwo files.\nNo more.\n{"type":"other"}\n{ no json\n');
  assert.equal(reader.rest, "");
  reader.read('{"type"');
  assert.equal(reader.rest, '{"type"');
});

test("a row says what was said or done last", () => {
  const assistant = {
    type: "assistant",
    message: { content: [{ type: "tool_use", name: "Bash", input: { command: "make" } }] },
  };
  for (const [chunk, expected] of [
    [`${message}\n${completed}\n`, "$ ls, exit code 0"],
    [`${message}\n${JSON.stringify({ type: "turn.completed", usage: {} })}\n`, "Two files."],
    [JSON.stringify(assistant), "$ make"],
    [message.slice(0, -8), "Two files."],
    ['{"type":"thread.started","thread_id":"t"}\n', "thread started"],
    ["one\ntwo\n", "two"],
  ]) {
    assert.equal(output.summaryOf(chunk), expected);
  }
});

test("a program that cannot be started is named with the cause", () => {
  for (const [said, expected] of [
    ["spawn codex ENOENT", "codex is not installed or not in PATH"],
    ["codex binary not found: codex", "codex is not installed or not in PATH"],
    ["spawn ./worker EACCES", "./worker may not be executed: check its permissions"],
    ["folder `fld_1` is gone", "folder `fld_1` is gone"],
  ]) {
    assert.equal(wording.reworded(said), expected);
  }
});
