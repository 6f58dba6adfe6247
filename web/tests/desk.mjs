// The test environment: a gateway, a server for the built page, and a browser.
//
// `AC` is the path of the gateway, default `target/debug/ac`; `CHROMIUM` is the path of the browser.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { preview } from "vite";

const root = fileURLToPath(new URL("../", import.meta.url));
const binary = process.env.AC ?? join(root, "../target/debug/ac");
const BROWSERS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const browserPath = process.env.CHROMIUM ?? BROWSERS.find(existsSync);

/** The Content-Security-Policy of the page, at least as strict as that of the gateway. */
export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

class Gateway {
  /** The proxies of the gateway. Their target changes when the gateway restarts at another free port. */
  proxies = [];

  constructor(home) {
    this.home = home;
  }

  /** Starts the gateway and waits until it is ready. */
  async start() {
    const readyFile = join(this.home, "ready.json");
    rmSync(readyFile, { force: true });
    this.process = spawnServer(this.home, ["serve", "--home", this.home, "--ready-file", readyFile]);
    this.http = (await ready(this.process, this.home, readyFile)).http;
    this.token = readFileSync(join(this.home, "token"), "utf8").trim();
    for (const proxy of this.proxies) proxy.options.target = this.http;
  }

  /** Runs a command for the home of the gateway and returns its output. */
  command(...args) {
    return this.commandWith({}, ...args);
  }

  /** Runs a command with additional environment variables. */
  commandWith(variables, ...args) {
    const env = { ...process.env, ...variables };
    return execFileSync(binary, [...args, "--home", this.home], { encoding: "utf8", env }).trim();
  }

  /** Kills the gateway without a shutdown. */
  async kill() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGKILL");
    await ended;
  }
}

/** Starts a gateway at a free port; its standard error goes to the file `log` in the folder. */
function spawnServer(folder, args) {
  return spawn(binary, [...args, "--listen", "127.0.0.1:0"], {
    // A file, because a pipe would make the test runner wait for a gateway that outlives its test.
    stdio: ["ignore", "ignore", openSync(join(folder, "log"), "a")],
  });
}

/** Returns the contents of the ready file. Throws with the end of the log if the gateway exits before. */
async function ready(server, folder, readyFile) {
  const ended = new Promise((_, reject) => {
    server.once("error", reject);
    server.once("exit", (code) => {
      const said = readFileSync(join(folder, "log"), "utf8");
      reject(new Error(`the gateway ended with ${code}: ${said.slice(-2000)}`));
    });
  });
  ended.catch(() => {});
  const isReady = () => existsSync(readyFile);
  await Promise.race([ended, until(isReady, "the gateway did not get ready", 60_000)]);
  return JSON.parse(readFileSync(readyFile, "utf8"));
}

export async function until(condition, message = "what was waited for did not happen", timeout = 15_000) {
  const end = Date.now() + timeout;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(message);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until a page shows its final state: everything is loaded, and no animation or transition that ends is running. */
export async function settled(page) {
  const loading = page.getByRole("status", { name: "Loading" });
  await until(async () => (await loading.count()) === 0, "the page stays loading");
  await page.evaluate(async () => {
    const isEnding = (animation) =>
      animation.playState === "running" && animation.effect?.getComputedTiming().endTime !== Infinity;
    const ending = () => document.getAnimations().filter(isEnding);
    for (let running = ending(); running.length > 0; running = ending()) {
      await Promise.allSettled(running.map(({ finished }) => finished));
    }
    await document.fonts.ready;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
}

/** Counts the scripts that a page loads from now on. The returned function stops and returns their compressed size. */
export function countScripts(page) {
  const scripts = [];
  const collect = (response) => response.url().endsWith(".js") && scripts.push(response.body());
  page.on("response", collect);
  return async () => {
    page.off("response", collect);
    return (await Promise.all(scripts)).reduce((sum, body) => sum + gzipSync(body).length, 0);
  };
}

/** `config` is the text of the gateway's `config.toml`. */
export async function openDesk({ config = "" } = {}) {
  const home = mkdtempSync(join(tmpdir(), "accord-web-"));
  if (config) writeFileSync(join(home, "config.toml"), config);
  const gateway = new Gateway(home);
  await gateway.start();
  const page = await servePage(gateway, gateway.token);
  const url = addressOf(page);
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  const problems = [];
  const others = [];
  const connection = await connect(gateway);
  return {
    gateway,
    url,
    browser,
    /** Errors of the pages, and requests to other hosts. */
    problems,
    call: connection.call,
    /** Serves the page with another token and returns its address. */
    async pageFor(token) {
      const other = await servePage(gateway, token);
      others.push(other);
      return addressOf(other);
    },
    /** Opens a window with its own storage. */
    async window(options = {}) {
      const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
      context.setDefaultTimeout(20_000);
      const tab = await context.newPage();
      watch(tab, [url, ...others.map(addressOf)], problems);
      return tab;
    },
    async close() {
      connection.close();
      await browser.close();
      for (const one of [page, ...others]) await one.close();
      await gateway.kill();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Starts `ac demo`, which serves the page that is built into the gateway. */
export async function openDemo() {
  const folder = mkdtempSync(join(tmpdir(), "accord-demo-"));
  const place = join(folder, "demo");
  const readyFile = join(folder, "ready.json");
  const server = spawnServer(folder, ["demo", place, "--ready-file", readyFile]);
  const ended = new Promise((resolve) => server.once("exit", resolve));
  await ready(server, folder, readyFile);
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  return {
    browser,
    /** Returns a one-time sign-in link. */
    link: () => execFileSync(binary, ["open", "--print", "--home", join(place, "home")], { encoding: "utf8" }).trim(),
    async close() {
      await browser.close();
      server.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Serves the built page with a proxy to the gateway that adds this token. */
async function servePage(gateway, token) {
  const proxied = {
    target: gateway.http,
    headers: { authorization: `Bearer ${token}` },
    configure: (proxy) => gateway.proxies.push(proxy),
  };
  return preview({
    root,
    logLevel: "silent",
    preview: {
      port: 0,
      host: "127.0.0.1",
      headers: { "content-security-policy": POLICY },
      proxy: { "/ws": { ...proxied, ws: true }, "/artifacts": proxied, "/uploads": proxied },
    },
  });
}

const addressOf = (page) => page.resolvedUrls.local[0].replace(/\/$/, "");

function watch(tab, urls, problems) {
  tab.on("pageerror", (error) => problems.push(`page error: ${error.stack ?? error}`));
  tab.on("console", (message) => {
    const text = message.text();
    // Some tests stop the gateway.
    const isExpected = /WebSocket connection|Failed to load resource/.test(text);
    if (message.type() === "error" && !isExpected) problems.push(`console: ${text}`);
  });
  tab.on("request", (request) => {
    const to = request.url();
    const isOurs = urls.some((url) => to.startsWith(url) || to.startsWith(url.replace("http", "ws")));
    if (!/^(blob|data):/.test(to) && !isOurs) {
      problems.push(`request to another host: ${to}`);
    }
  });
}

/** Calls the gateway as another client, without the browser. */
export async function connect(gateway) {
  let nextId = 1;
  const open = () =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(new URL("/ws", gateway.http.replace("http", "ws")), [
        "accord",
        `bearer.${gateway.token}`,
      ]);
      socket.onopen = () => resolve(socket);
      socket.onerror = () => reject(new Error("the gateway does not answer"));
    });
  let socket = await open();
  const call = async (method, params = {}) => {
    if (socket.readyState !== WebSocket.OPEN) socket = await open();
    const id = nextId++;
    return new Promise((resolve, reject) => {
      const listen = ({ data }) => {
        const message = JSON.parse(data);
        if (message.id !== id) return;
        socket.removeEventListener("message", listen);
        if (message.error) reject(new Error(`${method}: ${message.error.message}`));
        else resolve(message.result);
      };
      socket.addEventListener("message", listen);
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  };
  return { call, close: () => socket.close() };
}
