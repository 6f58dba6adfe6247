// A company folder from another computer: it is read-only until a person trusts it.

import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openDesk, settled, until } from "./desk.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
const MEANING =
  "This folder was not created on this computer. You can read it. Accord does not run or write anything in it until you trust it.";

let desk;
let origin;
let project;
let worker;
before(async () => {
  desk = await openDesk();
  origin = join(desk.gateway.home, "origin");
  const made = await desk.call("workspace.bootstrap.enterprise", {
    workspace_dir: origin,
    company_name: "Northwind",
    project_name: "Poster",
    workers_per_dept: 1,
    departments: ["frontend"],
  });
  project = made.project_id;
  worker = made.departments[0].worker_agent_ids[0];
});
after(() => desk?.close());

/** Copies the company to a new path with these programs in its machine file. */
function clone(name, programs = ["codex: /opt/elsewhere/bin/codex"]) {
  const dir = join(desk.gateway.home, name);
  cpSync(origin, dir, { recursive: true });
  const machine = join(dir, ".local/machine.yaml");
  const named =
    programs.length > 0 ? ["provider_bins:", ...programs.map((line) => `  ${line}`)] : ["provider_bins: {}"];
  writeFileSync(machine, readFileSync(machine, "utf8").replace(/^provider_bins:.*$/m, named.join("\n")));
  return dir;
}

async function open(dir, path, options, url = desk.url) {
  const page = await desk.window(options);
  await page.goto(`${url}/c/${encodeURIComponent(dir)}${path}`);
  return page;
}

/** Opens another section without reloading the page. */
const go = (page, name) => page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name }).click();

const banner = (page) => page.getByRole("region", { name: "Folder not trusted" });
const question = (page) => page.getByRole("dialog", { name: "Trust this folder?" });
const isTrusted = async (dir) => (await desk.call("workspace.trust.get", { workspace_dir: dir })).trusted;
const projectsOf = async (dir) => {
  const { projects } = await desk.call("workspace.projects.list", { workspace_dir: dir });
  return projects.map(({ name }) => name);
};

/** Returns every file of a folder with its text. */
function filesOf(dir) {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => join(parentPath, name)).map((file) => [file, readFileSync(file, "utf8")]),
  );
}

async function openQuestion(page) {
  await banner(page).getByRole("button", { name: "Trust this folder…" }).click();
  await question(page).getByText("Trusting this folder allows").waitFor();
}

const hasFocus = (button) => until(() => button.evaluate((element) => element === document.activeElement), "no focus");

/** Returns all findings of axe in these elements. */
async function findings(page, ...selectors) {
  await settled(page);
  await page.evaluate(axe);
  const { violations } = await page.evaluate((include) => window.axe.run({ include }), selectors);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`);
}

test("a folder from elsewhere says so, shows its programs, and is written to once it is trusted", async () => {
  const dir = clone("cloned");
  const page = await open(dir, "/overview");
  await banner(page).getByText(MEANING).waitFor();
  await openQuestion(page);
  const dialog = question(page);
  await dialog.getByText(dir, { exact: true }).waitFor();
  const programs = dialog.getByRole("region", { name: "Programs" });
  assert.equal((await programs.innerText()).replace(/\s+/g, " ").trim(), "codex /opt/elsewhere/bin/codex");
  await hasFocus(dialog.getByRole("button", { name: "Cancel" }));

  // Trusting the folder refetches everything; no notification reports this change.
  const file = join(dir, "work/projects", project, "project.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("Poster", "Poster for the fair"));
  await dialog.getByRole("button", { name: "Trust folder" }).click();
  await dialog.waitFor({ state: "detached" });
  await banner(page).waitFor({ state: "detached" });
  await page
    .getByRole("main")
    .getByRole("link", { name: /Poster for the fair/ })
    .waitFor();
  assert.equal(await isTrusted(dir), true);

  await page.getByRole("button", { name: "New project" }).click();
  await page.getByLabel("Name").fill("Leaflet");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "Leaflet", level: 1 }).waitFor();
  assert.ok((await projectsOf(dir)).includes("Leaflet"));
  await page.context().close();
});

test("Cancel and Escape change nothing", async () => {
  const dir = clone("left-alone");
  const page = await open(dir, "/overview");
  await banner(page).waitFor();
  const before = filesOf(dir);
  await openQuestion(page);
  await question(page).getByRole("button", { name: "Cancel" }).click();
  await question(page).waitFor({ state: "detached" });
  await openQuestion(page);
  await page.keyboard.press("Escape");
  await question(page).waitFor({ state: "detached" });
  // Cancel has the focus, so Enter cancels.
  await openQuestion(page);
  await hasFocus(question(page).getByRole("button", { name: "Cancel" }));
  await page.keyboard.press("Enter");
  await question(page).waitFor({ state: "detached" });
  // The palette opens the same dialog.
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find anything" }).fill("trust");
  await page.getByRole("option", { name: /^Trust this folder…/ }).click();
  await question(page).getByText("Trusting this folder allows").waitFor();
  await hasFocus(question(page).getByRole("button", { name: "Cancel" }));
  await page.keyboard.press("Escape");
  await question(page).waitFor({ state: "detached" });
  await banner(page).waitFor();
  assert.equal(await isTrusted(dir), false);
  assert.deepEqual(filesOf(dir), before);
  await page.context().close();
});

test("an action that is refused asks for trust, and works after that", async () => {
  const dir = clone("refusing");
  const page = await open(dir, "/overview");
  await banner(page).waitFor();
  const create = async (name) => {
    await page.getByRole("button", { name: "New project" }).click();
    await page.getByLabel("Name").fill(name);
    await page.getByRole("button", { name: "Create" }).click();
  };
  await create("Leaflet");
  const refused = "Creating the project failed because this folder is not trusted on this computer.";
  await question(page).getByText(refused).waitFor();
  await question(page).getByText("/opt/elsewhere/bin/codex").waitFor();
  assert.equal(await page.locator(".toast").count(), 0);
  await question(page).getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual(await projectsOf(dir), ["Poster"]);

  await create("Leaflet");
  await question(page).getByText(refused).waitFor();
  await question(page).getByRole("button", { name: "Trust folder" }).click();
  await question(page).waitFor({ state: "detached" });
  await banner(page).waitFor({ state: "detached" });
  await create("Leaflet");
  await page.getByRole("heading", { name: "Leaflet", level: 1 }).waitFor();
  await page.context().close();
});

test("a dialog whose action is refused stays behind the question, with what was typed", async () => {
  const dir = clone("no-jobs");
  const page = await open(dir, "/jobs?new");
  const dialog = page.getByRole("dialog", { name: "New job" });
  const goal = dialog.getByLabel("Goal");
  const jobs = () => desk.call("job.list", { workspace_dir: dir, project_id: project });
  await goal.fill("Draw the poster");
  await dialog.getByRole("button", { name: "Start job" }).click();
  await question(page).getByText(dir, { exact: true }).waitFor();
  await question(page).getByText("Trusting this folder allows").waitFor();
  await page.keyboard.press("Escape");
  await question(page).waitFor({ state: "detached" });
  assert.equal(await goal.inputValue(), "Draw the poster");
  assert.deepEqual(await jobs(), []);

  await dialog.getByRole("button", { name: "Start job" }).click();
  await question(page).getByRole("button", { name: "Trust folder" }).click();
  await question(page).waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Start job" }).click();
  await page.getByRole("heading", { name: "Draw the poster", level: 1 }).waitFor();
  assert.equal((await jobs()).length, 1);
  await page.context().close();
});

test("trust is withdrawn in the settings, after a question", async () => {
  const dir = clone("withdrawn", []);
  const page = await open(dir, "/overview");
  await openQuestion(page);
  await question(page).getByText("configures no programs").waitFor();
  await question(page).getByRole("button", { name: "Trust folder" }).click();
  // The open dialog hides the banner from the accessibility tree.
  await question(page).waitFor({ state: "detached" });
  await banner(page).waitFor({ state: "detached" });
  const run = await desk.call("run.create", {
    workspace_dir: dir,
    project_id: project,
    agent_id: worker,
    provider: "cmd",
  });
  const session = { workspace_dir: dir, session_ref: `local_${run.run_id}` };
  await desk.call("session.launch", {
    workspace_dir: dir,
    project_id: project,
    run_id: run.run_id,
    argv: ["/bin/sh", "-c", "exec sleep 600"],
    actor_id: "human",
    actor_role: "human",
  });

  await go(page, "Settings");
  await page.getByText("Trusted on this computer", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Withdraw trust…" }).click();
  const dialog = page.getByRole("dialog", { name: "Withdraw trust?" });
  await dialog.getByText("Active runs: 1.").waitFor();
  await hasFocus(dialog.getByRole("button", { name: "Cancel" }));
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(await isTrusted(dir), true);
  await desk.call("session.stop", session);
  await desk.call("session.collect", session);

  await page.getByRole("button", { name: "Withdraw trust…" }).click();
  await dialog.getByRole("button", { name: "Withdraw trust", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("Not trusted on this computer").waitFor();
  await page.getByRole("button", { name: "Trust this folder…" }).waitFor();
  assert.equal(await isTrusted(dir), false);
  await go(page, "Home");
  await banner(page).getByText(MEANING).waitFor();
  await page.context().close();
});

test("a company that was made here has no banner", async () => {
  const page = await open(origin, "/overview");
  await page
    .getByRole("main")
    .getByRole("link", { name: /Poster/ })
    .waitFor();
  await go(page, "Settings");
  await page.getByText("Trusted on this computer", { exact: true }).waitFor();
  await go(page, "Home");
  await page
    .getByRole("main")
    .getByRole("link", { name: /Poster/ })
    .waitFor();
  assert.equal(await banner(page).count(), 0);
  await page.context().close();
});

test("the trust of a folder is asked for once, not by each page", async () => {
  const dir = clone("asked-once");
  const page = await desk.window();
  await page.clock.install();
  const asked = [];
  page.on("websocket", (socket) =>
    socket.on("framesent", ({ payload }) => {
      const { method, params } = JSON.parse(payload);
      if (method === "workspace.trust.get") asked.push(params.workspace_dir);
    }),
  );
  await page.goto(`${desk.url}/c/${encodeURIComponent(dir)}/overview`);
  await banner(page).waitFor();
  for (const name of ["Runs", /^Inbox/, "Plan", "Threads", "Usage", "Settings", "People", "Home"]) {
    // Waits until other reads of the folder are stale.
    await page.clock.runFor(5_000);
    await go(page, name);
    if (name === "Settings") await page.getByText("Not trusted on this computer").waitFor();
    else if (name === "Threads") await page.getByText("No thread selected").waitFor();
    else await banner(page).waitFor();
  }
  assert.deepEqual(asked, [dir]);
  // The dialog shows the current contents of the folder.
  await openQuestion(page);
  assert.deepEqual(asked, [dir, dir]);
  await page.context().close();
});

test("what the folder says is shown as it is: nothing hides in a path, and a newer program is seen", async () => {
  const dir = clone("spoofed", ['codex: "/usr/bin/\\u202Exedoc<b>"']);
  const page = await open(dir, "/overview");
  await openQuestion(page);
  await question(page).getByText("/usr/bin/\\u{202e}xedoc<b>", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  const machine = join(dir, ".local/machine.yaml");
  writeFileSync(machine, readFileSync(machine, "utf8").replace(/^ {2}codex: .*$/m, "  codex: /opt/newer/codex"));
  await openQuestion(page);
  await question(page).getByText("/opt/newer/codex", { exact: true }).waitFor();
  await page.context().close();
});

test("a failure is told in the dialog, which stays", async () => {
  const dir = clone("not-mine-to-trust");
  await desk.call("workspace.open", { workspace_dir: dir });
  const made = desk.gateway.command("token", "create", "--role", "human", "--scope", "read,write", "--json");
  const { secret, token } = JSON.parse(made);
  const page = await open(dir, "/overview", {}, await desk.pageFor(secret ?? token));
  await openQuestion(page);
  await question(page).getByRole("button", { name: "Trust folder" }).click();
  const alert = question(page).getByRole("alert");
  await alert.waitFor();
  assert.match(await alert.innerText(), /exec/);
  await question(page).getByRole("button", { name: "Cancel" }).click();
  await banner(page).waitFor();
  assert.equal(await isTrusted(dir), false);
  await page.context().close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing in the banner and the dialogs in ${colorScheme}`, async () => {
    const dir = clone(`looked-at-${colorScheme}`);
    // Bypasses the Content-Security-Policy, which forbids evaluating axe in the page.
    const page = await open(dir, "/overview", { bypassCSP: true, colorScheme });
    await banner(page).waitFor();
    assert.deepEqual(await findings(page, ".trust-banner"), []);
    await openQuestion(page);
    assert.deepEqual(await findings(page, ".dialog"), []);
    await question(page).getByRole("button", { name: "Trust folder" }).click();
    await question(page).waitFor({ state: "detached" });
    await go(page, "Settings");
    await page.getByRole("button", { name: "Withdraw trust…" }).click();
    await page.getByRole("dialog", { name: "Withdraw trust?" }).waitFor();
    assert.deepEqual(await findings(page, ".dialog"), []);
    await page.context().close();
  });
}

test("on a phone the list and the page have the banner, and the dialog fits", async () => {
  const dir = clone(
    "phone",
    Array.from({ length: 40 }, (_, i) => `worker_${i}: /opt/elsewhere/${"long/".repeat(12)}worker_${i}`),
  );
  const page = await open(dir, "/home", { ...PHONE, bypassCSP: true });
  const isWithin = async (locator) => {
    const { x, y, width, height } = await locator.boundingBox();
    return x >= 0 && y >= 0 && x + width <= PHONE.viewport.width && y + height <= PHONE.viewport.height;
  };
  await banner(page).waitFor();
  await page.getByRole("link", { name: "Overview" }).tap();
  await page.getByRole("button", { name: "New project" }).waitFor();
  assert.ok(await isWithin(banner(page)));
  assert.ok(await isWithin(banner(page).getByRole("button")));
  await openQuestion(page);
  assert.deepEqual(await findings(page, ".dialog"), []);
  assert.ok(await isWithin(question(page)));
  const trust = question(page).getByRole("button", { name: "Trust folder" });
  await trust.scrollIntoViewIfNeeded();
  assert.ok(await isWithin(trust));
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.viewport.width);
  await trust.tap();
  // The open dialog hides the banner from the accessibility tree.
  await question(page).waitFor({ state: "detached" });
  await banner(page).waitFor({ state: "detached" });
  assert.equal(await isTrusted(dir), true);
  await page.context().close();
});

test("no page complained", () => assert.deepEqual(desk.problems, []));
