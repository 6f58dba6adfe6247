// The thread tree: creating, renaming, moving and deleting, with mouse and keyboard, live, and with many threads.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openDesk, until } from "./desk.mjs";

let desk;
let workspace_id;
before(async () => {
  desk = await openDesk();
  workspace_id = (await desk.call("workspace/default")).workspace.id;
});
after(() => desk?.close());

const tree = () => desk.call("thread/tree", { workspace_id });
const row = (page, name) => page.getByRole("treeitem", { name, exact: false });
const folder = async (name, parent_folder_id) =>
  (await desk.call("thread/folder/create", { workspace_id, name, parent_folder_id })).folder.id;
const thread = async (thread_id, name, folder_id) => {
  await desk.call("thread/start", { workspace_id, thread_id, name });
  await desk.call("thread/move", { workspace_id, thread_id, folder_id });
};
const folderOf = async (id) => (await tree()).placements.find(({ thread_id }) => thread_id === id)?.folder_id ?? null;

async function open(path = "/tree") {
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace_id}${path}`);
  await page.getByRole("navigation", { name: "Threads" }).waitFor();
  return page;
}

async function choose(page, name, item) {
  await row(page, name).click({ button: "right" });
  await page.getByRole("menuitem", { name: item }).click();
}

test("an empty tree says what to do, and doing it opens a thread", async () => {
  const page = await open();
  await page.getByText("No threads yet").waitFor();
  await page.getByRole("button", { name: "New thread" }).last().click();
  await page.getByLabel("Message").waitFor();
  assert.match(page.url(), /\/t\/thr_/);
  await row(page, "New thread").waitFor();
  await page.context().close();
});

test("folders and threads are made, named and moved by menu", async () => {
  const page = await open();
  await row(page, "New thread").waitFor();
  await page.getByRole("button", { name: "New folder" }).click();
  await page.getByLabel("Name").fill("Backend");
  await page.keyboard.press("Enter");
  await row(page, "Backend").waitFor();
  await choose(page, "New thread", "Rename…");
  await page.getByLabel("Title").fill("Fix login");
  await page.keyboard.press("Enter");
  await row(page, "Fix login").waitFor();
  await choose(page, "Fix login", "Move to…");
  await page.getByRole("option", { name: "Backend" }).click();
  await until(async () => {
    const { placements, folders } = await tree();
    return placements[0].folder_id === folders[0].id;
  });
  assert.equal(await row(page, "Fix login").getAttribute("aria-level"), "2");
  await page.context().close();
});

test("threads and folders are moved by drag", async () => {
  const target = await folder("Target");
  const moved = await folder("Moved");
  await thread("dragged", "Dragged thread");
  const page = await open();
  await row(page, "Dragged thread").dragTo(row(page, "Target"));
  await until(async () => (await folderOf("dragged")) === target);
  await row(page, "Moved").dragTo(row(page, "Target"));
  await until(async () => (await tree()).folders.find(({ id }) => id === moved).parent_folder_id === target);
  await row(page, "Dragged thread").dragTo(page.getByRole("tree"), { targetPosition: { x: 100, y: 600 } });
  await until(async () => (await folderOf("dragged")) === null);
  await page.context().close();
});

test("a deleted thread comes back by undo", async () => {
  await thread("deleted", "Deleted thread");
  const page = await open();
  await choose(page, "Deleted thread", "Delete thread");
  await row(page, "Deleted thread").waitFor({ state: "detached" });
  await until(async () => !(await tree()).threads.some(({ id }) => id === "deleted"));
  await page.getByRole("button", { name: "Undo" }).click();
  await row(page, "Deleted thread").waitFor();
  assert.ok((await tree()).threads.some(({ id }) => id === "deleted"));
  await page.context().close();
});

test("deleting a folder asks first, says what happens to what is in it, and can be undone", async () => {
  const id = await folder("Short-lived");
  await thread("inside", "Thread inside", id);
  await folder("Folder inside", id);
  await desk.call("thread/agents_doc/save", { workspace_id, folder_id: id, content: "Be brief.\n" });
  const page = await open();
  await choose(page, "Short-lived", "Delete folder…");
  const dialog = page.getByRole("dialog", { name: "Delete folder “Short-lived”?" });
  await dialog.getByText("Its AGENTS.md (version 1, 10 characters) moves to the trash with it").waitFor();
  await dialog.getByText("1 thread and 1 folder move up to the root of the tree").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await folderOf("inside"), id);
  await choose(page, "Short-lived", "Delete folder…");
  await dialog.getByRole("button", { name: "Delete folder" }).click();
  await row(page, "Short-lived").waitFor({ state: "detached" });
  await until(async () => (await row(page, "Thread inside").getAttribute("aria-level")) === "1");
  await page.getByRole("button", { name: "Undo" }).click();
  await row(page, "Short-lived").waitFor();
  await until(async () => (await folderOf("inside")) === id);
  const doc = await desk.call("thread/agents_doc/get", { workspace_id, folder_id: id });
  assert.equal(doc.explicit.content, "Be brief.\n");
  await desk.call("thread/folder/delete", { workspace_id, folder_id: id });
  await page.context().close();
});

test("the trash lists what was deleted, restores it, and deletes it for good", async () => {
  const id = await folder("Thrown away");
  await thread("thrown", "Thrown thread", id);
  await desk.call("thread/delete", { workspace_id, thread_id: "thrown" });
  const page = await open();
  await page.getByRole("button", { name: "Trash" }).click();
  await page.getByRole("heading", { name: "Trash" }).waitFor();
  await page.getByText("Thread, in Thrown away").waitFor();
  // A deletion by another client appears automatically.
  await desk.call("thread/folder/delete", { workspace_id, folder_id: id });
  await page.getByRole("button", { name: "Restore Thrown away" }).waitFor();
  await page.getByRole("button", { name: "Restore Thrown thread" }).click();
  await page.getByText("The folder `Thrown away` that contained it no longer exists").waitFor();
  await row(page, "Thrown thread").waitFor();
  await page.getByRole("button", { name: "Delete Thrown away permanently" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete permanently" }).click();
  await page.getByRole("button", { name: "Restore Thrown away" }).waitFor({ state: "detached" });
  const { items } = await desk.call("trash/list", { workspace_id });
  assert.ok(!items.some((item) => item.id === id));
  await page.context().close();
});

test("an AGENTS.md in the trash goes and comes back with its folder, and is told so", async () => {
  const id = await folder("Ruled once");
  const save = await desk.call("thread/agents_doc/save", { workspace_id, folder_id: id, content: "Be kind.\n" });
  await desk.call("thread/agents_doc/archive", { workspace_id, folder_id: id, expected_version: save.doc.version });
  await desk.call("thread/folder/delete", { workspace_id, folder_id: id });
  const page = await open("/trash");
  await page.getByRole("button", { name: "Delete Ruled once permanently" }).click();
  const purge = page.getByRole("dialog", { name: "Permanently delete “Ruled once”?" });
  await purge.getByText("“AGENTS.md in Ruled once” is deleted with its folder").waitFor();
  await purge.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Restore AGENTS.md in Ruled once" }).click();
  const first = page.getByRole("dialog", { name: "Restore folder “Ruled once” first" });
  await first.getByRole("button", { name: "Restore both" }).click();
  await row(page, "Ruled once").waitFor();
  await until(
    async () =>
      (await desk.call("thread/agents_doc/get", { workspace_id, folder_id: id })).explicit?.content === "Be kind.\n",
  );
  await desk.call("thread/folder/delete", { workspace_id, folder_id: id });
  await page.context().close();
});

test("a way back that is used elsewhere is not offered any more", async () => {
  await folder("Back and forth");
  await thread("alone", "Thread alone", await folder("With one thread"));
  const page = await open();
  await choose(page, "With one thread", "Delete folder…");
  await page.getByRole("dialog").getByText("1 thread moves up to").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await choose(page, "Back and forth", "Delete folder…");
  await page.getByRole("dialog").getByRole("button", { name: "Delete folder" }).click();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await page.getByRole("button", { name: "Trash" }).click();
  await page.getByRole("button", { name: "Restore Back and forth" }).click();
  await row(page, "Back and forth").waitFor();
  await page.getByRole("button", { name: "Undo" }).waitFor({ state: "detached", timeout: 3000 });
  await page.context().close();
});

test("AGENTS.md has a row where there is a file or one is being written", async () => {
  const id = await folder("Ruled");
  const page = await open(`/f/${id}/agents`);
  await row(page, "AGENTS.md").waitFor();
  await page.goto(`${desk.url}/w/${workspace_id}/tree`);
  await row(page, "Ruled").waitFor();
  assert.equal(await row(page, "AGENTS.md").count(), 0);
  await desk.call("thread/agents_doc/save", { workspace_id, folder_id: id, content: "# Rules\n" });
  await row(page, "AGENTS.md").click();
  await page.getByRole("textbox", { name: "AGENTS.md in Ruled" }).waitFor();
  await page.context().close();
});

test("the whole tree can be used by keys alone", async () => {
  const id = await folder("Keys");
  await thread("by-keys", "Thread by keys", id);
  await folder("Elsewhere");
  const page = await open();
  await row(page, "Thread by keys").waitFor();
  await page.getByRole("tree").focus();
  const active = () =>
    page.evaluate(
      () => document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.textContent,
    );
  await page.keyboard.press("Home");
  for (let i = 0; i < 40 && !(await active())?.startsWith("Keys"); i += 1) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowLeft");
  await row(page, "Thread by keys").waitFor({ state: "detached" });
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("j");
  assert.match(await active(), /^Thread by keys/);
  await page.keyboard.press("F2");
  await page.keyboard.type("Renamed by keys");
  await page.keyboard.press("Enter");
  await row(page, "Renamed by keys").waitFor();
  await page.getByRole("tree").focus();
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Move to…" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement.getAttribute("role") === "tree");
  await page.keyboard.press("Enter");
  await page.getByLabel("Message").waitFor();
  assert.match(page.url(), /\/t\/by-keys$/);
  await page.keyboard.type("written by keys");
  await page.keyboard.press("Enter");
  await page.locator(".answer", { hasText: "written by keys" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("elsewh");
  await page.getByRole("option", { name: "Elsewhere" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Elsewhere" }).waitFor();
  await page.context().close();
});

test("10 000 threads: few rows are in the page, and changes elsewhere move nothing", async () => {
  const COUNT = 10_000;
  const TOGETHER = 250;
  for (let i = 0; i < COUNT; i += TOGETHER) {
    await Promise.all(Array.from({ length: TOGETHER }, (_, k) => thread(`many-${i + k}`, `Many ${i + k}`)));
  }
  const page = await open();
  await row(page, "Many").first().waitFor();
  assert.equal(Number(await row(page, "Many").first().getAttribute("aria-setsize")) > COUNT, true);
  assert.ok((await page.getByRole("treeitem").count()) < 100);
  await page.getByRole("tree").evaluate((element) => (element.scrollTop = 28 * 5000));
  await row(page, "Many").first().waitFor();
  const where = () =>
    page.getByRole("tree").evaluate((element) => {
      const top = element.getBoundingClientRect().top;
      const first = [...element.querySelectorAll("[role=treeitem]")].find(
        (one) => one.getBoundingClientRect().top >= top,
      );
      return `${first.textContent} ${Math.round(first.getBoundingClientRect().top - top)}`;
    });
  await page.waitForFunction(() => {
    const tree = document.querySelector("[role=tree]");
    const isShown = (one) => one.getBoundingClientRect().top >= tree.getBoundingClientRect().top;
    return tree.scrollTop > 28 * 4000 && [...tree.querySelectorAll("[role=treeitem]")].some(isShown);
  });
  const before = await where();
  await folder("A new folder far above");
  const total = (await tree()).folders.length;
  await until(async () => {
    const sizes = await page.getByRole("treeitem").first().getAttribute("aria-setsize");
    return Number(sizes) >= COUNT + total - 3;
  });
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  assert.equal(await where(), before);
  await page.context().close();
});

test("no page complained", () => assert.deepEqual(desk.problems, []));
