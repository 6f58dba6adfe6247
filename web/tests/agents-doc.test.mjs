// The editor of AGENTS.md: automatic saving, conflicts between two windows, history and drafts.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { openDesk, until } from "./desk.mjs";

let desk;
let scope;
before(async () => {
  desk = await openDesk();
});
after(() => desk?.close());

/** Every test has a folder of its own. */
let number = 0;
beforeEach(async () => {
  const workspace_id = (await desk.call("workspace/default")).workspace.id;
  const { folder } = await desk.call("thread/folder/create", { workspace_id, name: `Folder ${(number += 1)}` });
  scope = { workspace_id, folder_id: folder.id };
});

const stored = async () => (await desk.call("thread/agents_doc/get", scope)).explicit;
const save = (content) => desk.call("thread/agents_doc/save", { ...scope, content });
const state = (page, kind) => page.locator(`[data-doc-state=${kind}]`).waitFor();

async function open(page) {
  page ??= await desk.window();
  await page.goto(`${desk.url}/w/${scope.workspace_id}/f/${scope.folder_id}/agents`);
  await page.getByRole("textbox", { name: /AGENTS.md in/ }).waitFor();
  await state(page, "clean");
  return page;
}

const editor = (page) => page.getByRole("textbox", { name: /AGENTS.md in/ });

test("typing is saved by itself, once per pause", async () => {
  const page = await open();
  await editor(page).click();
  await page.keyboard.type("# Rules\nBe brief.", { delay: 15 });
  await state(page, "saved");
  const doc = await stored();
  assert.equal(doc.content, "# Rules\nBe brief.");
  assert.equal(doc.version, 1);
  await page.keyboard.type(" And kind.");
  await until(async () => (await stored()).version === 2);
  assert.equal((await stored()).content, "# Rules\nBe brief. And kind.");
  await page.context().close();
});

test("an explicit save happens at once and is recorded as one", async () => {
  const page = await open();
  await editor(page).click();
  await page.keyboard.type("now");
  await page.keyboard.press("Control+s");
  const doc = await until(stored);
  const { items } = await desk.call("thread/agents_doc/revisions", {
    workspace_id: scope.workspace_id,
    doc_id: doc.id,
  });
  assert.equal(items[0].save_reason, "manual");
  await page.context().close();
});

test("pasted Windows line ends are saved once and then clean", async () => {
  const page = await open();
  await editor(page).click();
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", "one\r\ntwo\r\n");
    const content = document.querySelector(".editor").shadowRoot.querySelector(".cm-content");
    content.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await state(page, "saved");
  assert.equal((await stored()).content, "one\ntwo\n");
  assert.equal((await stored()).version, 1);
  await page.context().close();
});

test("a clean editor follows what another client saves", async () => {
  await save("one\n");
  const page = await open();
  await save("one\ntwo\n");
  await editor(page).getByText("two").waitFor();
  await page.context().close();
});

/** A window whose automatic save waits until the test releases it. */
async function patientWindow() {
  const page = await desk.window();
  await page.addInitScript(() => {
    const { setTimeout } = window;
    window.waiting = [];
    window.setTimeout = (act, delay, ...rest) =>
      delay === 700 ? window.waiting.push(act) : setTimeout(act, delay, ...rest);
  });
  return page;
}

async function conflict() {
  await save("first\nmiddle\nlast\n");
  const mine = await open(await patientWindow());
  const theirs = await open();
  await editor(mine).click();
  await mine.keyboard.press("Control+Home");
  await mine.keyboard.type("mine ");
  await editor(theirs).click();
  await theirs.keyboard.press("Control+End");
  await theirs.keyboard.type("theirs");
  await theirs.keyboard.press("Control+s");
  await state(theirs, "saved");
  await mine.getByText("changed elsewhere").waitFor();
  await mine.evaluate(() => window.waiting.forEach((act) => act()));
  await state(mine, "conflict");
  return { mine, theirs };
}

test("two windows, one scope: mine over theirs", async () => {
  const { mine, theirs } = await conflict();
  for (const name of ["Mine", "Base", "Theirs"]) await mine.getByRole("region", { name, exact: true }).waitFor();
  assert.equal((await stored()).content, "first\nmiddle\nlast\ntheirs");
  await mine.getByRole("button", { name: "Keep mine" }).click();
  await state(mine, "saved");
  assert.equal((await stored()).content, "mine first\nmiddle\nlast\n");
  assert.equal((await stored()).version, 3);
  await editor(theirs).getByText("mine first").waitFor();
  await mine.context().close();
  await theirs.context().close();
});

test("two windows, one scope: theirs over mine", async () => {
  const { mine, theirs } = await conflict();
  await mine.getByRole("button", { name: "Keep theirs" }).click();
  await editor(mine).getByText("theirs").waitFor();
  assert.equal((await stored()).version, 2);
  await mine.context().close();
  await theirs.context().close();
});

test("two windows, one scope: changes of different lines fit together", async () => {
  const { mine, theirs } = await conflict();
  await mine.getByRole("button", { name: "Merge" }).click();
  await mine.getByText("Both changes were merged without conflicts").waitFor();
  await mine.getByRole("button", { name: "Save merged text" }).click();
  await state(mine, "saved");
  assert.equal((await stored()).content, "mine first\nmiddle\nlast\ntheirs");
  await mine.context().close();
  await theirs.context().close();
});

test("what was typed while the gateway was away is saved when it is back", async () => {
  await save("one\n");
  const page = await open();
  await desk.gateway.kill();
  await page.getByText("The gateway cannot be reached").waitFor();
  await editor(page).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("two");
  await desk.gateway.start();
  await state(page, "saved");
  assert.equal((await stored()).content, "one\ntwo");
  assert.equal((await stored()).version, 2);
  await page.context().close();
});

test("what was typed survives a reload of the page before it was saved", async () => {
  await save("one\n");
  const page = await open();
  await desk.gateway.kill();
  await editor(page).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("kept");
  await page.reload();
  await desk.gateway.start();
  await editor(page).getByText("kept").waitFor();
  await until(async () => (await stored()).content === "one\nkept");
  await page.context().close();
});

test("an emptied file is a draft and what is above is in force again", async () => {
  await desk.call("thread/agents_doc/save", { workspace_id: scope.workspace_id, content: "# Root\n" });
  await save("x");
  const page = await open();
  await editor(page).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await state(page, "saved");
  assert.equal((await stored()).status, "draft");
  await page.getByText("This file is empty. Threads here use the root").waitFor();
  await page.getByRole("treeitem", { name: /AGENTS.md.*draft/ }).waitFor();
  await page.context().close();
});

test("the editor has the name of its folder, also after another client renamed it", async () => {
  const page = await open();
  await page.getByRole("textbox", { name: `AGENTS.md in Folder ${number}`, exact: true }).waitFor();
  await desk.call("thread/folder/update", { ...scope, name: "Backend" });
  await page.getByRole("textbox", { name: "AGENTS.md in Backend", exact: true }).waitFor();
  await page.context().close();
});

test("an old version can be compared and restored", async () => {
  await save("one\n");
  await save("two\n");
  const page = await open();
  await page.getByRole("button", { name: /^v1 / }).click();
  const dialog = page.getByRole("dialog", { name: "Version 1" });
  await dialog.getByRole("button", { name: "Compare with current version" }).click();
  await dialog.getByText("two").waitFor();
  await dialog.getByRole("button", { name: "Restore this version" }).click();
  await editor(page).getByText("one").waitFor();
  assert.equal((await stored()).content, "one\n");
  assert.equal((await stored()).version, 3);
  await page.context().close();
});

test("the exact prompt section is shown with its size", async () => {
  await save("# Say hello\n");
  const { workspace_id, folder_id } = scope;
  await desk.call("thread/start", { workspace_id, thread_id: `preview-${number}` });
  await desk.call("thread/move", { workspace_id, folder_id, thread_id: `preview-${number}` });
  const page = await open();
  await page.getByRole("button", { name: "Preview prompt" }).click();
  const { text, char_count } = await desk.call("thread/agents_doc/preview", {
    workspace_id,
    thread_id: `preview-${number}`,
  });
  assert.equal(await page.getByRole("dialog").locator("pre").textContent(), text);
  await page.getByText(`${char_count} of 16,000 characters`).waitFor();
  await page.context().close();
});

test("a deleted file disappears everywhere and can be brought back", async () => {
  await save("one\n");
  const page = await open();
  const other = await desk.window();
  await other.goto(`${desk.url}/w/${scope.workspace_id}/f/${scope.folder_id}`);
  await other.getByRole("button", { name: "Edit AGENTS.md" }).waitFor();
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Delete AGENTS.md" }).click();
  await other.getByRole("button", { name: "Create AGENTS.md" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await other.getByRole("button", { name: "Edit AGENTS.md" }).waitFor();
  assert.equal((await stored()).content, "one\n");
  await page.context().close();
  await other.context().close();
});

test("no page complained", () => assert.deepEqual(desk.problems, []));
