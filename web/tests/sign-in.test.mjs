// The page as the gateway serves it: a link signs a browser in once, and other servers of the machine get no access.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { request as send, createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { openDesk, until } from "./desk.mjs";

let desk;
before(async () => {
  desk = await openDesk();
});
after(() => desk?.close());

/** Opens a window with its own storage that is signed in by a link. */
async function signedIn() {
  const context = await desk.browser.newContext();
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  await page.goto(desk.gateway.command("open", "--print"));
  await page.getByText("No threads yet").waitFor();
  return { context, page };
}

const sessions = () => JSON.parse(desk.gateway.command("desktop-session", "list", "--json")).sessions;

test("the printed link signs a browser in with a cookie that no script reads, and works once", async () => {
  const link = desk.gateway.command("open", "--print");
  const context = await desk.browser.newContext();
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(link);
  await page.getByText("No threads yet").waitFor();
  assert.ok(!page.url().includes("code="));
  const { origin, hash } = new URL(link);
  const code = hash.replace("#code=", "");
  assert.deepEqual(
    asked.filter((url) => new URL(url).search.includes(code) || new URL(url).pathname.includes(code)),
    [],
    "the code is in no address that is asked for",
  );
  const [cookie] = await context.cookies();
  assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, "Strict"]);
  assert.equal(await page.evaluate(() => document.cookie), "");
  const policy = (await page.reload()).headers()["content-security-policy"];
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /script-src[^;]*unsafe/);
  await page.getByText("No threads yet").waitFor();
  assert.deepEqual(complaints, []);

  const other = await (await desk.browser.newContext()).newPage();
  await other.goto(link);
  await other.getByText("This sign-in link was already used").waitFor();
  await other.goto(origin);
  await other.getByText("This browser is not signed in").waitFor();
  // A new link in an open tab only changes the fragment.
  await other.goto(desk.gateway.command("open", "--print"));
  await other.getByText("No threads yet").waitFor();
  await context.close();
  await other.context().close();
});

test("the file of `ac open` leads a browser to the desktop, signed in, also a second time", async () => {
  desk.gateway.command("desktop-session", "end", "--all");
  const context = await desk.browser.newContext();
  const page = await context.newPage();
  const file = pathToFileURL(join(desk.gateway.home, "open.html")).href;
  for (const _ of [1, 2]) {
    // Without a program to open files, `ac open` only writes the file.
    desk.gateway.commandWith({ PATH: "" }, "open");
    await page.goto(file);
    await page.waitForURL(`${desk.gateway.http}**`);
    await page.getByText("No threads yet").waitFor();
    assert.equal(sessions().length, 1, "a browser that is signed in keeps its session");
  }
  await context.close();
});

test("a server on another port gets the cookie from the browser and cannot become the owner with it", async () => {
  const { context, page } = await signedIn();
  const { host, origin } = new URL(desk.gateway.http);
  const stolen = [];
  const thief = createServer((request, response) => {
    stolen.push(request.headers);
    response.setHeader("content-type", "text/html").end("<title>Thief</title>");
  });
  await new Promise((resolve) => thief.listen(0, "127.0.0.1", resolve));
  try {
    const tab = await context.newPage();
    await tab.goto(`http://127.0.0.1:${thief.address().port}/`);
    const cookie = stolen.map((headers) => headers.cookie).find((line) => line?.includes("accord_"));
    assert.ok(cookie, "browsers send the cookie to every port");
    // The other server has no access to the rest of the session.
    assert.deepEqual(await tab.evaluate(() => Object.keys(localStorage)), []);
    const key = await page.evaluate(() => localStorage.getItem("accord.page_key"));
    assert.ok(key);
    assert.ok(!JSON.stringify(stolen).includes(key));

    const forged = { cookie, origin, "sec-fetch-site": "same-origin" };
    assert.equal(await statusOf(host, "/metrics", forged), 401);
    assert.equal(await statusOf(host, "/artifacts/ws_000000000000000000/art_a/current/content", forged), 401);
    const upgrade = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-protocol": "accord",
    };
    assert.equal(await statusOf(host, "/ws", { ...forged, ...upgrade }), 401);
    // The same request with the page key is accepted.
    assert.equal(
      await statusOf(host, "/ws", { ...forged, ...upgrade, "sec-websocket-protocol": `accord, page-key.${key}` }),
      101,
    );

    // A page of the other port gets nothing through the signed-in browser either.
    const reached = await tab.evaluate(async (gateway) => {
      const outcomes = [];
      for (const path of ["/metrics", "/ws"]) {
        const fetched = fetch(gateway + path, { credentials: "include" });
        outcomes.push(
          await fetched.then(
            ({ status }) => status,
            () => "unreadable",
          ),
        );
      }
      const socket = new WebSocket(`${gateway.replace("http", "ws")}/ws`, ["accord"]);
      outcomes.push(
        await new Promise((resolve) => {
          socket.onopen = () => resolve("open");
          socket.onerror = () => resolve("refused");
        }),
      );
      return outcomes;
    }, origin);
    assert.ok(!reached.includes(200) && !reached.includes("open"), String(reached));
  } finally {
    thief.close();
    await context.close();
  }
});

/** Sends a request with arbitrary headers, which a browser would not allow, and returns its status. */
function statusOf(host, path, headers) {
  return new Promise((resolve, reject) => {
    const asked = send(`http://${host}${path}`, { headers });
    asked.on("response", (response) => resolve(response.resume().statusCode));
    asked.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response.statusCode);
    });
    asked.on("error", reject).end();
  });
}

test("the settings list the browsers that are signed in, and sign one of them out", async () => {
  desk.gateway.command("desktop-session", "end", "--all");
  const mine = await signedIn();
  const other = await signedIn();
  assert.equal(sessions().length, 2);
  const { page } = mine;
  await page.getByRole("link", { name: "Settings" }).click();
  const rows = page.locator(".session");
  await rows.nth(1).waitFor();
  await rows.filter({ hasText: "this browser" }).waitFor();
  await rows
    .filter({ hasNotText: "this browser" })
    .getByRole("button", { name: /Sign out/ })
    .click();
  await other.page.getByText("This browser is not signed in").waitFor();
  await until(async () => (await rows.count()) === 1);
  assert.equal(sessions().length, 1);
  await mine.context.close();
  await other.context.close();
});

test("signing out ends every tab of the browser and leaves nothing to come back with", async () => {
  desk.gateway.command("desktop-session", "end", "--all");
  const { context, page } = await signedIn();
  const second = await context.newPage();
  await second.goto(page.url());
  await second.getByText("No threads yet").waitFor();
  await page.locator(".workspace-button").click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByText("This browser is not signed in").waitFor();
  await second.getByText("This browser is not signed in").waitFor();
  assert.deepEqual(sessions(), []);
  await until(async () => (await context.cookies()).length === 0);
  assert.equal(await second.evaluate(() => localStorage.getItem("accord.page_key")), null);
  await context.close();
});

test("pictures are shown to a browser that is signed in by a link", async () => {
  const { context, page } = await signedIn();
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNkYPhfz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";
  const file = join(desk.gateway.home, "dot.png");
  writeFileSync(file, Buffer.from(png, "base64"));
  const { artifact_id } = JSON.parse(desk.gateway.command("artifact", "put", file, "--json"));
  const [workspace] = /\/w\/[^/]+/.exec(page.url());
  await page.goto(new URL(`${workspace}/files/${artifact_id}`, desk.gateway.http).href);
  await until(() => page.locator(".preview-image").evaluate((image) => image.naturalWidth === 10));
  await context.close();
});
