// The page itself: script size, Content-Security-Policy, connection and addresses.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { countScripts, openDesk } from "./desk.mjs";

let desk;
let workspace_id;
before(async () => {
  desk = await openDesk();
  workspace_id = (await desk.call("workspace/default")).workspace.id;
});
after(() => desk?.close());

test("the first view needs at most 350 KB of compressed script", async () => {
  const page = await desk.window();
  const sizeOfScripts = countScripts(page);
  await page.goto(desk.url);
  await page.getByText("No threads yet").waitFor();
  const shown = await page.evaluate(() => Math.round(performance.now()));
  const size = await sizeOfScripts();
  console.log(`the first view has ${Math.round(size / 1024)} KB of compressed script and was there after ${shown} ms`);
  assert.ok(size > 0 && size <= 350 * 1024, `${size} bytes`);
  await page.context().close();
});

test("nothing in the page is inline", () => {
  const html = readFileSync(new URL("../dist/index.html", import.meta.url), "utf8");
  assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/);
});

test("a browser that is not let in is told what to do", async () => {
  const page = await desk.window();
  await page.route("**/ws", (route) => route.fulfill({ status: 401, body: "no" }));
  await page.routeWebSocket("**/ws", (socket) => socket.close({ code: 1011 }));
  await page.goto(desk.url);
  await page.getByText("This browser is not signed in").waitFor();
  await page.unrouteAll();
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await page.waitForEvent("load");
  await page.context().close();
});

test("an address without anything says so", async () => {
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace_id}/nowhere/at/all`);
  await page.getByText("Page not found").waitFor();
  await page.context().close();
});

test("back and forward go through what was open", async () => {
  await desk.call("thread/start", { workspace_id, thread_id: "one", name: "Thread one" });
  await desk.call("thread/move", { workspace_id, thread_id: "one" });
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace_id}/tree`);
  await page.getByRole("treeitem", { name: "Thread one" }).click();
  await page.getByLabel("Message").waitFor();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("Theme").waitFor();
  await page.goBack();
  await page.getByLabel("Message").waitFor();
  await page.goForward();
  await page.getByLabel("Theme").waitFor();
  await page.context().close();
});

test("the theme is chosen and remembered", async () => {
  const page = await desk.window({ colorScheme: "light" });
  await page.goto(`${desk.url}/w/${workspace_id}/settings`);
  await page.getByLabel("Theme").selectOption("dark");
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await background(), "rgb(23, 24, 27)");
  await page.reload();
  await page.getByLabel("Theme").waitFor();
  assert.equal(await background(), "rgb(23, 24, 27)");
  await page.context().close();
});

test("a second workspace is made and gone to", async () => {
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace_id}/tree`);
  await page.getByRole("button", { name: "Default Workspace" }).click();
  await page.getByRole("menuitem", { name: "New workspace…" }).click();
  await page.getByLabel("Name").fill("Second");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Second" }).waitFor();
  await page.getByText("No threads yet").waitFor();
  assert.ok((await desk.call("workspace/list")).workspaces.some(({ name }) => name === "Second"));
  await page.context().close();
});

test("no page complained", () => assert.deepEqual(desk.problems, []));
