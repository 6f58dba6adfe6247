// The desktop shows correct names, states, output, evidence, keys and files.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openDesk, until } from "./desk.mjs";
import { writeReport, writeTasks } from "./fixtures/files.mjs";

/** A model service that lists models for one key only. */
async function openModels(key) {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.headers.authorization === `Bearer ${key}`) {
      response.end(JSON.stringify({ object: "list", data: [{ id: "one", object: "model" }] }));
    } else {
      response.statusCode = 401;
      response.end(JSON.stringify({ error: { message: "this key is not known" } }));
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

let desk;
let models;
let dir;
let project;
let worker;
let workspace;
let tasks;
before(async () => {
  models = await openModels("the-right-key");
  desk = await openDesk({ config: `[providers.openai]\nbase_url = "${models.url}"\n` });
  dir = join(desk.gateway.home, "studio");
  const made = await desk.call("workspace.bootstrap.enterprise", {
    workspace_dir: dir,
    company_name: "Studio",
    project_name: "Poster",
    workers_per_dept: 2,
    departments: ["frontend"],
  });
  project = made.project_id;
  const [department] = made.departments;
  worker = department.worker_agent_ids[0];
  tasks = writeTasks(dir, project, [
    ["api", "Print it", "in_progress", department, -1, 3, [], ["done", "in_progress"]],
  ]);
  const machine = join(dir, ".local/machine.yaml");
  const text = readFileSync(machine, "utf8");
  writeFileSync(
    machine,
    text.replace(/^provider_bins:.*$/m, "provider_bins:\n  claude: /no/such/claude\n  codex: /no/such/codex"),
  );
  const { workspaces } = await desk.call("workspace/list");
  workspace = workspaces.find((one) => one.dir === dir).id;
});
after(async () => {
  for (const { session_ref } of await desk.call("session.list", { workspace_dir: dir, status: "running" })) {
    await desk.call("session.stop", { session_ref, workspace_dir: dir });
    await desk.call("session.collect", { session_ref, workspace_dir: dir });
  }
  await desk?.close();
  models?.close();
});

async function open(path) {
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace}${path}`);
  return page;
}

const where = () => ({ workspace_dir: dir, project_id: project });
const person = { actor_id: "human", actor_role: "human" };

async function start(script, rest = {}) {
  const { run_id } = await desk.call("run.create", { ...where(), agent_id: worker, provider: "cmd", ...rest });
  await desk.call("session.launch", { ...where(), run_id, argv: ["/bin/sh", "-c", script], ...person });
  return run_id;
}

const end = (run) => desk.call("session.collect", { workspace_dir: dir, session_ref: `local_${run}` });
const log = (run) => readFileSync(join(dir, "work/projects", project, "runs", run, "events.jsonl"), "utf8");

test("a blocked job is not green, and is named by its goal", async () => {
  const { job_id } = await desk.call("job.submit", {
    job: {
      ...where(),
      job_id: " ",
      worker_kind: "codex",
      permission_level: "read-only",
      goal: "Draw the poster\n\nIn three colours.",
      constraints: [],
      deliverables: [],
      context_refs: [],
      manager_actor_id: "human",
      manager_role: "human",
    },
  });
  await until(async () => (await desk.call("job.poll", { ...where(), job_id })).status === "completed");
  const page = await open("/jobs");
  const row = page.getByRole("row", { name: /Draw the poster/ });
  await row.locator(".status.failed", { hasText: "Blocked" }).waitFor();
  assert.equal(await row.locator(".status.done").count(), 0);
  await row.getByRole("link", { name: "Draw the poster" }).click();
  await page.getByRole("heading", { name: "Draw the poster", level: 1 }).waitFor();
  await page.locator(".page-head .status.failed", { hasText: "Blocked" }).waitFor();
  await page.getByText("is not installed or not in PATH").first().waitFor();
  await page.context().close();
});

test("runs are named by their goals in the list, in the run and at home", async () => {
  const run = await start("echo hello", { goal: "Say hello to the printer" });
  await end(run);
  const command = await start("echo by its command");
  await end(command);
  const page = await open(`/runs/${project}/${run}`);
  await page.getByRole("heading", { name: "Say hello to the printer", level: 1 }).waitFor();
  const list = page.getByRole("listbox", { name: "Runs" });
  await list.getByText("Say hello to the printer").waitFor();
  await list.getByText("echo by its command").waitFor();
  await page.goto(`${desk.url}/w/${workspace}/overview`);
  await page.getByRole("link", { name: /Say hello to the printer/ }).waitFor();
  await page.context().close();
});

test("a run that was never launched is not started in every view, and can be cancelled", async () => {
  const { run_id } = await desk.call("run.create", {
    ...where(),
    agent_id: worker,
    provider: "cmd",
    goal: "Wait for somebody",
  });
  const page = await open("/overview");
  const line = page.getByRole("link", { name: /Wait for somebody/ });
  await line.getByText("Not started").waitFor();
  await page.goto(`${desk.url}/w/${workspace}/people/${worker}`);
  await page
    .getByRole("link", { name: /Wait for somebody/ })
    .getByText("Not started")
    .waitFor();
  await page.goto(`${desk.url}/w/${workspace}/home/${project}`);
  await page.getByLabel("Inspector").locator("li", { hasText: "Wait for somebody" }).getByText("Not started").waitFor();
  await page.goto(`${desk.url}/w/${workspace}/runs/${project}/${run_id}`);
  await page.locator(".page-head").getByText("Not started").waitFor();
  await page
    .getByRole("listbox", { name: "Runs" })
    .getByRole("option", { name: /Wait for somebody.*Not started/ })
    .waitFor();
  await page.getByRole("button", { name: "Cancel run" }).click();
  await page.locator(".page-head").getByText("Stopped").waitFor();
  await page.getByRole("button", { name: "Cancel run" }).waitFor({ state: "detached" });
  await page.getByText("Chain verified").waitFor();
  const rows = await desk.call("run.list", { ...where() });
  assert.equal(rows.find((row) => row.run_id === run_id).status, "stopped");
  await page.context().close();
});

test("a run that names an agent or a provider that does not exist is warned about", async () => {
  const { run_id } = await desk.call("run.create", { ...where(), agent_id: "agent_typo", provider: "codecs" });
  const page = await open(`/runs/${project}/${run_id}`);
  await page.getByText("There is no agent `agent_typo` in this company.").waitFor();
  await page.getByText(/There is no provider `codecs`: expected codex, claude/).waitFor();
  await page.context().close();
});

test("a launch needs no dry run first", async () => {
  const page = await open("/sessions");
  await page.getByRole("button", { name: "Start run", exact: true }).first().click();
  const dialog = page.getByRole("dialog", { name: "Start a run" });
  await dialog.getByLabel("Shell command").fill("echo at once");
  await dialog.getByRole("button", { name: "Start run", exact: true }).click();
  await page.waitForURL("**/runs/*/*");
  await page.getByRole("heading", { name: "echo at once", level: 1 }).waitFor();
  await page.getByRole("option", { name: /run.ended/ }).waitFor();
  await page.context().close();
});

test("a worker that is not installed is called that, before and after", async () => {
  const page = await open("/sessions");
  await page.getByRole("button", { name: "Start run", exact: true }).first().click();
  const dialog = page.getByRole("dialog", { name: "Start a run" });
  await dialog.getByLabel("Worker").selectOption({ label: "Codex" });
  await dialog.getByLabel("Prompt").fill("Look around");
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByText(/is not installed or not in PATH/).waitFor();
  await page.goto(`${desk.url}/w/${workspace}/settings`);
  const row = page.locator(".health li", { hasText: "Claude CLI" });
  await row.getByText("Not installed").waitFor();
  await page.context().close();
});

test("a program that is missing is called that in the toast, in Sessions and in its run", async () => {
  const { run_id } = await desk.call("run.create", {
    ...where(),
    agent_id: worker,
    provider: "claude",
    goal: "Ask Claude",
  });
  await desk.call("session.launch", { ...where(), run_id, argv: ["no-such-claude", "-p", "hi"], ...person });
  const page = await open("/sessions");
  const said = "no-such-claude is not installed or not in PATH";
  await page
    .getByRole("row", { name: /Ask Claude/ })
    .getByText(said)
    .waitFor();
  await page.goto(`${desk.url}/w/${workspace}/runs/${project}/${run_id}`);
  await page.getByLabel("Inspector").getByText(said).waitFor();
  await page.getByRole("listbox", { name: "Events" }).getByText(said).waitFor();
  assert.equal(await page.getByText("ENOENT").count(), 0);

  await page.goto(`${desk.url}/w/${workspace}/sessions?new`);
  const dialog = page.getByRole("dialog", { name: "Start a run" });
  await dialog.getByLabel("Worker").selectOption({ label: "Claude" });
  await dialog.getByLabel("Prompt").fill("Look around");
  await dialog.getByRole("button", { name: "Start run", exact: true }).click();
  await page.locator(".toast.failed").getByText("/no/such/claude is not installed or not in PATH").waitFor();
  await page.context().close();
});

test("a plain command has no tokens, and is not in the totals", async () => {
  const page = await open("/overview");
  const tokens = page.locator(".stat", { hasText: "Tokens" }).getByRole("link");
  await tokens.waitFor();
  const usage = await desk.window();
  await usage.goto(`${desk.url}/w/${workspace}/usage`);
  await usage.getByRole("heading", { name: /Tokens by day|No usage yet/ }).waitFor();
  const run = await start("yes some output | head -c 9000", { goal: "Print a lot" });
  await end(run);
  const run_of = () => desk.call("usage.analytics", { workspace_dir: dir, limit: 100 });
  const row = await until(async () =>
    (await run_of()).recent_runs.find((one) => one.run_id === run && one.total_tokens > 0),
  );
  assert.equal(row.provider, "cmd");
  const models = (await run_of()).recent_runs.filter(({ provider }) => provider !== "cmd");
  const sum = models.reduce((total, { total_tokens }) => total + total_tokens, 0);
  await page.reload();
  await until(
    async () => Number((await tokens.textContent()).replace(/\D/g, "")) === sum,
    "the command is in the total",
  );
  await page.goto(`${desk.url}/w/${workspace}/usage`);
  const total = page.locator(".stat", { hasText: "Tokens, all time" });
  await total.getByText(models.length === 1 ? "1 run" : `${models.length} runs`, { exact: true }).waitFor();
  assert.equal(await page.getByText("cmd", { exact: true }).count(), 0);
  // No run has a price, so the cost is unknown.
  await page.locator(".stat", { hasText: "Cost, all time" }).getByText("unknown").waitFor();
  await page.goto(`${desk.url}/w/${workspace}/runs/${project}/${run}`);
  const inspector = page.getByLabel("Inspector");
  await inspector.getByText("None (shell command)").waitFor();
  assert.equal(await inspector.getByText("estimated").count(), 0);
  await usage.context().close();
  await page.context().close();
});

test("live output follows the end until one scrolls up, has its colours, and can be had in full", async () => {
  const gate = join(desk.gateway.home, "gate");
  const run = await start(
    `i=0; while [ $i -lt 400 ]; do echo "line $i"; i=$((i+1)); done; ` +
      `printf '\\033[1;31mred words\\033[0m and <b>plain</b> ones\\n'; ` +
      `while [ ! -e '${gate}' ]; do sleep 0.05; done; ` +
      `while [ $i -lt 800 ]; do echo "line $i"; i=$((i+1)); done; echo the very last line`,
  );
  const page = await open(`/runs/${project}/${run}`);
  await page.getByRole("link", { name: "Full output" }).click();
  const output = page.getByRole("log", { name: "Output" });
  const red = output.locator(".ansi-red.ansi-bold");
  await red.getByText("red words").waitFor();
  await output.getByText("and <b>plain</b> ones").waitFor();
  assert.ok((await output.locator(".output-line").count()) < 200, "the lines are virtual");
  const width = await output.evaluate((element) => element.clientWidth / element.closest("main").clientWidth);
  assert.ok(width > 0.95, `it uses ${width} of the width`);

  // After scrolling up the view stays in place.
  await output.evaluate((element) => (element.scrollTop = 0));
  await output.getByText("line 0", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Scroll to end" }).waitFor();
  writeFileSync(gate, "");
  await page.getByText(/^802 lines/).waitFor();
  await output.getByText("line 0", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Scroll to end" }).click();
  await output.getByText("the very last line").waitFor();

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const text = readFileSync(await (await download).path(), "utf8");
  assert.match(text, /^line 0\n[\s\S]*red words and <b>plain<\/b> ones\n[\s\S]*the very last line\n$/);
  assert.equal(text.includes("\u001b"), false);
  await page.context().close();
});

test("the list of events follows the end, and the seal and the tokens are right without a reload", async () => {
  const gate = join(desk.gateway.home, "gate-usage");
  const usage = JSON.stringify({
    type: "turn.completed",
    usage: { input_tokens: 9000, output_tokens: 1400, total_tokens: 10400 },
  });
  const { run_id } = await desk.call("run.create", { ...where(), agent_id: worker, provider: "codex" });
  const script =
    `i=0; while [ $i -lt 60 ]; do echo "step $i"; sleep 0.03; i=$((i+1)); done; ` +
    `while [ ! -e '${gate}' ]; do sleep 0.05; done; echo '${usage}'`;
  const page = await open("/overview");
  const total = page.locator(".stat", { hasText: "Tokens" });
  await total.waitFor();
  const overview = await desk.window();
  await overview.goto(`${desk.url}/w/${workspace}/overview`);
  const shown = overview.locator(".stat", { hasText: "Tokens" }).getByRole("link");
  const before = Number((await shown.textContent()).replace(/\D/g, ""));

  await desk.call("session.launch", { ...where(), run_id, argv: ["/bin/sh", "-c", script], ...person });
  await page.goto(`${desk.url}/w/${workspace}/runs/${project}/${run_id}`);
  const events = page.getByRole("listbox", { name: "Events" });
  const atEnd = () =>
    events.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight < 30);
  await events.getByText("step 59").waitFor();
  assert.ok(await events.evaluate((element) => element.scrollHeight > element.clientHeight), "the list is long");
  assert.ok(await atEnd(), "the list is at its end");
  await page.getByText("Chain verified").waitFor();
  writeFileSync(gate, "");
  await events.getByText("run.ended").waitFor();
  await until(atEnd, "the list did not follow");
  await page.getByText("Chain verified").waitFor();
  await page.getByLabel("Inspector").getByText("10,400", { exact: true }).waitFor();
  await page.locator(".page-head").getByText("Ended").waitFor();
  await until(
    async () => Number((await shown.textContent()).replace(/\D/g, "")) === before + 10400,
    "the overview did not count the tokens",
  );
  await overview.context().close();
  await page.context().close();
});

test("the evidence of a milestone opens, and its patch is a diff", async () => {
  const { run_id, context_pack_id } = await desk.call("run.create", { ...where(), agent_id: worker, provider: "cmd" });
  const report = writeReport(dir, project, { run_id, context_pack_id }, tasks.api, worker);
  const before = log(run_id);
  const page = await open(`/inbox/${project}/${report}`);
  const diff = page.getByRole("figure", { name: "pricing.rs: 2 lines added, 1 removed" });
  await diff.getByText("let total = cart.total();").waitFor();
  await page.getByRole("link", { name: "art_pricing_tests" }).click();
  await page.getByText("214 passed; 0 failed").waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "art_pricing_patch" }).click();
  await page.getByRole("heading", { name: "art_pricing_patch", level: 1 }).waitFor();
  await diff.locator(".diff-line.removed", { hasText: "cart.total()" }).waitFor();
  assert.equal(log(run_id), before, "reading it wrote something into the log of its run");
  await page.context().close();
});

test("a stored key is not tested until one tests it", async () => {
  const page = await open("/settings");
  const row = page.locator(".provider", { has: page.getByRole("heading", { name: /OpenAI/ }) });
  const store = async (key) => {
    await row.getByLabel(/API key/).fill(key);
    await row.getByRole("button", { name: "Save" }).click();
    await row.getByText("Key saved, not tested").waitFor();
  };
  await store("a-wrong-key");
  assert.equal(await row.locator(".status.done").count(), 0);
  await row.getByRole("button", { name: "Test key" }).click();
  await row.locator(".status.failed", { hasText: "Key test failed" }).waitFor();
  await store("the-right-key");
  await row.getByRole("button", { name: "Test key" }).click();
  await row.locator(".status.done", { hasText: "Key works, 1 model" }).waitFor();
  await page.context().close();
});

async function openThread(thread_id) {
  const workspace_id = (await desk.call("workspace/default")).workspace.id;
  await desk.call("thread/start", { workspace_id, thread_id, name: thread_id });
  await desk.call("thread/move", { workspace_id, thread_id });
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace_id}/t/${thread_id}`);
  await page.getByLabel("Message").waitFor();
  return { page, workspace_id };
}

const give = (page, name, size) =>
  page.locator(".composer-input").evaluate(
    (element, { name, size }) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(size)], name));
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    },
    { name, size },
  );

test("a server without a key is tested as a server", async () => {
  const page = await open("/settings");
  const row = page.locator(".provider", { has: page.getByRole("heading", { name: /OpenAI/ }) });
  await row.getByRole("button", { name: "Remove key" }).click();
  await row.getByText("Own server without a key, not tested").waitFor();
  assert.equal(await row.getByRole("button", { name: /key/ }).count(), 0);
  await row.getByRole("button", { name: "Test server" }).click();
  await row.locator(".status.failed", { hasText: "Server test failed" }).waitFor();
  await page.setViewportSize({ width: 400, height: 800 });
  const width = await page.locator(".page-body").evaluate((element) => element.scrollWidth);
  assert.ok(width <= 400, `the settings are ${width} px wide`);
  await page.context().close();
});

test("a file that is too large is refused with a plain sentence", async () => {
  const { page } = await openThread("large");
  await give(page, "video.mov", 60 << 20);
  await page.getByText("This file is 60 MiB. The maximum is 50 MiB.").waitFor();
  await page.getByText("Remove the file that failed to upload").waitFor();
  await page.getByRole("button", { name: "Remove video.mov" }).click();
  await page.getByText("Enter to send, Shift+Enter for a new line").waitFor();
  await page.context().close();
});

test("a removed attachment is deleted", async () => {
  const { page, workspace_id } = await openThread("removed");
  await give(page, "notes.txt", 2048);
  await page.locator(".composer .chip[data-phase=done]").waitFor();
  const listed = async () =>
    (await desk.call("artifact/list", { workspace_id })).items.filter(
      ({ artifact }) => artifact.display_name === "notes.txt",
    );
  assert.equal((await listed()).length, 1);
  await page.getByRole("button", { name: "Remove notes.txt" }).click();
  await until(
    async () => (await listed()).every(({ artifact }) => artifact.status === "deleted"),
    "the file is still there",
  );
  await page.context().close();
});

/** Proposes a line for the memory of the project. */
async function proposeLine(title) {
  const { run_id, context_pack_id } = await desk.call("run.create", { ...where(), agent_id: worker, provider: "cmd" });
  const delta = await desk.call("memory.propose_delta", {
    ...where(),
    title,
    scope_kind: "project_memory",
    sensitivity: "internal",
    visibility: "managers",
    produced_by: worker,
    run_id,
    context_pack_id,
    rationale: "asked for",
    under_heading: "## Decisions",
    insert_lines: [`- ${title}.`],
    evidence: [`run:${run_id}`],
  });
  return { run_id, ...delta };
}

test("a patch that is swapped while a person looks is not approved, and the change is shown", async () => {
  const { artifact_id, patch_relpath } = await proposeLine("Ink is black");
  const memory = () => readFileSync(join(dir, "work/projects", project, "memory.md"), "utf8");
  const page = await open(`/inbox/${project}/${artifact_id}`);
  await page.getByText("- Ink is black.").first().waitFor();
  const patch = join(dir, patch_relpath);
  writeFileSync(patch, readFileSync(patch, "utf8").replace("Ink is black", "Ink is red"));
  await page.getByRole("button", { name: /Approve/ }).click();
  const change = page.getByRole("region", { name: "Changes" });
  await change.getByText("This item changed since you opened it.").waitFor();
  await change.locator(".diff-line.removed", { hasText: "Ink is black" }).waitFor();
  await change.locator(".diff-line.added", { hasText: "Ink is red" }).waitFor();
  assert.ok(!memory().includes("Ink is"), "nothing was decided");
  assert.equal(await page.getByRole("button", { name: /Approve/ }).count(), 0);
  await change.getByRole("button", { name: "Mark as reviewed" }).click();
  await page.getByRole("button", { name: /Approve/ }).click();
  // The page of these tests has the owner's token and no sign-in.
  await page
    .getByRole("region", { name: "Outcome" })
    .getByText(/decided in a terminal/)
    .waitFor();
  assert.ok(memory().includes("- Ink is red."));
  await page.context().close();
});

test("a decision in a browser that signed in is recorded as made on the desktop", async () => {
  const { artifact_id, run_id } = await proposeLine("Paper is thick");
  const link = desk.gateway.command("open", "--print").trim();
  const context = await desk.browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.waitForFunction(() => localStorage.getItem("accord.page_key"));
  const params = { ...where(), artifact_id, decision: "denied", actor_id: "human", actor_role: "human" };
  const answer = await page.evaluate(
    (params) =>
      new Promise((resolve, reject) => {
        const key = localStorage.getItem("accord.page_key");
        const socket = new WebSocket(`ws://${location.host}/ws`, ["accord", `page-key.${key}`]);
        socket.onopen = () => socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "inbox.resolve", params }));
        socket.onmessage = ({ data }) => resolve(JSON.parse(data));
        socket.onerror = () => reject(new Error("the socket failed"));
      }),
    params,
  );
  assert.equal(answer.result?.decision, "denied", JSON.stringify(answer));
  const [event] = log(run_id)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === "approval.decided");
  assert.deepEqual(event.payload.presence, { via: "desktop" });
  await context.close();
});

test("reading the inbox writes nothing into the log of a run", async () => {
  const { artifact_id, run_id } = await proposeLine("Paper is matte");
  const before = log(run_id);
  const page = await open(`/inbox/${project}/${artifact_id}`);
  await page.getByText("Paper is matte.").waitFor();
  await page.reload();
  await page.getByText("Paper is matte.").waitFor();
  await page.goto(`${desk.url}/w/${workspace}/home/${project}/doc/${artifact_id}`);
  await page.getByRole("heading", { name: "Paper is matte", level: 1 }).waitFor();
  assert.equal(log(run_id), before);
  assert.ok(existsSync(join(dir, "work/projects", project, "logs/policy_audit.jsonl")), "the audit is elsewhere");
  await page.context().close();
});

test("a queued session says why, and until when, as soon as the gateway says so", async () => {
  const page = await desk.window();
  // Adds the queue reason to the rows of `session.list`.
  await page.addInitScript(() => {
    const listen = WebSocket.prototype.addEventListener;
    const change = (data) => {
      if (typeof data !== "string" || !data.includes('"queue_position"')) return data;
      const message = JSON.parse(data);
      for (const row of Array.isArray(message.result) ? message.result : []) {
        if (row.queued)
          row.queue_reason = { reason: "codex cools down after a rate limit", until: "2099-01-01T14:05:00.000Z" };
      }
      return JSON.stringify(message);
    };
    const wrap = (handler) => (event) =>
      handler.call(
        event.target,
        new Proxy(event, { get: (one, name) => (name === "data" ? change(one.data) : one[name]) }),
      );
    WebSocket.prototype.addEventListener = function (type, handler, options) {
      listen.call(this, type, type === "message" ? wrap(handler) : handler, options);
    };
    Object.defineProperty(WebSocket.prototype, "onmessage", {
      set(handler) {
        listen.call(this, "message", wrap(handler));
      },
    });
  });
  const runs = [];
  for (let i = 0; i < 4; i += 1) runs.push(await start("exec sleep 600"));
  await page.goto(`${desk.url}/w/${workspace}/sessions`);
  await page.locator(".status.waiting").getByText("Queued, position 1", { exact: true }).waitFor();
  await page
    .getByText(/^codex cools down after a rate limit, until (1 Jan|Jan 1)/)
    .first()
    .waitFor();
  const list = await desk.call("session.list", { workspace_dir: dir });
  const queued = list.find((row) => row.queued);
  await page.goto(`${desk.url}/w/${workspace}/runs/${project}/${queued.run_id}`);
  await page
    .locator(".page-head")
    .getByText(/^Queued, position \d$/)
    .waitFor();
  await page
    .locator(".run-notices")
    .getByText(/codex cools down after a rate limit, until/)
    .waitFor();
  await page
    .getByLabel("Inspector")
    .getByText(/codex cools down after a rate limit, until/)
    .waitFor();
  await page.getByRole("listbox", { name: "Runs" }).getByText("Queued").first().waitFor();
  for (const run of runs) {
    await desk.call("session.stop", { workspace_dir: dir, session_ref: `local_${run}` });
    await end(run);
  }
  await page.context().close();
});

test("no page complained, and none asked another host", () => assert.deepEqual(desk.problems, []));
