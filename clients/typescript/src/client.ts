// A connection to a gateway that reconnects automatically: typed calls, notifications, binary frames.

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

/** The state of the connection. `closed` is final. */
export type ConnectionState = "connecting" | "open" | "reconnecting" | "closed";

export interface ConnectOptions {
  /** The address of the gateway: `ws://…`, `wss://…`, `http://…` or `https://…`. */
  url: string | URL;
  /**
   * The access token. It is sent as a sub-protocol of the WebSocket, never in the URL.
   *
   * A page that the gateway itself serves passes `pageKey` instead.
   */
  token?: string | undefined;
  /**
   * The key that `POST /sign-in` returned to a page that the gateway itself serves; the page keeps it in its storage.
   * Together with the cookie of the same response, which the browser sends, it authenticates the page as the owner.
   */
  pageKey?: string | undefined;
  /** A WebSocket constructor, for Node below version 22, which has no global one. Default: the global `WebSocket`. */
  WebSocket?: new (url: string, protocols: string[]) => WebSocket;
  /** Maximum number of calls that wait or are in flight; further calls fail with `QueueFullError`. Default 512. */
  maxPending?: number;
  /** Timeout of a call in milliseconds, including the wait for a connection; 0 for none. Default 30000. */
  timeout?: number;
  /** Delay before the first and the longest delay before any reconnect, in milliseconds. Default 500 and 10000. */
  backoff?: { first: number; max: number };
}

export interface CallOptions {
  /** Stops waiting for the result. A request that was already sent is still executed. */
  signal?: AbortSignal;
  /** Timeout in milliseconds; 0 for none. Default: the timeout of the connection. */
  timeout?: number;
  /** Whether to send the call again if the connection breaks before the response. Default: only for read methods. */
  retry?: boolean;
}

/** The arguments of a call; `params` can be omitted if all of its members are optional. */
export type CallArguments<M extends keyof Methods> = Record<string, never> extends Methods[M]["params"]
  ? [params?: Methods[M]["params"], options?: CallOptions]
  : [params: Methods[M]["params"], options?: CallOptions];

/** Connects to a gateway. Calls can be made immediately; they wait until the connection is open. */
export function connect(options: ConnectOptions): Client {
  return new Client(options);
}

/** Returns the header that authenticates the caller; none without a token or page key. */
function authHeaders({ token, pageKey }: ConnectOptions): Record<string, string> {
  if (token !== undefined) return { Authorization: `Bearer ${token}` };
  return pageKey === undefined ? {} : { "Accord-Page-Key": pageKey };
}

const MAX_MESSAGE_BYTES = 16 << 20;
/** Attempts of a read before it fails, because the read itself may be what breaks the connection. */
const MAX_ATTEMPTS = 3;
/** Timeout of opening a connection, in milliseconds. */
const CONNECT_TIMEOUT = 10_000;
/** Milliseconds of silence after which the client probes the connection; after as many again it reconnects. */
const SILENCE = 15_000;
/** The close code of a token that is no longer valid. */
const ACCESS_REVOKED = 4401;

type Restores = (result: Record<string, unknown>) => void;

interface Pending {
  id: number;
  method: string;
  params: Record<string, unknown>;
  /** The serialized request. */
  message: string;
  /** How often the request was sent. */
  attempts: number;
  /** Whether the request was sent on the current connection. */
  isSent: boolean;
  retry: boolean;
  /** Set for calls that restore a connection before it is open; receives the result before any later message. */
  restores: Restores | undefined;
  settle: (outcome: { result: unknown } | { error: unknown }) => void;
}

export class Client {
  /** The base URL for HTTP requests, with a trailing slash. */
  readonly httpUrl: string;
  /** Headers that authenticate HTTP requests. */
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
  /** Connection attempts since the last success. */
  #attempts = 0;
  #reconnectTimer: ReturnType<typeof setTimeout> | undefined;
  #connectTimer: ReturnType<typeof setTimeout> | undefined;
  #silenceTimer: ReturnType<typeof setInterval> | undefined;
  /** Whether the gateway accepted the current socket. */
  #wasAdmitted = false;
  /** Why the client is closed; absent while it is not. */
  #closedBy: Error | undefined;

  constructor(options: ConnectOptions) {
    const url = new URL(options.url);
    url.protocol = url.protocol.replace("http", "ws");
    this.#webSocketUrl = url.href;
    url.protocol = url.protocol.replace("ws", "http");
    this.httpUrl = new URL("./", url).href;
    this.headers = authHeaders(options);
    this.#options = options;
    this.#open();
  }

  /** The current state of the connection. */
  get state(): ConnectionState {
    return this.#state;
  }

  /** Calls `listener` on every change of the state. Returns a function that removes the listener. */
  onState(listener: (state: ConnectionState) => void): () => void {
    return this.#stateListeners.add(listener);
  }

  /**
   * Calls `listener` when notifications may have been missed while there was no connection. The caller must then read
   * the state of the named workspace, thread or subscription again. Returns a function that removes the listener.
   */
  onGap(listener: (gap: Gap) => void): () => void {
    return this.#gapListeners.add(listener);
  }

  /** Calls `handler` for every notification of this name. Returns a function that removes the handler. */
  on<N extends keyof Notifications>(name: N, handler: (params: Notifications[N]) => void): () => void {
    const listeners = this.#notificationListeners.get(name) ?? new Listeners();
    this.#notificationListeners.set(name, listeners);
    return listeners.add(handler as (params: unknown) => void);
  }

  /** Calls `listener` for every binary frame. Returns a function that removes the listener. */
  onFrame(listener: (frame: ArrayBuffer) => void): () => void {
    return this.#frameListeners.add(listener);
  }

  /** Resolves when the connection is open; rejects when the client is closed or `signal` aborts. */
  opened(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (this.#state === "open") end(resolve);
        else if (this.#closedBy) end(() => reject(this.#closedBy));
        else if (signal?.aborted) end(() => reject(signal.reason));
      };
      const end = (settle: () => void) => {
        off();
        signal?.removeEventListener("abort", check);
        settle();
      };
      const off = this.onState(check);
      signal?.addEventListener("abort", check);
      check();
    });
  }

  /** Calls a method and returns its result; rejects with one of the errors of this package. */
  async call<M extends keyof Methods>(method: M, ...rest: CallArguments<M>): Promise<Methods[M]["result"]> {
    const [params = {}, options = {}] = rest;
    const isRead = READS.has(method);
    const result = await this.#request(method, params as Record<string, unknown>, { retry: isRead, ...options });
    return result as Methods[M]["result"];
  }

  /**
   * Subscribes to the notifications of a workspace. The subscription survives reconnects without losing any.
   *
   * Naming a workspace in any call has the same effect, except that the first lost connection may cause a gap.
   */
  async follow(workspace_id: string): Promise<void> {
    await this.call("workspace/subscribe", { workspace_id });
    const after_seq = Number.MAX_SAFE_INTEGER;
    const { next_seq } = await this.call("session/resume", { workspace_id, after_seq });
    this.#following.knows(workspace_id, next_seq - 1);
  }

  /** Sends a binary frame; throws `ConnectionLostError` if the connection is not open. */
  sendFrame(frame: Uint8Array<ArrayBuffer>): void {
    if (this.#state !== "open" || !this.#socket) throw new ConnectionLostError("the connection is not open");
    this.#socket.send(frame);
  }

  /** Closes the client permanently. Pending calls fail with `ClosedError`. */
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
        throw new QueueFullError(`\`${method}\` was not sent: ${maxPending} calls are already pending`);
      }
      const id = this.#nextId++;
      const message = JSON.stringify({ jsonrpc: "2.0", id, method, params });
      // A UTF-16 code unit takes at most three bytes in UTF-8, so only long messages have to be encoded to be measured.
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
    if (!Socket) throw new TypeError("there is no global `WebSocket`: pass the option `WebSocket` to `connect`");
    const { token, pageKey } = this.#options;
    const protocols = ["accord"];
    if (token !== undefined) protocols.push(`bearer.${token}`);
    else if (pageKey !== undefined) protocols.push(`page-key.${pageKey}`);
    const socket = new Socket(this.#webSocketUrl, protocols);
    this.#socket = socket;
    this.#wasAdmitted = false;
    socket.binaryType = "arraybuffer";
    this.#connectTimer = setTimeout(() => this.#lost(socket), CONNECT_TIMEOUT);
    let hasReceived = true;
    let isProbing = false;
    socket.onopen = () => {
      this.#wasAdmitted = true;
      clearTimeout(this.#connectTimer);
      this.#silenceTimer = setInterval(() => {
        if (!hasReceived && isProbing) return this.#lost(socket);
        isProbing = !hasReceived;
        if (isProbing) this.#request("system/capabilities", {}, { restores: () => {} }).catch(() => {});
        hasReceived = false;
      }, SILENCE);
      void this.#restore(socket);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      hasReceived = true;
      if (typeof event.data === "string") this.#receive(event.data);
      else this.#frameListeners.tell(event.data);
    };
    // Not every implementation emits `close` for a socket that never opened.
    socket.onerror = () => this.#lost(socket);
    socket.onclose = (event) => {
      if (event.code === ACCESS_REVOKED) this.#end(new ClosedError(`the gateway revoked the access: ${event.reason}`));
      else this.#lost(socket);
    };
  }

  /** Restores the subscriptions of the previous connection on the new socket, then sends the waiting calls. */
  async #restore(socket: WebSocket): Promise<void> {
    let gaps: Gap[];
    try {
      gaps = await this.#following.restore((method, params, answered) => {
        return this.#request(method, params, { timeout: 30_000, restores: answered ?? (() => {}) });
      });
    } catch {
      // The connection broke again, or a call timed out: the next connection restores the subscriptions.
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

  /** Handles a lost connection: calls that can be retried wait for the next one, the others fail. */
  #lost(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#drop();
    this.#following.hold();
    this.#enter("reconnecting");
    for (const pending of [...this.#pending.values()]) {
      if (!pending.isSent) continue;
      pending.isSent = false;
      if (pending.retry && !pending.restores && pending.attempts < MAX_ATTEMPTS) continue;
      const reason = `the connection broke before \`${pending.method}\` was answered`;
      pending.settle({ error: new ConnectionLostError(reason) });
    }
    if (this.#closedBy) return;
    if (this.#wasAdmitted || Object.keys(this.headers).length === 0) return this.#openLater();
    // The WebSocket API does not expose why the gateway rejected the handshake.
    void this.#refusal().then((reason) => {
      if (reason !== undefined) this.#end(new AuthenticationError(reason));
      else if (!this.#closedBy) this.#openLater();
    });
  }

  /** Returns why the gateway rejects the token or page key; `undefined` if it accepts it or cannot be reached. */
  async #refusal(): Promise<string | undefined> {
    try {
      const answer = await fetch(`${this.httpUrl}ws`, {
        headers: this.headers,
        cache: "no-store",
        signal: AbortSignal.timeout(CONNECT_TIMEOUT),
      });
      if (answer.status !== 401) return undefined;
      return (await answer.text()).trim() || "the gateway rejects the token";
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

  /** Discards the socket without waiting for its close handshake, which may never complete. */
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
      const { code, message: reason, data } = message.error;
      pending.settle({ error: new RpcError(pending.method, code, reason, data) });
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
