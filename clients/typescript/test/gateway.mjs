// Starts a gateway for a test in a temporary folder, and a proxy to it whose connections can be cut.

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

  /** Starts the gateway; later starts use the same home and port. */
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
      this.#process.once("exit", (code) => reject(new Error(`the gateway exited with code ${code}`)));
    });
    this.#port = new URL(this.url).port;
    this.token = readFileSync(join(this.home, "token"), "utf8").trim();
    return this;
  }

  /** Kills the gateway without a shutdown. */
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

  /** Runs an `ac` command on the home. */
  command(...args) {
    return execFileSync(AC, [...args, "--home", this.home], { encoding: "utf8" });
  }

  async stop() {
    for (const client of this.#clients) client.close();
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A TCP proxy to a gateway that can be interrupted. */
export class Wire {
  #sockets = new Set();
  #isCut = false;
  #isMute = false;
  #server;

  /** Starts the proxy to the gateway at `url`. */
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

  /** Closes all connections and rejects new ones until `mend`. */
  cut() {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Drops all bytes from the gateway until `mend`. */
  mute() {
    this.#isMute = true;
  }

  /** Undoes `cut` and `mute`. */
  mend() {
    this.#isCut = this.#isMute = false;
  }

  stop() {
    this.cut();
    this.#server.close();
  }
}

/** Resolves with the first value for which `fits` is true. `listen` adds a listener and returns its removal. */
export function until(listen, fits = () => true) {
  return new Promise((resolve) => {
    const off = listen((value) => {
      if (!fits(value)) return;
      queueMicrotask(() => off());
      resolve(value);
    });
  });
}

/** Resolves when the client next enters this state. */
export const enters = (client, state) => until((listener) => client.onState(listener), (now) => now === state);

let count = 0;
export const newId = (prefix) => `${prefix}_${process.pid}_${(count += 1)}`;

/** Returns pseudo-random bytes that are the same for the same seed. */
export function someBytes(length, seed = 1) {
  const bytes = new Uint8Array(length);
  let x = seed;
  for (let i = 0; i < length; i += 1) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    bytes[i] = x >>> 24;
  }
  return bytes;
}
