// A connection to a gateway that comes back by itself: typed calls, notifications, binary frames.

import {
  AuthenticationError,
  ClosedError,
  ConnectionLostError,
  QueueFullError,
  RpcError,
  TimeoutError,
} from "./errors.js";
import { Following, type Arrival, type Gap } from "./following.js";
import { READS, type Methods, type Notifications } from "./generated.js";
import { Listeners } from "./listeners.js";

/** Where a client stands. */
export type ConnectionState = "connecting" | "open" | "reconnecting" | "closed";

export interface ConnectOptions {
  /** The address of the gateway: `ws://…`, `wss://…`, `http://…` or `https://…`. */
  url: string | URL;
  /**
   * The token; it travels as a sub-protocol of the WebSocket, never in the address.
   *
   * A page that the gateway itself serves has a `pageKey` instead.
   */
  token?: string | undefined;
  /**
   * The key that `POST /sign-in` answered to a page of the gateway itself, which keeps it in its storage. With the cookie
   * of the same answer, which the browser sends along, it makes the page the owner's.
   */
  pageKey?: string | undefined;
  /** For Node below 22, which has no global `WebSocket`. */
  WebSocket?: new (url: string, protocols: string[]) => WebSocket;
  /** Calls that may wait or be under way, 512 unless given; more are refused. */
  maxPending?: number;
  /** Milliseconds a call may take, waiting included; 30000 unless given, 0 for ever. */
  timeout?: number;
  /** Milliseconds before the first and at most before any attempt to connect again; 500 and 10000 unless given. */
  backoff?: { first: number; max: number };
}

export interface CallOptions {
  /** Gives up waiting; what was sent happens all the same. */
  signal?: AbortSignal;
  /** Milliseconds, instead of those of the connection; 0 for ever. */
  timeout?: number;
  /** Whether to ask again when the connection breaks before the answer; only methods that read do unless given. */
  retry?: boolean;
}

/** Calls of methods whose params are all optional may leave them out. */
export type CallArguments<M extends keyof Methods> = Record<string, never> extends Methods[M]["params"]
  ? [params?: Methods[M]["params"], options?: CallOptions]
  : [params: Methods[M]["params"], options?: CallOptions];

/** Connects to a gateway. Calls may follow at once; they wait until the connection is there. */
export function connect(options: ConnectOptions): Client {
  return new Client(options);
}

/** The header that proves the caller, if the options have something to prove it with. */
function proof({ token, pageKey }: ConnectOptions): Record<string, string> {
  if (token !== undefined) return { Authorization: `Bearer ${token}` };
  return pageKey === undefined ? {} : { "Accord-Page-Key": pageKey };
}

const MAX_MESSAGE_BYTES = 16 << 20;
/** How often a read is asked again before it is taken to be what breaks the connection. */
const MAX_ATTEMPTS = 3;
const CONNECT_TIMEOUT = 10_000;
/** Milliseconds after which a silent connection is asked for a sign of life; the next time it is given up. */
const SILENCE = 15_000;
/** The close code of a token that is no longer valid. */
const ACCESS_REVOKED = 4401;

type Restores = (result: Record<string, unknown>) => void;

interface Pending {
  id: number;
  method: string;
  params: Record<string, unknown>;
  /** The message as it is sent. */
  message: string;
  /** How often it was sent. */
  attempts: number;
  /** Whether it is on the wire of the connection there is. */
  isSent: boolean;
  retry: boolean;
  /** Gets the answer, before anything behind it, of a call that restores a connection that is not open yet. */
  restores: Restores | undefined;
  settle: (outcome: { result: unknown } | { error: unknown }) => void;
}

export class Client {
  /** The address for HTTP, with a slash at the end. */
  readonly httpUrl: string;
  /** What proves the caller in requests over HTTP. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #options: ConnectOptions;
  readonly #webSocketUrl: string;
  readonly #pending = new Map<number, Pending>();
  readonly #notificationListeners = new Map<string, Listeners<unknown>>();
  readonly #stateListeners = new Listeners<ConnectionState>();
  readonly #gapListeners = new Listeners<Gap>();
  readonly #frameListeners = new Listeners<ArrayBuffer>();
  readonly #following = new Following(({ method, params }) => this.#notificationListeners.get(method)?.tell(params));
  #state: ConnectionState = "connecting";
  #socket: WebSocket | undefined;
  #nextId = 1;
  /** Attempts to connect since the last success. */
  #attempts = 0;
  #reconnectTimer: ReturnType<typeof setTimeout> | undefined;
  #connectTimer: ReturnType<typeof setTimeout> | undefined;
  #silenceTimer: ReturnType<typeof setInterval> | undefined;
  /** Whether the gateway let the socket there is in. */
  #wasAdmitted = false;
  #closedBy: Error | undefined;

  constructor(options: ConnectOptions) {
    const url = new URL(options.url);
    url.protocol = url.protocol.replace("http", "ws");
    this.#webSocketUrl = url.href;
    url.protocol = url.protocol.replace("ws", "http");
    this.httpUrl = new URL("./", url).href;
    this.headers = proof(options);
    this.#options = options;
    this.#open();
  }

  /** Where the client stands now. */
  get state(): ConnectionState {
    return this.#state;
  }

  /** Calls `listener` on every change of the state. Answers how to stop that. */
  onState(listener: (state: ConnectionState) => void): () => void {
    return this.#stateListeners.add(listener);
  }

  /**
   * Calls `listener` when notifications may have been missed while there was no connection: read the state of what it
   * names again. Answers how to stop that.
   */
  onGap(listener: (gap: Gap) => void): () => void {
    return this.#gapListeners.add(listener);
  }

  /** Calls `handler` for every notification of this name. Answers how to stop that. */
  on<N extends keyof Notifications>(name: N, handler: (params: Notifications[N]) => void): () => void {
    const listeners = this.#notificationListeners.get(name) ?? new Listeners();
    this.#notificationListeners.set(name, listeners);
    return listeners.add(handler as (params: unknown) => void);
  }

  /** Calls `listener` for every binary frame. Answers how to stop that. */
  onFrame(listener: (frame: ArrayBuffer) => void): () => void {
    return this.#frameListeners.add(listener);
  }

  /** Resolves once the connection is open, now or later; rejects when the client is closed. */
  opened(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#state === "open") end(resolve);
        else if (this.#closedBy) end(() => reject(this.#closedBy));
        else if (signal?.aborted) end(() => reject(signal.reason));
      };
      const end = (settle: () => void) => {
        off();
        signal?.removeEventListener("abort", look);
        settle();
      };
      const off = this.onState(look);
      signal?.addEventListener("abort", look);
      look();
    });
  }

  /** Calls a method. */
  async call<M extends keyof Methods>(method: M, ...rest: CallArguments<M>): Promise<Methods[M]["result"]> {
    const [params = {}, options = {}] = rest;
    const isRead = READS.has(method);
    const result = await this.#request(method, params as Record<string, unknown>, { retry: isRead, ...options });
    return result as Methods[M]["result"];
  }

  /**
   * Receives the notifications of a workspace from now on, also on later connections, with nothing lost in between.
   *
   * Naming a workspace in any call has the same effect, except that the first lost connection may then be a gap.
   */
  async follow(workspace_id: string): Promise<void> {
    await this.call("workspace/subscribe", { workspace_id });
    const after_seq = Number.MAX_SAFE_INTEGER;
    const { next_seq } = await this.call("session/resume", { workspace_id, after_seq });
    this.#following.knows(workspace_id, next_seq - 1);
  }

  /** Sends a binary frame now. */
  sendFrame(frame: Uint8Array<ArrayBuffer>): void {
    if (this.#state !== "open" || !this.#socket) throw new ConnectionLostError("there is no connection");
    this.#socket.send(frame);
  }

  /** Ends the connection for good. Calls that wait fail. */
  close(): void {
    this.#end(new ClosedError("the client was closed"));
  }

  #request(
    method: string,
    params: Record<string, unknown>,
    options: CallOptions & { restores?: Restores },
  ): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      const { signal, retry = false, restores } = options;
      const { maxPending = 512 } = this.#options;
      const timeout = options.timeout ?? this.#options.timeout ?? 30_000;
      if (this.#closedBy) throw this.#closedBy;
      signal?.throwIfAborted();
      if (this.#pending.size >= maxPending && !restores) {
        throw new QueueFullError(`\`${method}\` has to wait: ${maxPending} calls are under way already`);
      }
      const id = this.#nextId++;
      const message = JSON.stringify({ jsonrpc: "2.0", id, method, params });
      // A character is at most three bytes; only long texts are measured.
      const isLong = message.length * 3 > MAX_MESSAGE_BYTES;
      if (isLong && new TextEncoder().encode(message).length > MAX_MESSAGE_BYTES) {
        throw new RangeError(`the params of \`${method}\` are larger than ${MAX_MESSAGE_BYTES} bytes`);
      }
      const settle: Pending["settle"] = (outcome) => {
        this.#pending.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        if ("error" in outcome) reject(outcome.error);
        else resolve(outcome.result as Record<string, unknown>);
      };
      const abort = () => settle({ error: signal?.reason });
      const late = () => settle({ error: new TimeoutError(`\`${method}\` was not answered within ${timeout} ms`) });
      const timer = timeout > 0 ? setTimeout(late, timeout) : undefined;
      signal?.addEventListener("abort", abort);
      const pending = { id, method, params, message, attempts: 0, isSent: false, retry, restores, settle };
      this.#pending.set(id, pending);
      if (this.#state === "open" || restores) this.#send(pending);
    });
  }

  #send(pending: Pending): void {
    pending.attempts += 1;
    pending.isSent = true;
    this.#socket?.send(pending.message);
  }

  #open(): void {
    const Socket = this.#options.WebSocket ?? globalThis.WebSocket;
    if (!Socket) throw new TypeError("there is no global `WebSocket`: give `connect` one with its option `WebSocket`");
    const { token, pageKey } = this.#options;
    const protocols = ["accord"];
    if (token !== undefined) protocols.push(`bearer.${token}`);
    else if (pageKey !== undefined) protocols.push(`page-key.${pageKey}`);
    const socket = new Socket(this.#webSocketUrl, protocols);
    this.#socket = socket;
    this.#wasAdmitted = false;
    socket.binaryType = "arraybuffer";
    this.#connectTimer = setTimeout(() => this.#lost(socket), CONNECT_TIMEOUT);
    let heard = true;
    let asked = false;
    socket.onopen = () => {
      this.#wasAdmitted = true;
      clearTimeout(this.#connectTimer);
      this.#silenceTimer = setInterval(() => {
        if (!heard && asked) return this.#lost(socket);
        asked = !heard;
        if (asked) this.#request("system/capabilities", {}, { restores: () => {} }).catch(() => {});
        heard = false;
      }, SILENCE);
      void this.#restore(socket);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      heard = true;
      if (typeof event.data === "string") this.#receive(event.data);
      else this.#frameListeners.tell(event.data);
    };
    // Not every implementation closes a socket that was never open.
    socket.onerror = () => this.#lost(socket);
    socket.onclose = (event) => {
      if (event.code === ACCESS_REVOKED) this.#end(new ClosedError(`the gateway ended the access: ${event.reason}`));
      else this.#lost(socket);
    };
  }

  /** The connection is there: takes up what the last one listened to, then sends what waits. */
  async #restore(socket: WebSocket): Promise<void> {
    let gaps: Gap[];
    try {
      gaps = await this.#following.restore((method, params, answered) => {
        return this.#request(method, params, { timeout: 30_000, restores: answered ?? (() => {}) });
      });
    } catch {
      // Lost again, or no answer: the next connection takes it up.
      return this.#lost(socket);
    }
    if (this.#socket !== socket) return;
    this.#attempts = 0;
    this.#enter("open");
    for (const pending of [...this.#pending.values()]) {
      if (!pending.isSent && this.#socket === socket) this.#send(pending);
    }
    for (const gap of gaps) this.#gapListeners.tell(gap);
  }

  /** The connection is gone: what may be asked again waits for the next one, the rest fails. */
  #lost(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#drop();
    this.#following.hold();
    this.#enter("reconnecting");
    for (const pending of [...this.#pending.values()]) {
      if (!pending.isSent) continue;
      pending.isSent = false;
      if (pending.retry && !pending.restores && pending.attempts < MAX_ATTEMPTS) continue;
      const sentence = `the connection broke before \`${pending.method}\` was answered`;
      pending.settle({ error: new ConnectionLostError(sentence) });
    }
    if (this.#closedBy) return;
    if (this.#wasAdmitted || Object.keys(this.headers).length === 0) return this.#openLater();
    // A WebSocket does not tell why it was refused.
    void this.#refusal().then((sentence) => {
      if (sentence !== undefined) this.#end(new AuthenticationError(sentence));
      else if (!this.#closedBy) this.#openLater();
    });
  }

  /** Why the gateway does not accept the token or page key; nothing if it does, or does not answer. */
  async #refusal(): Promise<string | undefined> {
    try {
      const answer = await fetch(`${this.httpUrl}ws`, {
        headers: this.headers,
        cache: "no-store",
        signal: AbortSignal.timeout(CONNECT_TIMEOUT),
      });
      if (answer.status !== 401) return undefined;
      return (await answer.text()).trim() || "the gateway does not accept the token";
    } catch {
      return undefined;
    }
  }

  #openLater(): void {
    const { first, max } = this.#options.backoff ?? { first: 500, max: 10_000 };
    const delay = Math.min(first * 2 ** this.#attempts, max) * (0.8 + Math.random() * 0.4);
    this.#attempts += 1;
    this.#reconnectTimer = setTimeout(() => this.#open(), delay);
  }

  #end(reason: Error): void {
    if (this.#closedBy) return;
    this.#closedBy = reason;
    clearTimeout(this.#reconnectTimer);
    this.#drop();
    this.#enter("closed");
    for (const pending of [...this.#pending.values()]) pending.settle({ error: reason });
  }

  /** Lets go of the socket without waiting for its goodbye, which may never come. */
  #drop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    clearTimeout(this.#connectTimer);
    clearInterval(this.#silenceTimer);
    if (!socket) return;
    socket.onopen = null;
    socket.onmessage = null;
    socket.onerror = null;
    socket.onclose = null;
    socket.close();
  }

  #enter(state: ConnectionState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#stateListeners.tell(state);
  }

  #receive(text: string): void {
    const message = JSON.parse(text) as Partial<Arrival> & {
      id?: number;
      result?: unknown;
      error?: { code: number; message: string; data?: unknown };
    };
    if (message.method !== undefined) {
      const { method, params = {}, seq } = message;
      this.#following.arrived(seq === undefined ? { method, params } : { method, params, seq });
      return;
    }
    const pending = this.#pending.get(message.id ?? 0);
    if (!pending) return;
    if (message.error) {
      const { code, message: sentence, data } = message.error;
      pending.settle({ error: new RpcError(pending.method, code, sentence, data) });
      return;
    }
    const result = message.result;
    if (typeof result === "object" && result !== null) {
      const answer = result as Record<string, unknown>;
      if (pending.restores) pending.restores(answer);
      else this.#following.answered(pending.method, pending.params, answer);
    }
    pending.settle({ result });
  }
}
