// The page as the gateway itself serves it: a link signs a browser in, once.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openDesk } from "./desk.mjs";

let desk;
before(async () => {
  desk = await openDesk();
});
after(() => desk?.close());

test("the printed link signs a browser in with a cookie that no script reads, and works once", async () => {
  const link = desk.gateway.command("open", "--print");
  const context = await desk.browser.newContext();
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(link);
  await page.getByText("No threads yet").waitFor();
  assert.ok(!page.url().includes("code="));
  const [cookie] = await context.cookies();
  assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, "Strict"]);
  assert.equal(await page.evaluate(() => document.cookie), "");
  const policy = (await page.reload()).headers()["content-security-policy"];
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /script-src[^;]*unsafe/);
  await page.getByText("No threads yet").waitFor();
  assert.deepEqual(complaints, []);

  const other = await (await desk.browser.newContext()).newPage();
  assert.equal((await other.goto(link)).status(), 401);
  await other.getByText("This link was used before").waitFor();
  await other.goto(new URL(link).origin);
  await other.getByText("This browser is not signed in").waitFor();
  await context.close();
  await other.context().close();
});
