// Threads: streamed answers, stopping, failures, the prompt of a turn, and drafts of messages.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openDesk, until } from "./desk.mjs";
import { openProvider } from "./provider.mjs";

let provider;
let desk;
let workspace_id;
before(async () => {
  provider = await openProvider();
  desk = await openDesk({ config: `[providers.openai]\nbase_url = "${provider.url}"\napi_key = "test"\n` });
  workspace_id = (await desk.call("workspace/default")).workspace.id;
  await desk.call("thread/agents_doc/save", { workspace_id, content: "# Rules\n- Be brief.\n" });
});
after(async () => {
  await desk?.close();
  provider?.close();
});

async function open(thread_id, model = {}) {
  await desk.call("thread/start", { workspace_id, thread_id, ...model });
  await desk.call("thread/move", { workspace_id, thread_id });
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace_id}/t/${thread_id}`);
  await page.getByLabel("Message").waitFor();
  return page;
}

const MODEL = { model_provider: "openai", model: "test-model" };

async function say(page, text) {
  await page.getByLabel("Message").fill(text);
  await page.keyboard.press("Enter");
}

test("an answer comes word by word and is complete in the end", async () => {
  const page = await open("stream", MODEL);
  await say(page, "What is wrong with the login?");
  await page.locator(".answer[data-streaming]", { hasText: "found the cause" }).waitFor();
  assert.equal(await page.getByText("214 passed").count(), 0);
  provider.release();
  await page.getByText("214 passed").waitFor();
  await page.locator(".turn[data-status=Completed]").waitFor();
  await page.context().close();
});

test("a window that joins in the middle of an answer sees all of it", async () => {
  const page = await open("join", MODEL);
  await say(page, "What is wrong?");
  await page.getByText("found the cause").waitFor();
  const other = await desk.window();
  await other.goto(`${desk.url}/w/${workspace_id}/t/join`);
  await other.getByText("found the cause").waitFor();
  provider.release();
  await other.getByText("214 passed").waitFor();
  assert.match(await other.locator(".answer").textContent(), /^I looked at the login and found the cause/);
  await page.context().close();
  await other.context().close();
});

test("a running answer can be stopped", async () => {
  const page = await open("stop", MODEL);
  await say(page, "What is wrong?");
  await page.getByText("found the cause").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator(".turn[data-status=Interrupted]").waitFor();
  await page.getByText("stopped").waitFor();
  provider.release();
  await page.context().close();
});

test("a failed answer says why", async () => {
  const page = await open("fail", MODEL);
  await say(page, "Please fail");
  await page.locator(".turn[data-status=Failed]").waitFor();
  const { events } = await desk.call("thread/history", { thread_id: "fail" });
  const { error } = events.find(({ payload }) => payload.type === "turnFailed").payload;
  await page.getByText(error).first().waitFor();
  await page.context().close();
});

test("the prompt of a turn is explained down to document, version and hook", async () => {
  const page = await open("explain");
  await say(page, "Hello");
  await page.locator(".turn[data-status=Completed]").waitFor();
  await page.getByRole("button", { name: "Show prompt" }).click();
  await page.getByText("AGENTS.md, version 1").waitFor();
  await page.getByText("pioneer.thread_agents_doc_prompt").waitFor();
  await page.getByText("succeeded").waitFor();
  await page.getByRole("button", { name: "View" }).click();
  await page.getByRole("dialog").getByText("- Be brief.").waitFor();
  await page.keyboard.press("Escape");
  await desk.call("thread/agents_doc/save", { workspace_id, content: "# Rules\n- Be kind.\n" });
  await say(page, "Hello again");
  await page.locator(".turn[data-status=Completed]").nth(1).waitFor();
  await page.getByRole("button", { name: "Show prompt" }).last().click();
  await page.getByText("Changed", { exact: true }).waitFor();
  await page.context().close();
});

test("a message that is not sent yet survives a reload", async () => {
  const page = await open("draft");
  await page.getByLabel("Message").fill("half a thought");
  await page.reload();
  await page.getByLabel("Message").waitFor();
  assert.equal(await page.getByLabel("Message").inputValue(), "half a thought");
  await page.getByLabel("Message").press("Enter");
  await page.locator(".answer", { hasText: "half a thought" }).waitFor();
  assert.equal(await page.getByLabel("Message").inputValue(), "");
  await page.reload();
  await page.locator(".answer", { hasText: "half a thought" }).waitFor();
  assert.equal(await page.getByLabel("Message").inputValue(), "");
  await page.context().close();
});

test("a message sent while the gateway is away arrives once when it is back", async () => {
  const page = await open("away");
  await desk.gateway.kill();
  await page.getByText("The gateway cannot be reached").waitFor();
  await say(page, "are you there");
  await desk.gateway.start();
  await page.locator(".answer", { hasText: "are you there" }).waitFor();
  const { events } = await desk.call("thread/history", { thread_id: "away" });
  assert.equal(events.filter(({ payload }) => payload.type === "turnStarted").length, 1);
  await page.context().close();
});

test("what another client says appears by itself", async () => {
  const page = await open("live");
  await desk.call("turn/start", {
    thread_id: "live",
    turn_id: "theirs",
    input: [{ type: "text", text: "from elsewhere" }],
  });
  await page.locator(".answer", { hasText: "from elsewhere" }).waitFor();
  await until(async () => (await page.locator(".said", { hasText: "from elsewhere" }).count()) === 1);
  await page.context().close();
});

test("a deleted thread says so instead of making a new one", async () => {
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace_id}/t/never-there`);
  await page.getByText("Thread not found").waitFor();
  await page.context().close();
});

test("no page complained", () => assert.deepEqual(desk.problems, []));
