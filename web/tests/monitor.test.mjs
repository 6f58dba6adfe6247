// The activity of a company with many events.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openDesk, until } from "./desk.mjs";

const COMMENTS = 700;

let desk;
let workspace;
let dir;
before(async () => {
  desk = await openDesk();
  dir = join(desk.gateway.home, "busy");
  const { project_id } = await desk.call("workspace.bootstrap.enterprise", {
    workspace_dir: dir,
    company_name: "Busy",
    project_name: "Talk",
  });
  const [agent] = await desk.call("workspace.agents.list", { workspace_dir: dir });
  const { run_id } = await desk.call("run.create", {
    workspace_dir: dir,
    project_id,
    agent_id: agent.agent_id,
    provider: "cmd",
  });
  const comment = (number) =>
    desk.call("comment.add", {
      workspace_dir: dir,
      project_id,
      target_run_id: run_id,
      author_id: "human",
      author_role: "human",
      body: `remark ${number}`,
    });
  // In batches of ten, so that the first events are the oldest.
  for (let i = 0; i < COMMENTS; i += 10) await Promise.all(Array.from({ length: 10 }, (_, k) => comment(i + k + 1)));
  await desk.call("index.sync", { workspace_dir: dir });
  const { workspaces } = await desk.call("workspace/list");
  workspace = workspaces.find((one) => one.dir === dir).id;
});
after(() => desk?.close());

test("the monitor goes back to older events for as long as there are any", async () => {
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace}/live`);
  const events = page.getByRole("listbox", { name: "Events" });
  await page.getByText("the newest 300 events").waitFor();
  await page.getByLabel("Filter events").fill("remark 9");
  await page.getByText("No match in the newest 300 events.").waitFor();
  await page.getByRole("button", { name: /Load older/ }).click();
  await page.getByText("No match in the newest 600 events.").waitFor();
  await page.getByRole("button", { name: /Load older/ }).click();
  await page.getByText(/^11 of all \d+ events$/).waitFor();
  await page.getByLabel("Filter events").fill("");
  await page.getByText(/^all 7\d\d events$/).waitFor();
  await page.getByRole("button", { name: /Load older/ }).waitFor({ state: "detached" });
  assert.ok((await events.getByRole("option").count()) < 100, "the list is virtual");
  await events.focus();
  await page.keyboard.press("End");
  await events.getByRole("option", { name: /^1 run.started/ }).waitFor();
  await page.context().close();
});

test("the key o loads older events, and what comes meanwhile stays on top", async () => {
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace}/live`);
  await page.getByText("the newest 300 events").waitFor();
  await page.keyboard.press("o");
  await page.getByText("the newest 600 events").waitFor();
  const { projects } = await desk.call("workspace.projects.list", { workspace_dir: dir });
  const [run] = await desk.call("run.list", { workspace_dir: dir });
  await desk.call("comment.add", {
    workspace_dir: dir,
    project_id: projects[0].project_id,
    target_run_id: run.run_id,
    author_id: "human",
    author_role: "human",
    body: "the newest remark",
  });
  const first = page.getByRole("listbox", { name: "Events" }).getByRole("option").first();
  await until(async () => (await first.textContent()).includes("the newest remark"));
  await page.getByText("the newest 601 events").waitFor();
  await page.context().close();
});

test("no page complained, and none asked another host", () => assert.deepEqual(desk.problems, []));
