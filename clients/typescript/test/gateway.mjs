// A gateway of its own for a test, in a folder that goes with it, and a wire to it that can be cut.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "../dist/index.js";

export const AC = process.env.AC ?? fileURLToPath(new URL("../../../target/debug/ac", import.meta.url));

export class Gateway {
  folder = mkdtempSync(join(tmpdir(), "accord-ts-"));
  home = join(this.folder, "home");
  #port = 0;
  #process;
  #clients = [];

  /** Starts it; a second time on the same home and port. */
  async start() {
    const listen = `127.0.0.1:${this.#port}`;
    this.#process = spawn(AC, ["serve", "--home", this.home, "--listen", listen], { stdio: ["ignore", "pipe", "inherit"] });
    [this.url, this.signInUrl] = await new Promise((resolve, reject) => {
      let text = "";
      this.#process.stdout.setEncoding("utf8").on("data", (data) => {
        text += data;
        const found = /ready on (http:\S+)\n  desktop +(\S+)\n/.exec(text);
        if (found) resolve(found.slice(1));
      });
      this.#process.once("error", reject);
      this.#process.once("exit", (code) => reject(new Error(`the gateway ended with ${code}`)));
    });
    this.#port = new URL(this.url).port;
    this.token = readFileSync(join(this.home, "token"), "utf8").trim();
    return this;
  }

  /** Ends it as a power cut would. */
  async kill() {
    const gone = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGKILL");
    await gone;
  }

  connect(options = {}) {
    const client = connect({ url: this.url, token: this.token, backoff: { first: 20, max: 100 }, ...options });
    this.#clients.push(client);
    return client;
  }

  /** Runs a command on the home. */
  command(...args) {
    return execFileSync(AC, [...args, "--home", this.home], { encoding: "utf8" });
  }

  async stop() {
    for (const client of this.#clients) client.close();
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A wire to a gateway. */
export class Wire {
  #sockets = new Set();
  #isCut = false;
  #isMute = false;
  #server;

  async lay(url) {
    const port = Number(new URL(url).port);
    this.#server = net.createServer((near) => {
      if (this.#isCut) return near.destroy();
      const far = net.connect(port, "127.0.0.1");
      near.on("data", (data) => far.write(data));
      far.on("data", (data) => this.#isMute || near.write(data));
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          this.#sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
      }
    });
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.#server.address().port}/`;
    return this;
  }

  /** Ends what is there and lets nobody through until `mend`. */
  cut() {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Loses what the gateway says until `mend`. */
  mute() {
    this.#isMute = true;
  }

  mend() {
    this.#isCut = this.#isMute = false;
  }

  stop() {
    this.cut();
    this.#server.close();
  }
}

/** The first value for which `fits` is true. `listen` gets a listener and answers how to stop. */
export function until(listen, fits = () => true) {
  return new Promise((resolve) => {
    const off = listen((value) => {
      if (!fits(value)) return;
      queueMicrotask(() => off());
      resolve(value);
    });
  });
}

/** The next change to this state. */
export const enters = (client, state) => until((listener) => client.onState(listener), (now) => now === state);

let count = 0;
export const newId = (prefix) => `${prefix}_${process.pid}_${(count += 1)}`;

/** Bytes that are the same every time and nowhere repeat soon. */
export function someBytes(length, seed = 1) {
  const bytes = new Uint8Array(length);
  let x = seed;
  for (let i = 0; i < length; i += 1) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    bytes[i] = x >>> 24;
  }
  return bytes;
}
