// What a connection listens to, and how that is restored on the next one: no notification is lost unnoticed, and
// none comes twice.
//
// Every notification of a workspace has a number that grows. `session/resume` sends those after the last one seen,
// while new ones may already come in between; so they are held until all are there, and then told in order.

import type { EventsNotification, EventsSubscribeParams } from "./generated.js";
import { ConnectionLostError, RpcError } from "./errors.js";

/** A notification as it comes. */
export interface Arrival {
  method: string;
  params: Record<string, unknown>;
  /** Its number within its workspace, if it has one. */
  seq?: number;
}

/** What may have been missed: read the state of it again. */
export type Gap = { workspace_id: string } | { thread_id: string } | { subscription_id: string };

/** A number above all: whoever has seen it has nothing to be sent. */
const LATEST = Number.MAX_SAFE_INTEGER;
/** How long held notifications wait for one that the gateway promised, in milliseconds. */
const HOLD = 1000;

interface Workspace {
  /** The number of the last notification told; none before the first. */
  last: number | undefined;
  /** Notifications that wait for earlier ones; none while all is well. */
  held: Held | undefined;
}

interface Held {
  arrivals: Arrival[];
  /** How many replayed ones, with numbers below `next`, are still to come; unknown before the gateway has said. */
  missing: number | undefined;
  next: number;
  /** Called when the last one is there. */
  complete: () => void;
}

interface Resumed {
  replayed: number;
  gap: boolean;
  next_seq: number;
}

/** Calls a method; `answered` gets the answer before anything behind it arrives. */
type Call = (
  method: string,
  params: Record<string, unknown>,
  answered?: (result: Record<string, unknown>) => void,
) => Promise<Record<string, unknown>>;

export class Following {
  readonly #workspaces = new Map<string, Workspace>();
  /** The open threads, each with its workspace. */
  readonly #threads = new Map<string, string>();
  /** The subscriptions to events of company folders, each with the last event it told. */
  readonly #subscriptions = new Map<string, { params: EventsSubscribeParams; lastEvent: string | undefined }>();
  readonly #tell: (arrival: Arrival) => void;
  /** What may have been missed and nobody was told of yet. */
  readonly #gaps: Gap[] = [];
  /** Whether threads are being opened again. */
  #restoring = false;

  /** `tell` gets every notification once, in order. */
  constructor(tell: (arrival: Arrival) => void) {
    this.#tell = tell;
  }

  /** Learns from an answered call what the connection listens to. */
  answered(method: string, params: Record<string, unknown>, result: Record<string, unknown>): void {
    const thread = text(params["thread_id"]) ?? text(params["threadId"]);
    const workspace = workspaceOf(params) ?? workspaceOf(result);
    switch (method) {
      case "workspace/unsubscribe":
        this.#workspaces.delete(workspace ?? "");
        return;
      case "thread/start":
        if (thread && workspace) this.#threads.set(thread, workspace);
        break;
      case "thread/unsubscribe":
      case "thread/delete":
        this.#threads.delete(thread ?? "");
        break;
      case "events.subscribe": {
        const id = text(result["subscription_id"]);
        if (id) this.#subscriptions.set(id, { params: { ...params, subscription_id: id }, lastEvent: undefined });
        break;
      }
      case "events.unsubscribe":
        this.#subscriptions.delete(text(params["subscription_id"]) ?? "");
        break;
    }
    if (workspace && !this.#workspaces.has(workspace)) {
      this.#workspaces.set(workspace, { last: undefined, held: undefined });
    }
  }

  /** Everything up to `last` is known to whoever asked, as they read the state after it. */
  knows(workspace: string, last: number): void {
    const followed = this.#workspaces.get(workspace);
    if (followed) followed.last = Math.max(followed.last ?? 0, last);
  }

  /** Takes a notification and tells it, unless it was told before or has to wait. */
  arrived(arrival: Arrival): void {
    const { method, params, seq } = arrival;
    // Restoring opens the threads again, which is nobody's business.
    if (method === "thread/started" && this.#restoring) return;
    if (method === "events.notification") {
      const { subscription_id, event } = params as unknown as EventsNotification;
      const subscription = this.#subscriptions.get(subscription_id);
      if (subscription) subscription.lastEvent = text((event as { event_id?: unknown }).event_id);
    }
    const followed = seq === undefined ? undefined : this.#workspaces.get(workspaceOf(params) ?? "");
    if (seq === undefined || !followed) {
      this.#tell(arrival);
      return;
    }
    const held = followed.held;
    if (!held) {
      this.#tellNew(followed, arrival, seq);
      return;
    }
    held.arrivals.push(arrival);
    if (held.missing !== undefined && seq < held.next) {
      held.missing -= 1;
      if (held.missing <= 0) held.complete();
    }
  }

  #tellNew(followed: Workspace, arrival: Arrival, seq: number): void {
    if (followed.last !== undefined && seq <= followed.last) return;
    followed.last = seq;
    this.#tell(arrival);
  }

  /** The connection broke: numbered notifications of the next one wait for `restore`. */
  hold(): void {
    this.#restoring = true;
    for (const followed of this.#workspaces.values()) {
      followed.held?.complete();
      followed.held = { arrivals: [], missing: undefined, next: 0, complete: () => {} };
    }
  }

  /** Listens on a new connection to what the old one listened to. Answers what may have been missed. */
  async restore(call: Call): Promise<Gap[]> {
    // Threads first: what is missed of a thread is sent only to those who listen to it.
    await Promise.all([...this.#threads].map(([thread, workspace]) => this.#reopen(call, thread, workspace)));
    this.#restoring = false;
    await Promise.all([...this.#workspaces].map(([id, followed]) => this.#resume(call, id, followed)));
    await Promise.all([...this.#subscriptions.keys()].map((id) => this.#resubscribe(call, id)));
    return this.#gaps.splice(0);
  }

  async #reopen(call: Call, thread_id: string, workspace_id: string): Promise<void> {
    try {
      // Starting a thread that is gone would make a new one.
      await call("thread/get", { thread_id });
      await call("thread/start", { thread_id, workspace_id });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.#threads.delete(thread_id);
      this.#gaps.push({ thread_id });
    }
  }

  async #resume(call: Call, workspace_id: string, followed: Workspace): Promise<void> {
    const held = followed.held;
    let replayed = Promise.resolve(true);
    try {
      const params = { workspace_id, after_seq: followed.last ?? LATEST };
      const answer = (await call("session/resume", params, (result) => {
        const { replayed: missing, next_seq } = result as unknown as Resumed;
        if (held && missing > 0) replayed = allReplayed(held, missing, next_seq);
      })) as unknown as Resumed;
      const areAllThere = await replayed;
      if (followed.held !== held) throw new ConnectionLostError("the connection broke while notifications came");
      if (answer.gap || !areAllThere) this.#gaps.push({ workspace_id });
      // The gateway does not know our number: it may count anew, from a restored backup for example.
      if (answer.gap) followed.last = undefined;
      this.#release(followed);
      followed.last = Math.max(followed.last ?? 0, answer.next_seq - 1);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.#workspaces.delete(workspace_id);
      this.#gaps.push({ workspace_id });
    }
  }

  /** Tells what was held, in order, each once. */
  #release(followed: Workspace): void {
    const arrivals = followed.held?.arrivals ?? [];
    followed.held = undefined;
    arrivals.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
    for (const arrival of arrivals) this.#tellNew(followed, arrival, arrival.seq ?? 0);
  }

  async #resubscribe(call: Call, subscription_id: string): Promise<void> {
    const subscription = this.#subscriptions.get(subscription_id);
    if (!subscription) return;
    const { backfill_limit: _, after_event_id: __, ...params } = subscription.params;
    // Only the events of one run have an order one can go on in.
    const goesOn = params.run_id && params.workspace_dir && subscription.lastEvent;
    try {
      await call("events.subscribe", goesOn ? { ...params, after_event_id: subscription.lastEvent } : { ...params });
      if (!goesOn) this.#gaps.push({ subscription_id });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.#subscriptions.delete(subscription_id);
      this.#gaps.push({ subscription_id });
    }
  }
}

/** Waits for the notifications that follow the answer of `session/resume`. Answers whether all came. */
function allReplayed(held: Held, missing: number, next: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), HOLD);
    held.missing = missing;
    held.next = next;
    held.complete = () => {
      clearTimeout(timer);
      resolve(true);
    };
  });
}

/** The workspace a message is about, wherever it says so. */
function workspaceOf(message: Record<string, unknown>): string | undefined {
  const thread = message["thread"] as { workspace_id?: unknown } | null | undefined;
  const workspace = message["workspace"] as { id?: unknown } | null | undefined;
  const found = [message["workspace_id"], message["workspaceId"], thread?.workspace_id, workspace?.id];
  return found.map(text).find((id) => id !== undefined);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
