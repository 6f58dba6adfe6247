// The turns of a thread: its recorded events and live notifications.

import type { Thread, Turn, TurnEvent, TurnItem, TurnStatus, TurnUsage, UserInput } from "@accord/client";
import { call } from "../../data/calls.ts";
import { client } from "../../data/client.ts";

export interface ShownTurn {
  id: string;
  status: TurnStatus;
  error: string | undefined;
  /** Unix milliseconds; undefined if only later events of the turn are known. */
  startedAt: number | undefined;
  endedAt: number | undefined;
  usage: TurnUsage | undefined;
  input: UserInput[];
  items: TurnItem[];
  /** The id of the item whose text is being streamed. */
  streaming: string | undefined;
}

export type ConversationState =
  { kind: "loading" } | { kind: "gone" } | { kind: "failed"; error: unknown } | { kind: "ready"; thread: Thread };

/** The number of events to load, newest first. */
const EVENTS = 2000;

export class Conversation {
  state: ConversationState = { kind: "loading" };
  turns: ShownTurn[] = [];
  readonly #workspace: string;
  readonly #thread: string;
  readonly #turns = new Map<string, ShownTurn>();
  readonly #listeners = new Set<() => void>();
  #snapshot = 0;
  #frame = 0;

  constructor(workspace: string, thread: string) {
    this.#workspace = workspace;
    this.#thread = thread;
  }

  /** Loads the thread and listens to notifications. Returns a function that stops listening. */
  open(): () => void {
    const isOurs = (params: { thread_id: string }) => params.thread_id === this.#thread;
    const stops = [
      client.on("turn/started", (params) => isOurs(params) && this.#ended(params.turn)),
      client.on("turn/completed", (params) => isOurs(params) && this.#ended(params.turn)),
      client.on("turn/failed", (params) => isOurs(params) && this.#ended(params.turn)),
      client.on("item/started", (params) => isOurs(params) && this.#item(params.turn_id, params.item, true)),
      client.on("item/completed", (params) => isOurs(params) && this.#item(params.turn_id, params.item, false)),
      client.on("item/agent_message/delta", (params) => {
        if (isOurs(params)) this.#delta(params.turn_id, params.item_id, params.delta);
      }),
      client.on("thread/updated", ({ thread }) => {
        if (thread.id === this.#thread && this.state.kind === "ready") this.#enter({ kind: "ready", thread });
      }),
      client.onState((state) => {
        if (state === "open") void this.load();
      }),
    ];
    void this.load();
    return () => {
      stops.forEach((stop) => stop());
      cancelAnimationFrame(this.#frame);
      call("thread/unsubscribe", { threadId: this.#thread }).catch(() => {});
    };
  }

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  snapshot = () => this.#snapshot;

  get running(): ShownTurn | undefined {
    return this.turns.find(({ status }) => status === "InProgress");
  }

  async load(): Promise<void> {
    const thread_id = this.#thread;
    try {
      // `thread/start` would create a missing thread.
      await call("thread/get", { thread_id });
      const { thread } = await call("thread/start", { workspace_id: this.#workspace, thread_id }, { retry: true });
      const { events } = await call("thread/history", { thread_id, limit: EVENTS });
      for (const event of events) this.#record(event);
      this.#enter({ kind: "ready", thread });
    } catch (error) {
      const isGone =
        (error as { kind?: string }).kind === "not_found" || /not (found|in)|no thread/i.test(String(error));
      if (this.state.kind !== "ready" || isGone) this.#enter(isGone ? { kind: "gone" } : { kind: "failed", error });
    }
  }

  /** Shows a sent turn before the first notification about it. */
  sent(turn: Turn, input: UserInput[]): void {
    const shown = this.#turn(turn.id);
    shown.input = input;
    shown.startedAt ??= Date.now();
    this.#ended(turn);
  }

  #turn(id: string): ShownTurn {
    const known = this.#turns.get(id);
    if (known) return known;
    const made: ShownTurn = {
      id,
      status: "InProgress",
      error: undefined,
      startedAt: undefined,
      endedAt: undefined,
      usage: undefined,
      input: [],
      items: [],
      streaming: undefined,
    };
    this.#turns.set(id, made);
    return made;
  }

  #record({ turn_id, created_at, payload }: TurnEvent): void {
    const turn = this.#turn(turn_id);
    switch (payload.type) {
      case "turnStarted":
        turn.input = payload.input;
        turn.startedAt = created_at;
        break;
      case "itemStarted":
        this.#put(turn, payload.item, true);
        break;
      case "itemCompleted":
        this.#put(turn, payload.item, false);
        break;
      case "turnCompleted":
        turn.status = "Completed";
        turn.endedAt = created_at;
        turn.usage = payload.usage ?? undefined;
        turn.streaming = undefined;
        break;
      case "turnFailed":
        turn.status = payload.status;
        turn.error = payload.error;
        turn.endedAt = created_at;
        turn.streaming = undefined;
        break;
    }
  }

  /** Adds or replaces an item. A late start event never replaces newer text. */
  #put(turn: ShownTurn, item: TurnItem, isBeginning: boolean): void {
    if (item.type === "userMessage" && turn.input.length === 0) turn.input = inputOf(item);
    const at = turn.items.findIndex(({ id }) => id === item.id);
    const known = turn.items[at];
    const isLess = isBeginning && known && "text" in known && "text" in item && known.text.length >= item.text.length;
    if (!isLess) turn.items = known ? turn.items.with(at, item) : [...turn.items, item];
    if (!isBeginning && turn.streaming === item.id) turn.streaming = undefined;
    if (isBeginning && !known && item.type === "agentMessage") turn.streaming = item.id;
  }

  #item(turnId: string, item: TurnItem, isBeginning: boolean): void {
    this.#put(this.#turn(turnId), item, isBeginning);
    this.#show();
  }

  #delta(turnId: string, itemId: string, delta: string): void {
    const turn = this.#turn(turnId);
    const at = turn.items.findIndex(({ id }) => id === itemId);
    const item = turn.items[at];
    if (item?.type !== "agentMessage" || turn.streaming !== itemId) return;
    turn.items = turn.items.with(at, { ...item, text: item.text + delta });
    this.#show();
  }

  #ended({ id, status, error }: Turn): void {
    const turn = this.#turn(id);
    turn.startedAt ??= Date.now();
    turn.status = status;
    turn.error = error ?? undefined;
    if (status !== "InProgress") {
      turn.streaming = undefined;
      turn.endedAt ??= Date.now();
    }
    this.#show();
  }

  #enter(state: ConversationState): void {
    this.state = state;
    this.#show();
  }

  /** Notifies the listeners at most once per frame. */
  #show(): void {
    if (this.#frame !== 0) return;
    const tell = () => {
      this.#frame = 0;
      this.turns = [...this.#turns.values()].map((turn) => ({ ...turn }));
      this.#snapshot += 1;
      this.#listeners.forEach((listener) => listener());
    };
    // Hidden tabs get no animation frames.
    if (document.hidden) tell();
    else this.#frame = requestAnimationFrame(tell);
  }
}

/** Returns the input of a turn that another client started, from its message item. */
function inputOf({ text, attachments = [] }: TurnItem & { type: "userMessage" }): UserInput[] {
  const artifacts = attachments.flatMap((one): UserInput[] => {
    const { artifact_id } = one as { artifact_id?: unknown };
    return typeof artifact_id === "string" ? [{ type: "artifact", artifact_id }] : [];
  });
  return text ? [{ type: "text", text }, ...artifacts] : artifacts;
}
