// The views of a company in a browser, against a real gateway.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { countScripts, openDesk, until } from "./desk.mjs";
import { buildCompany } from "./fixtures/company.mjs";

let desk;
let company;
let workspace;
before(async () => {
  desk = await openDesk();
  company = await buildCompany(desk.call, join(desk.gateway.home, "northwind"));
  workspace = company.workspace;
});
after(async () => {
  await company?.stop();
  await desk?.close();
});

/** Opens a window at a shared address of the company. */
async function open(path, options) {
  const page = await desk.window(options);
  await page.goto(`${desk.url}/c/${encodeURIComponent(company.dir)}${path}`);
  return page;
}

const memory = () => readFileSync(join(company.dir, "work/projects", company.project, "memory.md"), "utf8");

test("the address of a company folder leads to its workspace", async () => {
  const page = await open("/home");
  await page
    .getByRole("link", { name: /Checkout rewrite/ })
    .first()
    .waitFor();
  await page.waitForURL(`**/w/${workspace}/home`);
  await page
    .getByRole("link", { name: /Data platform/ })
    .first()
    .click();
  await page.getByRole("cell", { name: "Choose where facts are kept" }).waitFor();
  await page.context().close();
});

test("the overview needs at most 350 KB of compressed script", async () => {
  const page = await desk.window();
  const sizeOfScripts = countScripts(page);
  await page.goto(`${desk.url}/w/${workspace}`);
  await page.getByRole("main").getByRole("heading", { name: "Projects" }).waitFor();
  const shown = await page.evaluate(() => Math.round(performance.now()));
  const size = await sizeOfScripts();
  console.log(`the overview has ${Math.round(size / 1024)} KB of compressed script and was there after ${shown} ms`);
  assert.ok(size > 0 && size <= 350 * 1024, `${size} bytes`);
  await page.context().close();
});

test("a folder that is not empty gets a way forward, and ~ is refused before it is sent", async () => {
  const { mkdirSync, writeFileSync, existsSync } = await import("node:fs");
  const busy = join(desk.gateway.home, "busy");
  mkdirSync(busy);
  writeFileSync(join(busy, "notes.txt"), "mine");
  const page = await desk.window();
  const plain = await desk.call("workspace/create", { workspace_id: "ws_no_company" });
  await page.goto(`${desk.url}/w/${plain.workspace.id}/home`);
  await page.getByRole("button", { name: "Create a company" }).click();
  await page.getByLabel("Folder", { exact: true }).fill("~/acme");
  await page.getByText("~ is not supported here").waitFor();
  assert.ok(await page.getByRole("button", { name: "Create company" }).isDisabled());
  await page.getByLabel("Folder", { exact: true }).fill(busy);
  await page.getByLabel("Company name").fill("Acme & Sons");
  await page.getByRole("button", { name: "Create company" }).click();
  const dialog = page.getByRole("dialog", { name: "This folder is not empty" });
  assert.equal(await dialog.getByLabel("New subfolder").inputValue(), "acme-sons");
  await dialog.getByRole("button", { name: "Create in subfolder" }).click();
  await page.waitForURL((url) => !url.pathname.includes("ws_no_company"));
  assert.ok(existsSync(join(busy, "acme-sons/company/company.yaml")));
  assert.equal(readFileSync(join(busy, "notes.txt"), "utf8"), "mine");
  await page.context().close();
});

test("a folder that is taken too is refused in the dialog, and a company that is there is opened", async () => {
  const { mkdirSync, writeFileSync, existsSync } = await import("node:fs");
  const taken = join(desk.gateway.home, "taken");
  mkdirSync(join(taken, "acme"), { recursive: true });
  writeFileSync(join(taken, "acme/notes.txt"), "mine");
  const page = await desk.window();
  await desk.call("workspace/create", { workspace_id: "ws_taken" });
  await page.goto(`${desk.url}/w/ws_taken/home`);
  await page.getByRole("button", { name: "Create a company" }).click();
  await page.getByLabel("Folder", { exact: true }).fill(taken);
  await page.getByLabel("Company name").fill("Acme");
  await page.getByRole("button", { name: "Create company" }).click();
  const dialog = page.getByRole("dialog", { name: "This folder is not empty" });
  await dialog.getByRole("button", { name: "Create in subfolder" }).click();
  await dialog.getByText("The subfolder “acme” is not empty either.").waitFor();
  assert.equal(await dialog.getByLabel("New subfolder").inputValue(), "acme-2");
  await dialog.getByLabel("New subfolder").fill("acme");
  assert.ok(await dialog.getByRole("button", { name: "Create in subfolder" }).isDisabled());
  await dialog.getByLabel("New subfolder").fill("acme-3");
  await dialog.getByRole("button", { name: "Create in subfolder" }).click();
  await page.waitForURL((url) => !url.pathname.includes("ws_taken"));
  assert.ok(existsSync(join(taken, "acme-3/company/company.yaml")));

  // Without a name, the suggested folder is not one that the company uses.
  await page.goto(`${desk.url}/w/ws_taken/home`);
  await page.getByRole("button", { name: "Create a company" }).click();
  await page.getByLabel("Folder", { exact: true }).fill(company.dir);
  await page.getByRole("button", { name: "Create company" }).click();
  assert.equal(await dialog.getByLabel("New subfolder").inputValue(), "new-company");
  await dialog.getByLabel("New subfolder").fill("company");
  await dialog.getByText("The existing company uses this folder").waitFor();
  assert.ok(await dialog.getByRole("button", { name: "Create in subfolder" }).isDisabled());
  await dialog.getByRole("button", { name: "Open company", exact: true }).click();
  await page.waitForURL(`**/w/${workspace}/home`);
  await page.context().close();
});

test("a company whose folder is gone says so, and can be forgotten", async () => {
  const { rmSync } = await import("node:fs");
  const listed = async (dir) => (await desk.call("workspace/list")).workspaces.find((one) => one.dir === dir);
  const page = await desk.window();
  for (const place of ["first", "second"]) {
    const dir = join(desk.gateway.home, `gone-${place}`);
    await desk.call("workspace.bootstrap.enterprise", {
      workspace_dir: dir,
      company_name: "Gone",
      departments: ["frontend"],
    });
    const { id } = await listed(dir);
    rmSync(dir, { recursive: true });
    if (place === "first") {
      await page.goto(`${desk.url}/w/${id}/overview`);
      await page.getByRole("heading", { name: "Company folder not found" }).waitFor();
    } else {
      await page.goto(`${desk.url}/w/ws_taken/open`);
      await page.getByLabel("Folder").fill(join(desk.gateway.home, "never-was"));
      await page.keyboard.press("Enter");
      await page
        .getByRole("alert")
        .getByText(/No company found in `[^`]*never-was`: the folder does not exist/)
        .waitFor();
      assert.equal(await page.getByRole("button", { name: "Remove from list" }).count(), 0);
      await page.getByLabel("Folder").fill(dir);
      await page.keyboard.press("Enter");
      await page
        .getByRole("alert")
        .getByText(/No company found/)
        .waitFor();
    }
    await page.getByRole("button", { name: "Remove from list" }).click();
    await until(async () => (await listed(dir))?.is_active !== true, "it is still listed");
    await page.getByText("Company removed from the list").waitFor();
  }
  await page.context().close();
});

test("a folder that is no company is refused with a sentence, and a company is opened by its path", async () => {
  const page = await desk.window();
  await desk.call("workspace/create", { workspace_id: "ws_plain", name: "Plain" });
  await page.goto(`${desk.url}/w/ws_plain/home`);
  await page.getByLabel("Folder").fill(desk.gateway.home);
  await page.keyboard.press("Enter");
  await page.getByText(/No company found.*it has no company\/company.yaml/).waitFor();
  await page.getByLabel("Folder").fill(`${company.dir}/`);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/w/${workspace}/home`);
  await page.getByRole("heading", { name: "Northwind" }).waitFor();
  await page.context().close();
});

test("the inbox is decided by keys alone, and says what happened", async () => {
  const page = await open("/inbox");
  await page.getByText("5 decisions waiting for you").waitFor();
  await page.keyboard.press("j");
  await page.getByRole("heading", { name: "Run the whole suite before saying done" }).waitFor();
  // The item is shown before it can be decided.
  await page.getByRole("button", { name: "Approve" }).first().waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Approve").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor({ state: "detached" });

  await page.keyboard.press("j");
  await page.getByRole("heading", { name: "Retry the payment provider at most twice" }).waitFor();
  await page.getByText("A payment is tried at most twice").waitFor();
  await page.keyboard.press("e");
  await page.keyboard.type("Once would be enough.");
  await page.keyboard.press("Escape");
  assert.ok(!memory().includes("tried at most twice"));
  await page.keyboard.press("d");
  await page.getByRole("region", { name: "Outcome" }).getByText("Denied by You").waitFor();
  await page.getByText("was not changed").waitFor();
  await page.getByText("Note: Once would be enough.").waitFor();
  assert.ok(!memory().includes("tried at most twice"));

  await page.keyboard.press("n");
  await page.keyboard.press("j");
  await page.getByRole("heading", { name: "Prices are integers of the smallest unit" }).waitFor();
  await page.getByText("Rounding happens once, when a cart is closed.").waitFor();
  await page.keyboard.press("a");
  const outcome = page.getByRole("region", { name: "Outcome" });
  await outcome.getByText("Approved by You").waitFor();
  await outcome.getByText("was changed as shown below").waitFor();
  assert.ok(memory().includes("- Rounding happens once, when a cart is closed."));
  await outcome.getByRole("link", { name: /event \d+ of the run/ }).click();
  await page.getByRole("option", { name: /approval.decided/, selected: true }).waitFor();
  await page.context().close();
});

test("approving a milestone marks it as done", async () => {
  const page = await open(`/inbox/${company.project}/${company.report}`);
  await page.getByText("Build it with tests: in_progress").waitFor();
  await page.getByRole("button", { name: /Approve/ }).click();
  await page.getByText("The milestone is done.").waitFor();
  const diff = page.getByRole("figure", { name: /^milestones of/ });
  await diff.locator(".diff-line.removed", { hasText: "Build it with tests: in_progress" }).waitFor();
  await diff.locator(".diff-line.added", { hasText: "Build it with tests: done" }).waitFor();
  await page.reload();
  await diff.locator(".diff-line.removed", { hasText: "Build it with tests: not done" }).waitFor();
  await diff.locator(".diff-line.added", { hasText: "Build it with tests: done" }).waitFor();
  const { tasks } = await desk.call("task.list", { workspace_dir: company.dir, project_id: company.project });
  const milestones = tasks.find(({ task_id }) => task_id === company.tasks.api).frontmatter.milestones;
  assert.equal(milestones.find(({ id }) => id === "ms_api_2").status, "done");
  await page.context().close();
});

test("approving an action carries it out", async () => {
  const page = await open(`/inbox/${company.project}/${company.action}`);
  await page.getByText("Risk: high").waitFor();
  await page.getByRole("button", { name: /Approve/ }).click();
  await page.getByText("1 executed, 0 already done").waitFor();
  const comments = await desk.call("comment.list", {
    workspace_dir: company.dir,
    project_id: company.project,
    target_run_id: company.told.run_id,
  });
  assert.ok(comments.some(({ body }) => body.includes("two o'clock at night")));
  await page.context().close();
});

test("a decision of somebody else leaves the inbox of everybody", async () => {
  const page = await open("/inbox");
  const row = page.getByRole("option", { name: /Run the whole suite/ });
  await row.waitFor();
  const [, , guidance] = company.deltas;
  await desk.call("inbox.resolve", {
    workspace_dir: company.dir,
    project_id: company.project,
    artifact_id: guidance,
    decision: "approved",
    actor_id: "human",
    actor_role: "human",
  });
  await row.waitFor({ state: "detached" });
  await page.getByText("Nothing to decide").first().waitFor();
  await page.context().close();
});

test("events of another client show in the monitor and in the run as they happen", async () => {
  const page = await open("/runs");
  await page
    .getByRole("option", { name: /run.ended/ })
    .first()
    .waitFor();
  const gate = join(desk.gateway.home, "gate");
  const run = await company.start(`echo first words; while [ ! -e '${gate}' ]; do sleep 0.05; done; echo last words`);
  await page.getByRole("listbox", { name: "Events" }).getByText("first words", { exact: true }).waitFor();
  await page.goto(`${desk.url}/w/${workspace}/runs/${company.project}/${run}`);
  await page.getByRole("option", { name: /provider.raw first words/ }).waitFor();
  await page.getByText("Chain verified").waitFor();
  await desk.call("comment.add", {
    workspace_dir: company.dir,
    project_id: company.project,
    target_run_id: run,
    author_id: "human",
    author_role: "human",
    body: "I watch this one",
  });
  await page.getByRole("option", { name: /comment.added/ }).waitFor();
  await page.getByLabel("Inspector").getByText("I watch this one").waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("option", { name: /run.stopped/ }).waitFor();
  await page.getByText("Chain verified").waitFor();
  await page.getByRole("heading", { name: /echo first words/ }).waitFor();
  await page.context().close();
});

test("what happened while the gateway was away is in the run when it is back", async () => {
  const run = await company.start("echo before the cut; sleep 600");
  const page = await open(`/runs/${company.project}/${run}`);
  await page.getByRole("option", { name: /provider.raw before the cut/ }).waitFor();
  await desk.gateway.kill();
  await page.getByText("The gateway cannot be reached").waitFor();
  await desk.gateway.start();
  const target = { target_run_id: run, author_id: "human", author_role: "human" };
  await desk.call("comment.add", {
    workspace_dir: company.dir,
    project_id: company.project,
    ...target,
    body: "Back again",
  });
  await page.getByRole("option", { name: /comment.added Back again/ }).waitFor();
  await page
    .getByText("Chain verified")
    .or(page.getByText(/Verified up to/))
    .waitFor();
  await company.stop();
  await page.context().close();
});

test("the slider goes back to any moment of a run, and events can be filtered", async () => {
  const page = await open(`/runs/${company.project}/${company.told.run_id}`);
  const events = page.getByRole("listbox", { name: "Events" });
  await events.getByRole("option", { name: /run.ended/ }).waitFor();
  await page.getByLabel("Replay position").fill("5");
  await page.getByText(/Event 5 of \d+/).waitFor();
  assert.equal(await events.getByRole("option").count(), 5);
  await page.getByLabel("Inspector").getByText("Running").waitFor();
  await page.getByLabel("Replay position").press("End");
  await page.getByLabel("Inspector").getByText("Ended").waitFor();
  await page.getByRole("button", { name: "Usage and budget" }).click();
  await events.getByText("usage.reported").waitFor();
  assert.equal(await events.getByText("run.started").count(), 0);
  await page.getByRole("button", { name: "All", exact: true }).click();
  await page.getByLabel("Filter events").fill("exit code 0");
  await until(async () => (await events.getByRole("option").count()) === 1);
  await page.context().close();
});

test("a log that was changed names its first bad event", async () => {
  const page = await open(`/runs/${company.project}/${company.forged.run_id}`);
  const broken = page.getByRole("button", { name: /Chain broken at event 3: event hash mismatch/ });
  await broken.click();
  await page.getByRole("option", { name: /run.executing Hash does not match/, selected: true }).waitFor();
  await page.context().close();
});

test("a launch is explained on request, then runs", async () => {
  const page = await open("/sessions");
  await page.getByRole("button", { name: "Start run", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Start a run" });
  await dialog.getByLabel("Project").selectOption({ label: "Checkout rewrite" });
  await dialog.getByLabel("Shell command").fill("echo made by hand");
  assert.ok(await dialog.getByRole("button", { name: "Start run", exact: true }).isEnabled());
  await dialog.getByRole("button", { name: "Preview" }).click();
  await dialog.getByText("Starts immediately.").waitFor();
  await dialog.getByText("/bin/sh -c echo made by hand").waitFor();
  await dialog.getByRole("button", { name: "Start run", exact: true }).click();
  await page
    .getByRole("option", { name: /made by hand/ })
    .first()
    .waitFor();
  await page.getByRole("option", { name: /run.ended/ }).waitFor();
  await page.context().close();
});

test("sessions that wait show their place and can be stopped", async () => {
  const runs = [];
  for (let i = 0; i < 3; i += 1) runs.push(await company.start("exec sleep 600"));
  const page = await open("/sessions");
  const waits = page.getByRole("row", { name: /Queued, position 1/ });
  await waits.waitFor();
  assert.equal(await waits.count(), 1);
  await waits.getByRole("button", { name: "Stop" }).click();
  await waits.waitFor({ state: "detached" });
  for (const run of runs) await desk.call("session.stop", { session_ref: `local_${run}`, workspace_dir: company.dir });
  await page.context().close();
});

test("a task is planned anew by dragging, by keys and with a way back", async () => {
  const page = await open(`/plan/${company.project}`);
  const bar = page.getByRole("button", { name: /^Load test at twice the peak,/ });
  const start = async () => {
    const { tasks } = await desk.call("task.list", { workspace_dir: company.dir, project_id: company.project });
    return Date.parse(tasks.find(({ task_id }) => task_id === company.tasks.load).frontmatter.schedule.planned_start);
  };
  const before = await start();
  const body = bar.locator(".gantt-body");
  await body.hover({ position: { x: 20, y: 8 } });
  const planned = await bar.getAttribute("aria-label");
  const box = await body.boundingBox();
  await page.mouse.down();
  await page.mouse.move(box.x + 20 + 60, box.y + 8, { steps: 6 });
  await page.mouse.up();
  await until(async () => (await start()) - before === 2 * 86_400_000, "the drag did not move the task by two days");
  await page.getByRole("button", { name: "Undo" }).click();
  await until(async () => (await start()) === before, "undo did not bring it back");
  await page.getByRole("button", { name: planned, exact: true }).focus();
  await page.keyboard.press("ArrowRight");
  await until(async () => (await start()) - before === 86_400_000, "the key did not move the task by a day");
  await page.context().close();
});

test("recommendations are noted for the tasks that stay chosen", async () => {
  const page = await open(`/plan/${company.project}`);
  await page.getByRole("button", { name: "Suggest assignments" }).click();
  await page.getByRole("checkbox", { name: "Remove the old checkout" }).uncheck();
  await page.getByRole("button", { name: /Apply to \d+ tasks/ }).click();
  await page.getByText(/Applied to \d+ tasks/).waitFor();
  const { tasks } = await desk.call("task.list", { workspace_dir: company.dir, project_id: company.project });
  const plan = (id) => tasks.find(({ task_id }) => task_id === id).frontmatter.execution_plan;
  assert.equal(plan(company.tasks.load).applied_by, "human");
  assert.equal(plan(company.tasks.cleanup) ?? undefined, undefined);
  await page.context().close();
});

test("messages of others come by themselves, and a draft outlives the page", async () => {
  const path = `/chat/company/${company.dm}`;
  const page = await open(path);
  await page.getByText("May the load test run at night?").waitFor();
  await page.getByLabel("Message", { exact: true }).fill("Yes, but only");
  await page.reload();
  await page.getByText("May the load test run at night?").waitFor();
  assert.equal(await page.getByLabel("Message", { exact: true }).inputValue(), "Yes, but only");
  await page.getByLabel("Message", { exact: true }).fill("Yes, but only against *staging*.");
  await page.keyboard.press("Enter");
  await page.getByRole("list", { name: "Messages" }).getByText("staging").waitFor();
  assert.equal(await page.getByLabel("Message", { exact: true }).inputValue(), "");
  await desk.call("conversation.message.send", {
    workspace_dir: company.dir,
    scope: "workspace",
    conversation_id: company.dm,
    author_id: "human_ceo",
    author_role: "human",
    body: "Agreed with the others.",
  });
  await page.getByText("Agreed with the others.").waitFor();
  await page.context().close();
});

test("usage keeps what was reported apart from what was estimated, with a table behind the chart", async () => {
  const page = await open("/usage");
  await page.getByText("Tokens by day").waitFor();
  assert.ok((await page.locator(".chart-bar.estimated").count()) > 1);
  await page.getByRole("group", { name: /Tokens by day/ }).focus();
  await page.keyboard.press("ArrowLeft");
  await page.getByText(/reported, .* estimated, \d+ runs/).waitFor();
  await page.getByText("Show as table").nth(1).click();
  await page
    .getByRole("region", { name: "By provider as a table" })
    .getByRole("row", { name: /claude/ })
    .waitFor();
  await page.getByRole("button", { name: "Cost" }).click();
  await page.getByText("Cost by day (USD)").waitFor();
  await page.context().close();
});

test("an agent has a profile, and can be written to", async () => {
  const page = await open("/people");
  await page.getByRole("link", { name: "Backend Worker 1" }).first().click();
  await page.getByText("Completed", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Message", exact: true }).click();
  await page.getByText("No messages yet").waitFor();
  await page.context().close();
});

test("a dry run of the heartbeat tells whom it would wake and why, and writes nothing", async () => {
  const always = { enabled: true, quiet_hours_start_hour: 0, quiet_hours_end_hour: 0 };
  await desk.call("heartbeat.config.set", { workspace_dir: company.dir, ...always });
  const page = await open("/heartbeat");
  await page.getByText("The heartbeat has not run yet").waitFor();
  await page.keyboard.press("t");
  await page.getByRole("heading", { name: /Would wake/ }).waitFor();
  await page
    .getByText(/\d+ new events?/)
    .first()
    .waitFor();
  await page
    .getByRole("row", { name: /Would be woken/ })
    .first()
    .waitFor();
  const { state } = await desk.call("heartbeat.status", { workspace_dir: company.dir });
  assert.equal(state.stats?.ticks_total ?? 0, 0);
  await page.getByLabel("Maximum workers per heartbeat").fill("3");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Heartbeat settings saved").waitFor();
  assert.equal((await desk.call("heartbeat.config.get", { workspace_dir: company.dir })).top_k_workers, 3);
  await page.context().close();
});

test("the palette finds documents, messages, tasks and events of the company", async () => {
  const page = await open("/home");
  await page.getByRole("main").getByRole("heading", { name: "Projects" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find anything" }).fill("load te");
  await page.getByRole("option", { name: /Load test at twice the peak.*Task/ }).click();
  await page.getByRole("heading", { name: "Load test at twice the peak" }).waitFor();
  await page.context().close();
});

test("no page complained, and none asked another host", () => assert.deepEqual(desk.problems, []));
