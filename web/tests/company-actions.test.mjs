// Creating and changing objects of a company in a browser: projects, repositories, jobs, channels, comments, files.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openDesk, until } from "./desk.mjs";

let desk;
let dir;
let project;
let workspace;
before(async () => {
  desk = await openDesk();
  dir = join(desk.gateway.home, "studio");
  const made = await desk.call("workspace.bootstrap.enterprise", {
    workspace_dir: dir,
    company_name: "Studio",
    project_name: "Poster",
    departments: ["frontend"],
  });
  project = made.project_id;
  const { workspaces } = await desk.call("workspace/list");
  workspace = workspaces.find((one) => one.dir === dir).id;
});
after(() => desk?.close());

async function open(path) {
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace}${path}`);
  return page;
}

test("a new project is made and opened", async () => {
  const page = await open("/overview");
  await page.getByRole("button", { name: "New project" }).click();
  await page.getByLabel("Name").fill("Website");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Website", level: 1 }).waitFor();
  await page.getByText("No tasks yet").waitFor();
  await page.context().close();
});

test("a repository is linked by its folder, and a folder that is none is refused", async () => {
  const repository = join(desk.gateway.home, "poster-site");
  mkdirSync(repository);
  const page = await open(`/home/${project}`);
  await page.getByText("None. Workers start in an empty folder.").waitFor();
  await page.getByRole("button", { name: "Link a repository" }).click();
  await page.getByLabel("Repository folder").fill("~/poster-site");
  await page.getByText("~ is not supported here").waitFor();
  assert.ok(await page.getByRole("dialog").getByRole("button", { name: "Link", exact: true }).isDisabled());
  await page.getByLabel("Repository folder").fill(repository);
  await page.keyboard.press("Enter");
  await page.getByText(/Linking the repository failed/).waitFor();
  execFileSync("git", ["init", "--quiet", repository]);
  await page.getByRole("dialog").getByRole("button", { name: "Link", exact: true }).click();
  await page.getByLabel("Inspector").getByText("poster-site").waitFor();
  const { projects } = await desk.call("workspace.projects.list", { workspace_dir: dir });
  const row = projects.find(({ project_id }) => project_id === project);
  assert.deepEqual(
    row.repo_links.map(({ repo_id }) => repo_id),
    ["poster-site"],
  );
  await page.context().close();
});

test("a share pack of a project tells where it is", async () => {
  const page = await open(`/home/${project}`);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Create share pack" }).click();
  await page.getByText(/\/bundle with 0 documents, 0 runs\. Secrets are removed\./).waitFor();
  await page.context().close();
});

test("a job that cannot begin says why, and what was typed for it is kept until it is given", async () => {
  const page = await open("/jobs");
  await page.getByText("No jobs yet").waitFor();
  await page.getByRole("button", { name: "New job" }).first().click();
  await page.getByLabel("Goal").fill("Draw the poster");
  await page.reload();
  await page.getByLabel("Goal").waitFor();
  assert.equal(await page.getByLabel("Goal").inputValue(), "Draw the poster");
  await page.getByRole("dialog").getByLabel("Project").selectOption({ label: "Poster" });
  await page.getByRole("button", { name: "Start job" }).click();
  await page.waitForURL("**/jobs/*/*");
  await page.getByRole("heading", { name: /Result/ }).waitFor();
  await page.getByText("Blocked").first().waitFor();
  await page.getByRole("link", { name: "Jobs", exact: true }).first().click();
  await page.getByRole("cell", { name: "Poster", exact: true }).waitFor();
  await page.getByRole("button", { name: "New job" }).click();
  assert.equal(await page.getByLabel("Goal").inputValue(), "");
  await page.context().close();
});

test("asking what a launch would do leaves no run behind, however often one asks", async () => {
  const runs = () => desk.call("run.list", { workspace_dir: dir });
  const before = (await runs()).length;
  const page = await open("/sessions");
  const dialog = page.getByRole("dialog", { name: "Start a run" });
  for (const command of ["echo one", "echo two"]) {
    await page.getByRole("button", { name: "Start run", exact: true }).first().click();
    await dialog.getByLabel("Shell command").fill(command);
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByText(`/bin/sh -c ${command}`).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  assert.equal((await runs()).length, before);
  await page.context().close();
});

test("a channel is made, and a message in it is there for everybody", async () => {
  const page = await open("/chat");
  await page.getByRole("button", { name: "New conversation" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New conversation" });
  await dialog.getByRole("button", { name: "Channel" }).click();
  await dialog.getByLabel("Name").fill("Ink & paper");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Ink & paper" }).waitFor();
  await page.getByLabel("Message", { exact: true }).fill("Matte, please.");
  await page.keyboard.press("Enter");
  await page.getByRole("list", { name: "Messages" }).getByText("Matte, please.").waitFor();
  const other = await open(new URL(page.url()).pathname.replace(/^\/w\/[^/]+/, ""));
  await other.getByText("Matte, please.").waitFor();
  await other.context().close();
  await page.context().close();
});

test("an agent is commented on", async () => {
  const [agent] = await desk.call("workspace.agents.list", { workspace_dir: dir });
  const page = await open(`/people/${agent.agent_id}`);
  await page.getByText("created today").waitFor();
  await page.getByLabel("Comment", { exact: true }).fill("Good with colours");
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await page.locator(".comment", { hasText: "Good with colours" }).waitFor();
  await page.context().close();
});

test("a heartbeat that is off says so when it is beaten and when it is tried", async () => {
  const page = await open("/heartbeat");
  await page.getByRole("button", { name: "Dry run" }).first().click();
  await page.getByRole("heading", { name: /The heartbeat is off/ }).waitFor();
  await page.getByRole("heading", { name: /dry run/ }).waitFor();
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByRole("heading", { name: /dry run/ }).waitFor({ state: "detached" });
  await page.getByRole("heading", { name: /The heartbeat is off/ }).waitFor();
  assert.equal(await page.getByText(/Woken workers|minimum wake score/).count(), 0);
  await until(async () => (await desk.call("heartbeat.status", { workspace_dir: dir })).state.stats.ticks_total === 1);
  await page.context().close();
});

test("the heartbeat is off, and turning it on says first what may start, how often and under which cap", async () => {
  const config = () => desk.call("heartbeat.config.get", { workspace_dir: dir });
  assert.equal((await config()).enabled, false);
  const page = await open("/heartbeat");
  await page.getByText("Off", { exact: true }).first().waitFor();
  await page.getByLabel("Run automatically").check();
  await page.getByRole("button", { name: "Save" }).click();
  const dialog = page.getByRole("dialog", { name: "Turn on the heartbeat?" });
  await dialog.getByText(/may be started every 20 minutes.*there is no token cap/).waitFor();
  await dialog.getByText("Poster: none").waitFor();
  await dialog.getByText("Poster secretary (Codex)").waitFor();
  assert.equal((await config()).enabled, false);
  await dialog.getByRole("button", { name: "Keep it off" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal((await config()).enabled, false);
  assert.equal(await page.getByLabel("Run automatically").isChecked(), false);
  await page.getByLabel("Run automatically").check();
  await page.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("button", { name: "Turn on" }).click();
  await until(async () => (await config()).enabled);
  await desk.call("heartbeat.config.set", { workspace_dir: dir, enabled: false });
  await page.context().close();
});

test("a launch and a job of a project with a repository send it and the task", async () => {
  const tasks = join(dir, "work/projects", project, "tasks");
  mkdirSync(tasks, { recursive: true });
  const head = {
    schema_version: 1,
    type: "task",
    id: "task_hang",
    project_id: project,
    title: "Hang it",
    created_at: "2026-06-01T10:00:00.000Z",
    status: "draft",
    visibility: "team",
    milestones: [],
  };
  const body = "## Contract\n\n## Milestones\n";
  writeFileSync(join(tasks, "task_hang.md"), `---\n${JSON.stringify(head)}\n---\n\n${body}`);
  const sent = [];
  const page = await open("/jobs");
  page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => sent.push(String(payload))));
  await page.reload();
  await page.getByRole("button", { name: "New job" }).first().click();
  const job = page.getByRole("dialog", { name: "New job" });
  await job.getByLabel("Project").selectOption({ label: "Poster" });
  await job.getByLabel("Goal").fill("Hang the poster");
  assert.equal(await job.getByLabel("Repository").inputValue(), "poster-site");
  await job.getByLabel("Task").selectOption({ label: "Hang it" });
  await job.getByRole("button", { name: "Start job" }).click();
  await page.waitForURL("**/jobs/*/*");
  const submitted = sent.map((text) => JSON.parse(text)).find(({ method }) => method === "job.submit");
  assert.equal(submitted.params.repo_id, "poster-site");
  assert.equal(submitted.params.task_id, "task_hang");
  assert.equal(submitted.params.job.context_refs[0].value, `work/projects/${project}/tasks/task_hang.md`);
  await page.goto(`${desk.url}/w/${workspace}/sessions`);
  await page.getByRole("button", { name: "Start run", exact: true }).first().click();
  const launch = page.getByRole("dialog", { name: "Start a run" });
  await launch.getByLabel("Project").selectOption({ label: "Poster" });
  await launch.getByLabel("Worker").selectOption("codex");
  assert.equal(await launch.getByLabel("Repository").inputValue(), "poster-site");
  await launch.getByLabel("Task").selectOption({ label: "Hang it" });
  await launch.getByLabel("Prompt").fill("Hang the poster");
  await launch.getByRole("button", { name: "Preview" }).click();
  const asked = () => sent.map((text) => JSON.parse(text)).find(({ method }) => method === "session.launch");
  await until(async () => asked());
  assert.equal(asked().params.repo_id, "poster-site");
  assert.equal(asked().params.task_id, "task_hang");
  await page.context().close();
});

test("a plan is saved as a table", async () => {
  const page = await open(`/plan/${project}`);
  await page.getByRole("button", { name: "More", exact: true }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Export as CSV" }).click();
  const file = await download;
  assert.match(file.suggestedFilename(), /\.csv$/);
  assert.match(readFileSync(await file.path(), "utf8"), /^[a-z_]+,/i);
  await page.context().close();
});

test("a change of an AGENTS.md waits among the decisions of the company", async () => {
  await desk.call("thread/agents_doc/propose", {
    workspace_id: workspace,
    content: "# Studio\n\n- Sign your work.\n",
    rationale: "Nobody knows who drew what",
  });
  const agents = await desk.call("workspace.agents.list", { workspace_dir: dir });
  await desk.call("pipeline.client_intake.run", {
    workspace_dir: dir,
    project_name: "Calendar",
    ceo_actor_id: "human",
    executive_manager_agent_id: agents.find(({ role }) => role === "manager").agent_id,
    intake_text: "Twelve pictures.",
  });
  const page = await open("/inbox");
  await page.getByText("2 decisions waiting for you").waitFor();
  await page.getByRole("link", { name: "Inbox 2 waiting" }).waitFor();
  await page.getByRole("option", { name: /CEO Approval Required: Calendar/ }).waitFor();
  await page.getByRole("option", { name: /Nobody knows who drew what.*AGENTS.md · the owner/ }).click();
  await page.getByText("The owner proposes to create").waitFor();
  await page.getByRole("button", { name: /Approve/ }).click();
  await page.getByText("Approved by the owner").waitFor();
  await page.getByRole("link", { name: "Inbox 1 waiting" }).waitFor();
  await page.context().close();
});

test("the palette goes to projects, people and views from every section", async () => {
  const page = await open("/settings");
  await page.getByLabel("Theme").waitFor();
  const go = async (query, entry) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find anything" }).fill(query);
    await page.getByRole("option", { name: entry }).first().click();
  };
  await go("poster", /^Poster Project/);
  await page.getByRole("heading", { name: "Poster", level: 1 }).waitFor();
  await go("frontend dir", /^Frontend Director/);
  await page.getByRole("heading", { name: "Frontend Director", level: 1 }).waitFor();
  await go("client in", /^Client intakes/);
  await page.getByRole("heading", { name: "Client intakes", level: 1 }).waitFor();
  await go("new job", /^New job/);
  await page.getByRole("dialog", { name: "New job" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "New job" }).waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
  await page.context().close();
});

test("the settings tell which workers are there and check the folder", async () => {
  const page = await open("/settings");
  await page.getByRole("heading", { name: "Workers" }).waitFor();
  await page.getByRole("button", { name: "Check folder" }).click();
  await page.getByText(/\d+ passed, \d+ warnings?, \d+ failed/).waitFor();
  await page.getByRole("button", { name: "Rebuild index" }).click();
  await page.getByRole("button", { name: "Rebuilding…" }).waitFor({ state: "detached" });
  await page.getByText(/\d+ passed, \d+ warnings?, \d+ failed/).waitFor();
  await page.context().close();
});

test("no page complained, and none asked another host", () => assert.deepEqual(desk.problems, []));
