// From what a client wants to tasks of workers, in a browser.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openDesk } from "./desk.mjs";

let desk;
let workspace;
let dir;
before(async () => {
  desk = await openDesk();
  dir = join(desk.gateway.home, "agency");
  await desk.call("workspace.bootstrap.enterprise", {
    workspace_dir: dir,
    company_name: "Agency",
    project_name: "House",
    departments: ["frontend", "backend"],
    workers_per_dept: 2,
  });
  const { workspaces } = await desk.call("workspace/list");
  workspace = workspaces.find((one) => one.dir === dir).id;
});
after(() => desk?.close());

const at = (path) => `${desk.url}/w/${workspace}${path}`;
const step = (page, title) => page.getByRole("list", { name: "Steps" }).locator(".step", { hasText: title });

/** Writes down a wish; afterwards its steps are on screen. */
async function takeIn(page, name, wish) {
  await page.getByRole("button", { name: "New intake" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New intake" });
  await dialog.getByLabel("Project").fill(name);
  await dialog.getByLabel("What the client wants").fill(wish);
  await dialog.getByRole("button", { name: "Plan it" }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
}

test("an empty company says what a pipeline is for", async () => {
  const page = await desk.window();
  await page.goto(at("/plans"));
  await page.getByRole("link", { name: "Pipelines" }).click();
  await page.getByText("No client asked for anything yet").waitFor();
  await page.context().close();
});

test("what a client wants is kept while it is typed", async () => {
  const page = await desk.window();
  await page.goto(at("/pipelines"));
  await page.getByRole("button", { name: "New intake" }).first().click();
  await page.getByLabel("What the client wants").fill("A shop that");
  await page.reload();
  await page.getByLabel("What the client wants").waitFor();
  assert.equal(await page.getByLabel("What the client wants").inputValue(), "A shop that");
  await page.context().close();
});

test("a wish becomes plans, a person approves them, workers get tasks", async () => {
  const page = await desk.window();
  await page.goto(at("/pipelines"));
  await takeIn(page, "Shop", "A shop that sells **tea**.");
  await page.getByText("Waits for your decision").waitFor();
  await step(page, "Plans of the departments").getByRole("link", { name: "Backend", exact: true }).waitFor();
  await page.getByText("They are given once you approve the plan.").waitFor();
  await page.getByRole("button", { name: "Approve the plan" }).click();
  await step(page, "Your decision").getByText("by You").waitFor();
  await page.locator(".page-state").getByText("Tasks can be given").waitFor();

  const backend = page.getByRole("region", { name: "Backend" });
  await backend.getByRole("checkbox", { name: "Backend Worker 2" }).uncheck();
  await backend.getByRole("button", { name: "Give 1 task" }).click();
  await backend.getByRole("link", { name: "Backend Worker 1" }).waitFor();
  assert.ok(await backend.getByRole("button", { name: "Give 0 tasks" }).isDisabled());
  await page.getByRole("region", { name: "Frontend" }).getByRole("button", { name: "Give 2 tasks" }).click();
  await page.locator(".page-state").getByText("At work").waitFor();

  const project_id = new URL(page.url()).pathname.split("/").at(-1);
  const { tasks } = await desk.call("task.list", { workspace_dir: dir, project_id });
  const titles = tasks.map(({ frontmatter }) => frontmatter.title).sort();
  assert.deepEqual(titles, [
    "Backend: Director Planning and Task Contract",
    "Backend: Execution Task for Backend Worker 1",
    "Frontend: Director Planning and Task Contract",
    "Frontend: Execution Task for Frontend Worker 1",
    "Frontend: Execution Task for Frontend Worker 2",
  ]);
  await step(page, "What the client wants").getByRole("link", { name: "The brief" }).click();
  await page.getByText("A shop that sells").waitFor();
  await page.context().close();
});

test("the inbox shows the plan it asks about, and a denial closes the gate", async () => {
  const page = await desk.window();
  await page.goto(at("/pipelines"));
  await takeIn(page, "Casino", "Games for money.");
  await page.getByRole("link", { name: "decide in the inbox" }).click();
  await page.getByText("Approving opens the gate for").waitFor();
  await page.getByText("Worker execution tasks are blocked until approval.").waitFor();
  await page.getByLabel("Note for the record").fill("Not us.");
  await page.getByRole("button", { name: /Deny/ }).click();
  await page.getByText("Nobody gets a task for this plan.").waitFor();
  await page.getByRole("main").getByRole("link", { name: "Casino" }).last().click();
  await page.getByText("The plan was denied, so nobody gets a task for it.").waitFor();
  await page.getByText("Not us.").waitFor();
  await page.context().close();
});

test("all intakes are listed with where they stand", async () => {
  const page = await desk.window();
  await page.goto(at("/pipelines"));
  await page.getByRole("link", { name: /Shop.*At work.*3 tasks for workers/ }).waitFor();
  await page.getByRole("link", { name: /Casino.*Denied/ }).waitFor();
  await page.context().close();
});

test("a project without an intake says so", async () => {
  const page = await desk.window();
  const { projects } = await desk.call("workspace.projects.list", { workspace_dir: dir });
  await page.goto(at(`/pipelines/${projects.find(({ name }) => name === "House").project_id}`));
  await page.getByText("This project did not begin with an intake").waitFor();
  await page.context().close();
});

test("no page complained, and none asked another host", () => assert.deepEqual(desk.problems, []));
