// Jobs and their runs in a browser: queued, canceled, and with every result.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openDesk, until } from "./desk.mjs";
import { installWorker } from "./fixtures/worker.mjs";

let desk;
let dir;
let project;
let agent;
let workspace;
let worker;
before(async () => {
  desk = await openDesk();
  dir = join(desk.gateway.home, "studio");
  const made = await desk.call("workspace.bootstrap.enterprise", {
    workspace_dir: dir,
    company_name: "Studio",
    project_name: "Poster",
    workers_per_dept: 2,
    departments: ["frontend"],
  });
  project = made.project_id;
  agent = made.departments[0].worker_agent_ids[0];
  worker = installWorker(desk.gateway.home, dir);
  const { workspaces } = await desk.call("workspace/list");
  workspace = workspaces.find((one) => one.dir === dir).id;
});
after(async () => {
  for (const { session_ref } of await desk.call("session.list", { workspace_dir: dir, status: "running" })) {
    await desk.call("session.stop", { session_ref, workspace_dir: dir });
    await desk.call("session.collect", { session_ref, workspace_dir: dir });
  }
  await desk?.close();
});

async function open(path, options) {
  const page = await desk.window(options);
  await page.goto(`${desk.url}/w/${workspace}${path}`);
  return page;
}

const where = () => ({ workspace_dir: dir, project_id: project });
const person = { actor_id: "human", actor_role: "human" };

async function give(goal) {
  const { job_id } = await desk.call("job.submit", {
    job: {
      ...where(),
      job_id: " ",
      worker_kind: "codex",
      permission_level: "read-only",
      goal,
      constraints: [],
      deliverables: [],
      context_refs: [],
      manager_actor_id: "human",
      manager_role: "human",
    },
  });
  return job_id;
}

const poll = (job_id) => desk.call("job.poll", { ...where(), job_id });
const attempt = (job_id) => until(async () => (await poll(job_id)).attempts.at(-1), "no attempt began");

/** Waits until the attempt has a session and returns it. */
async function session(job_id) {
  const { session_ref } = await attempt(job_id);
  return until(async () => {
    const list = await desk.call("session.list", { workspace_dir: dir });
    return list.find((row) => row.session_ref === session_ref && (row.queued || row.pid));
  }, "the attempt has no session");
}

/** Occupies both slots of a provider. */
async function fill() {
  const runs = [];
  for (let i = 0; i < 2; i += 1) {
    const { run_id } = await desk.call("run.create", {
      ...where(),
      agent_id: agent,
      provider: "codex",
      goal: "Hold a place",
    });
    await desk.call("session.launch", { ...where(), run_id, argv: ["/bin/sh", "-c", "exec sleep 600"], ...person });
    runs.push(run_id);
  }
  return async () => {
    for (const run of runs) {
      await desk.call("session.stop", { workspace_dir: dir, session_ref: `local_${run}` });
      await desk.call("session.collect", { workspace_dir: dir, session_ref: `local_${run}` });
    }
  };
}

test("a queued attempt is queued in every view, and says why", async () => {
  worker.hold();
  const free = await fill();
  const job = await give("Wait for a place in the queue");
  const { run_id, queued } = await session(job);
  assert.ok(queued);
  const why = "provider `codex` may have 2 sessions at a time, and 2 are running";
  const page = await open("/jobs");
  const row = page.getByRole("row", { name: /Wait for a place/ });
  await row.locator(".status.waiting", { hasText: "Queued" }).waitFor();
  await row.getByText(why).waitFor();
  await page.getByText("0 running, 1 queued").waitFor();
  await page.getByRole("link", { name: "Wait for a place in the queue" }).click();
  await page.locator(".page-head .status.waiting", { hasText: "Queued" }).waitFor();
  await page.locator(".lines .status.waiting", { hasText: "Queued" }).waitFor();
  await page.getByRole("main").getByText(why).waitFor();
  assert.equal(
    await page.locator(".status.running", { hasText: "Running" }).filter({ visible: true }).count(),
    2,
    "only the two that hold a place run",
  );

  await page.goto(`${desk.url}/w/${workspace}/overview`);
  await page.locator(".stat", { hasText: "Running" }).getByText("1 queued, 0 not started").waitFor();

  // The reason is fully visible and overlaps nothing.
  await page.goto(`${desk.url}/w/${workspace}/sessions`);
  const line = page.getByRole("row", { name: /Wait for a place/ });
  const note = line.getByText(why);
  await note.waitFor();
  const cell = await note.evaluate((element) => {
    const [inner, outer] = [element.getBoundingClientRect(), element.closest("td").getBoundingClientRect()];
    return { fits: inner.right <= outer.right + 1, cut: element.scrollWidth > element.clientWidth };
  });
  assert.deepEqual(cell, { fits: true, cut: false });
  const button = await line.getByRole("button", { name: "Cancel job" }).boundingBox();
  const table = await page.getByRole("region", { name: "Processes" }).boundingBox();
  assert.ok(button.x + button.width <= table.x + table.width, "the button is out of view");

  await page.goto(`${desk.url}/w/${workspace}/runs/${project}/${run_id}`);
  await page.locator(".page-head").getByText("Queued, position 1", { exact: true }).waitFor();
  await page.locator(".run-notices").getByText(why).waitFor();
  await page.getByLabel("Inspector").getByText(why).waitFor();
  await page.context().close();

  const phone = await open(`/runs/${project}/${run_id}`, { viewport: { width: 400, height: 800 } });
  const name = phone.getByRole("heading", { name: "Wait for a place in the queue", level: 1 });
  await phone.locator(".run-notices").getByText(why).waitFor();
  await phone.locator(".page-head").getByText("Queued, position 1", { exact: true }).waitFor();
  const { width } = await name.boundingBox();
  assert.ok(width > 150, `the name has ${width} px`);
  await phone.context().close();
  await desk.call("job.cancel", { ...where(), job_id: job });
  await free();
});

test("a session of a job is ended by cancelling the job, so that no attempt follows", async () => {
  worker.hold();
  const job = await give("Never come to an end");
  const { run_id } = await session(job);
  const page = await open(`/runs/${project}/${run_id}`);
  await page.getByRole("button", { name: "Cancel job" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Stop", exact: true }).count(), 0);
  await page.goto(`${desk.url}/w/${workspace}/sessions`);
  const row = page.getByRole("row", { name: /Never come to an end/ });
  await row.getByRole("button", { name: "Cancel job" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel job?" });
  await dialog.getByText("If you stopped only the run, the job would start another attempt").waitFor();
  await dialog.getByRole("button", { name: "Cancel job" }).click();
  await row.getByText("Stopped").waitFor();
  await until(async () => (await poll(job)).status === "canceled", "the job goes on");
  assert.equal((await poll(job)).attempts.length, 1);
  await page.context().close();
});

for (const [status, word, meaning] of [
  ["blocked", "Blocked", "failed"],
  ["needs_input", "Needs input", "waiting"],
  ["succeeded", "Ended", "done"],
]) {
  test(`the run of a job that is ${word.toLowerCase()} stands as its job does`, async () => {
    worker.says(status);
    worker.release();
    const goal = `End as ${status}`;
    const job = await give(goal);
    await until(async () => (await poll(job)).status === "completed", "the job is not over");
    const { run_id } = await attempt(job);
    const page = await open("/sessions");
    const shown = (place) => place.locator(`.status.${meaning}`, { hasText: word });
    await shown(page.getByRole("row", { name: goal })).waitFor();
    await shown(page.getByRole("listbox", { name: "Runs" }).getByRole("option", { name: goal })).waitFor();
    await page.goto(`${desk.url}/w/${workspace}/jobs/${project}/${job}`);
    await shown(page.locator(".lines")).waitFor();
    await page.goto(`${desk.url}/w/${workspace}/runs/${project}/${run_id}`);
    await shown(page.locator(".page-head")).waitFor();
    await page.getByLabel("Inspector").getByRole("link", { name: goal }).waitFor();
    await page.goto(`${desk.url}/w/${workspace}/overview`);
    await shown(page.getByRole("link", { name: goal })).waitFor();
    await page.context().close();
  });
}

test("what Codex prints as JSON is read as messages and commands, with its colours", async () => {
  worker.says("succeeded", [
    {
      id: "item_0",
      type: "command_execution",
      command: "cargo test",
      aggregated_output: "\u001b[31mone test failed\u001b[0m\n",
      exit_code: 101,
    },
    { type: "agent_message", text: "I look at the test." },
  ]);
  worker.release();
  const job = await give("Mend the test");
  await until(async () => (await poll(job)).status === "completed", "the job is not over");
  const { run_id } = await attempt(job);
  const page = await open(`/runs/${project}/${run_id}?show=output`);
  const output = page.getByRole("log", { name: "Output" });
  await output.getByText("$ cargo test").waitFor();
  await output.locator(".ansi-red").getByText("one test failed", { exact: true }).waitFor();
  await output.getByText("exit code 101").waitFor();
  await output.getByText("I look at the test.", { exact: true }).waitFor();
  assert.equal(await output.getByText("u001b").count(), 0);
  await page.goto(`${desk.url}/w/${workspace}/live`);
  const row = page.getByRole("option", { name: /provider\.raw/ }).first();
  await row.getByText("Mend the test").waitFor();
  assert.doesNotMatch(await row.locator(".event-line").textContent(), /^\{"type"/);
  await page.context().close();
});

test("the palette finds runs and jobs by their goals", async () => {
  const page = await open("/people");
  await page.getByRole("link", { name: "Frontend Worker 1" }).first().waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find anything" }).fill("never come to");
  await page.getByRole("option", { name: /Never come to an end.*Run/ }).waitFor();
  await page.getByRole("option", { name: /Never come to an end.*Job/ }).click();
  await page.getByRole("heading", { name: "Never come to an end", level: 1 }).waitFor();
  await page.waitForURL("**/jobs/*/*");
  await page.goto(`${desk.url}/w/${workspace}/teams`);
  await page
    .locator(".page-state")
    .getByText(/^\d+ agents, 1 team$/)
    .waitFor();
  await page.context().close();
});

test("no page complained, and none asked another host", () => assert.deepEqual(desk.problems, []));
