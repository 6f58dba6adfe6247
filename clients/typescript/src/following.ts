// The subscriptions of a connection and their restoration on the next one: every notification is delivered once, and
// possible losses are reported as gaps.
//
// Every notification of a workspace has an increasing sequence number. `session/resume` replays those after the last
// one delivered, while new ones may already arrive in between; they are held until the replay is complete and then
// delivered in order.

import type { EventsNotification, EventsSubscribeParams } from "./generated.js";
import { ConnectionLostError, RpcError } from "./errors.js";

/** A notification as it arrives. */
export interface Arrival {
  method: string;
  params: Record<string, unknown>;
  /** The sequence number within its workspace; absent for notifications that are not numbered. */
  seq?: number;
}

/** The workspace, thread or subscription whose notifications may have been missed; its state must be read again. */
export type Gap = { workspace_id: string } | { thread_id: string } | { subscription_id: string };

/** A sequence number above all others, with which `session/resume` replays nothing. */
const LATEST = Number.MAX_SAFE_INTEGER;
/** How long the client waits for announced notifications to be replayed, in milliseconds. */
const HOLD = 1000;

interface Workspace {
  /** The sequence number of the last delivered notification; absent before the first. */
  last: number | undefined;
  /** Notifications that wait for earlier ones; absent outside of a restoration. */
  held: Held | undefined;
}

interface Held {
  arrivals: Arrival[];
  /** Replayed notifications, numbered below `next`, that are still to come; absent until `session/resume` returns. */
  missing: number | undefined;
  next: number;
  /** Called when the last replayed notification has arrived. */
  complete: () => void;
}

interface Resumed {
  replayed: number;
  gap: boolean;
  next_seq: number;
}

/** Calls a method; `answered` receives the result before any later message is processed. */
type Call = (
  method: string,
  params: Record<string, unknown>,
  answered?: (result: Record<string, unknown>) => void,
) => Promise<Record<string, unknown>>;

export class Following {
  readonly #workspaces = new Map<string, Workspace>();
  /** Open threads with their workspaces. */
  readonly #threads = new Map<string, string>();
  /** Subscriptions to events of company folders, each with the id of the last event delivered. */
  readonly #subscriptions = new Map<string, { params: EventsSubscribeParams; lastEvent: string | undefined }>();
  readonly #deliver: (arrival: Arrival) => void;
  /** Gaps that have not been reported yet. */
  readonly #gaps: Gap[] = [];
  /** Whether threads are being reopened. */
  #restoring = false;

  /** `deliver` receives every notification once, in order. */
  constructor(deliver: (arrival: Arrival) => void) {
    this.#deliver = deliver;
  }

  /** Updates the subscriptions from a successful call. */
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

  /** Marks all notifications up to `last` as delivered, because the caller reads the state after them. */
  knows(workspace: string, last: number): void {
    const followed = this.#workspaces.get(workspace);
    if (followed) followed.last = Math.max(followed.last ?? 0, last);
  }

  /** Delivers a notification, unless it was delivered before or must wait for earlier ones. */
  arrived(arrival: Arrival): void {
    const { method, params, seq } = arrival;
    // Restoring reopens the threads; the notifications that this causes are not delivered.
    if (method === "thread/started" && this.#restoring) return;
    if (method === "events.notification") {
      const { subscription_id, event } = params as unknown as EventsNotification;
      const subscription = this.#subscriptions.get(subscription_id);
      if (subscription) subscription.lastEvent = text((event as { event_id?: unknown }).event_id);
    }
    const followed = seq === undefined ? undefined : this.#workspaces.get(workspaceOf(params) ?? "");
    if (seq === undefined || !followed) {
      this.#deliver(arrival);
      return;
    }
    const held = followed.held;
    if (!held) {
      this.#deliverNew(followed, arrival, seq);
      return;
    }
    held.arrivals.push(arrival);
    if (held.missing !== undefined && seq < held.next) {
      held.missing -= 1;
      if (held.missing <= 0) held.complete();
    }
  }

  #deliverNew(followed: Workspace, arrival: Arrival, seq: number): void {
    if (followed.last !== undefined && seq <= followed.last) return;
    followed.last = seq;
    this.#deliver(arrival);
  }

  /** Handles a lost connection: numbered notifications of the next one are held until `restore` has completed. */
  hold(): void {
    this.#restoring = true;
    for (const followed of this.#workspaces.values()) {
      followed.held?.complete();
      followed.held = { arrivals: [], missing: undefined, next: 0, complete: () => {} };
    }
  }

  /** Restores the subscriptions on a new connection. Returns the gaps. */
  async restore(call: Call): Promise<Gap[]> {
    // Threads first: the gateway replays the notifications of a thread only to connections that have opened it.
    await Promise.all([...this.#threads].map(([thread, workspace]) => this.#reopen(call, thread, workspace)));
    this.#restoring = false;
    await Promise.all([...this.#workspaces].map(([id, followed]) => this.#resume(call, id, followed)));
    await Promise.all([...this.#subscriptions.keys()].map((id) => this.#resubscribe(call, id)));
    return this.#gaps.splice(0);
  }

  async #reopen(call: Call, thread_id: string, workspace_id: string): Promise<void> {
    try {
      // `thread/start` would create a thread that was deleted.
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
      const isComplete = await replayed;
      if (followed.held !== held) throw new ConnectionLostError("the connection broke during the replay");
      if (answer.gap || !isComplete) this.#gaps.push({ workspace_id });
      // The gateway does not know this sequence number; after the restore of a backup it may count from a lower one.
      if (answer.gap) followed.last = undefined;
      this.#release(followed);
      followed.last = Math.max(followed.last ?? 0, answer.next_seq - 1);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.#workspaces.delete(workspace_id);
      this.#gaps.push({ workspace_id });
    }
  }

  /** Delivers the held notifications in order, each once. */
  #release(followed: Workspace): void {
    const arrivals = followed.held?.arrivals ?? [];
    followed.held = undefined;
    arrivals.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
    for (const arrival of arrivals) this.#deliverNew(followed, arrival, arrival.seq ?? 0);
  }

  async #resubscribe(call: Call, subscription_id: string): Promise<void> {
    const subscription = this.#subscriptions.get(subscription_id);
    if (!subscription) return;
    const { backfill_limit: _, after_event_id: __, ...params } = subscription.params;
    // Only the events of a single run have an order that a subscription can continue in.
    const canContinue = params.run_id && params.workspace_dir && subscription.lastEvent;
    try {
      const position = canContinue ? { after_event_id: subscription.lastEvent } : {};
      await call("events.subscribe", { ...params, ...position });
      if (!canContinue) this.#gaps.push({ subscription_id });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.#subscriptions.delete(subscription_id);
      this.#gaps.push({ subscription_id });
    }
  }
}

/** Waits for the notifications that `session/resume` replays. Returns whether all arrived in time. */
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

/** Returns the workspace that a message names in any of its known members. */
function workspaceOf(message: Record<string, unknown>): string | undefined {
  const thread = message["thread"] as { workspace_id?: unknown } | null | undefined;
  const workspace = message["workspace"] as { id?: unknown } | null | undefined;
  const found = [message["workspace_id"], message["workspaceId"], thread?.workspace_id, workspace?.id];
  return found.map(text).find((id) => id !== undefined);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
