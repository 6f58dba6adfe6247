// The demo of `ac demo`: its first view and its loading time.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { countScripts, openDemo, until } from "./desk.mjs";

let demo;
before(async () => {
  demo = await openDemo();
});
after(() => demo?.close());

test("the first view of the demo is there within a second, with at most 350 KB of compressed script", async () => {
  const times = [];
  // One fast attempt is enough, because other load on the machine is not measured.
  for (let i = 0; i < 5 && !times.some((time) => time <= 1000); i += 1) {
    const page = await (await demo.browser.newContext()).newPage();
    const sizeOfScripts = countScripts(page);
    // The page measures the time itself; polling from outside would take longer.
    await page.addInitScript(() => {
      const look = () => {
        const isThere = [...document.querySelectorAll("main h2")].some(({ textContent }) => textContent === "Projects");
        if (isThere) window.shownAt ??= performance.now();
      };
      new MutationObserver(look).observe(document, { childList: true, subtree: true });
    });
    await page.goto(demo.link());
    await page.getByRole("main").getByRole("heading", { name: "Projects" }).waitFor();
    times.push(await page.evaluate(() => Math.round(window.shownAt)));
    const size = await sizeOfScripts();
    assert.ok(size > 0 && size <= 350 * 1024, `${size} bytes`);
    await page.context().close();
  }
  console.log(`the first view of the demo was there after ${times.join(", ")} ms`);
  assert.ok(
    times.some((time) => time <= 1000),
    `${times.join(", ")} ms`,
  );
});

test("every section of the demo has something to see, and no view fails", async () => {
  const page = await (await demo.browser.newContext()).newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(demo.link());
  await page.getByRole("main").getByRole("heading", { name: "Projects" }).waitFor();
  for (const section of [
    "Threads",
    "Files",
    "Runs",
    "Inbox",
    "Plan",
    "Conversations",
    "Usage",
    "People",
    "Settings",
    "Home",
  ]) {
    await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: section }).click();
    await page.locator(`.rail-link[aria-current=page][aria-label^="${section}"]`).waitFor();
    await until(
      async () => (await page.getByRole("status", { name: "Loading" }).count()) === 0,
      `${section} stays empty`,
    );
    assert.equal(await page.getByText("Could not load this page").count(), 0, section);
  }
  assert.deepEqual(complaints, []);
  await page.context().close();
});
