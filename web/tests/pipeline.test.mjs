// Client intakes in a browser, from the request to the tasks of workers.

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

/** Creates a client intake and waits for its page. */
async function takeIn(page, name, wish) {
  await page.getByRole("button", { name: "New client intake" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New client intake" });
  await dialog.getByLabel("Project").fill(name);
  await dialog.getByLabel("Client request").fill(wish);
  await dialog.getByRole("button", { name: "Create plans" }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
}

test("an empty company says what a pipeline is for", async () => {
  const page = await desk.window();
  await page.goto(at("/live"));
  await page.getByRole("link", { name: "Client intakes" }).click();
  await page.getByText("No client intakes yet").waitFor();
  await page.context().close();
});

test("what a client wants is kept while it is typed", async () => {
  const page = await desk.window();
  await page.goto(at("/pipelines"));
  await page.getByRole("button", { name: "New client intake" }).first().click();
  await page.getByLabel("Client request").fill("A shop that");
  await page.reload();
  await page.getByLabel("Client request").waitFor();
  assert.equal(await page.getByLabel("Client request").inputValue(), "A shop that");
  await page.context().close();
});

test("a wish becomes plans, a person approves them, workers get tasks", async () => {
  const page = await desk.window();
  await page.goto(at("/pipelines"));
  await takeIn(page, "Shop", "A shop that sells **tea**.");
  await page.getByText("Needs approval").waitFor();
  await step(page, "Department plans").getByRole("link", { name: "Backend", exact: true }).waitFor();
  await page.getByText("Tasks can be assigned after you approve the plan.").waitFor();
  await page.getByRole("button", { name: "Approve plan" }).click();
  await step(page, "Your decision").getByText("by You").waitFor();
  await page.locator(".page-state").getByText("Ready to assign").waitFor();

  const backend = page.getByRole("region", { name: "Backend" });
  await backend.getByRole("checkbox", { name: "Backend Worker 2" }).uncheck();
  await backend.getByRole("button", { name: "Assign 1 task" }).click();
  await backend.getByRole("link", { name: "Backend Worker 1" }).waitFor();
  assert.ok(await backend.getByRole("button", { name: "Assign 0 tasks" }).isDisabled());
  await page.getByRole("region", { name: "Frontend" }).getByRole("button", { name: "Assign 2 tasks" }).click();
  await page.locator(".page-state").getByText("In progress").waitFor();

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
  await step(page, "Client request").getByRole("link", { name: "The brief" }).click();
  await page.getByText("A shop that sells").waitFor();
  await page.context().close();
});

test("the inbox shows the plan it asks about, and a denial closes the gate", async () => {
  const page = await desk.window();
  await page.goto(at("/pipelines"));
  await takeIn(page, "Casino", "Games for money.");
  await page.getByRole("link", { name: "decide in the inbox" }).click();
  await page.getByText("to let its departments assign tasks").waitFor();
  await page.getByText("Worker execution tasks are blocked until approval.").waitFor();
  await page.getByLabel("Note").fill("Not us.");
  await page.getByRole("button", { name: /Deny/ }).click();
  await page.getByText("No tasks are assigned for this plan.").waitFor();
  await page.getByRole("main").getByRole("link", { name: "Casino" }).last().click();
  await page.getByText("The plan was denied. No tasks are assigned.").waitFor();
  await page.getByText("Not us.").waitFor();
  await page.context().close();
});

test("all intakes are listed with where they stand", async () => {
  const page = await desk.window();
  await page.goto(at("/pipelines"));
  await page.getByRole("link", { name: /Shop.*In progress.*3 tasks for workers/ }).waitFor();
  await page.getByRole("link", { name: /Casino.*Denied/ }).waitFor();
  await page.context().close();
});

test("a project without an intake says so", async () => {
  const page = await desk.window();
  const { projects } = await desk.call("workspace.projects.list", { workspace_dir: dir });
  await page.goto(at(`/pipelines/${projects.find(({ name }) => name === "House").project_id}`));
  await page.getByText("This project has no client intake").waitFor();
  await page.context().close();
});

test("no page complained, and none asked another host", () => assert.deepEqual(desk.problems, []));
