// The subscription to the events of the shown company folder.

import { useEffect, useRef } from "react";
import { call, invalidate } from "../../data/calls.ts";
import { client } from "../../data/client.ts";
import { readEvent, type RunEvent } from "./events.ts";

/** Milliseconds within which several events cause one invalidation. */
const PAUSE = 250;

/** The queries that an event may affect. Output of workers affects none of them. */
const READS = [
  "workspace.home.snapshot",
  "workspace.projects.list",
  "monitor.snapshot",
  "inbox.snapshot",
  "usage.analytics",
  "resources.snapshot",
  "agent.profile.snapshot",
  "memory.list_deltas",
  "run.list",
  "session.list",
  "job.list",
  "job.collect",
  "pm.snapshot",
  "task.list",
  "comment.list",
  "heartbeat.status",
  "index.list_reviews",
] as const;

export type LiveEvent = RunEvent & { project: string };

/** Milliseconds for which events are collected, so that a burst is rendered once. */
const GATHER = 50;

const listeners = new Set<(events: LiveEvent[]) => void>();
let gathered: LiveEvent[] = [];
let followed: { dir: string; events: string; messages: string } | undefined;
let nextSubscription = 1;
let isWaiting = false;

function stale(dir: string): void {
  if (isWaiting) return;
  isWaiting = true;
  setTimeout(() => {
    isWaiting = false;
    invalidate([...READS], { workspace_dir: dir });
  }, PAUSE);
}

client.on("events.notification", ({ subscription_id, event, seq, project_id }) => {
  if (!followed || subscription_id !== followed.events) return;
  const read = { ...readEvent(event, seq ?? 0), project: project_id ?? "" };
  if (read.type !== "provider.raw") stale(followed.dir);
  if (gathered.length === 0) setTimeout(tell, GATHER);
  gathered.push(read);
});

function tell(): void {
  const events = gathered;
  gathered = [];
  listeners.forEach((listener) => listener(events));
}

client.on("conversation.notification", ({ subscription_id, conversation }) => {
  if (!followed || subscription_id !== followed.messages) return;
  invalidate(["conversation.messages.list"], { workspace_dir: followed.dir, conversation_id: conversation.id });
});

/** Subscribes to the events of a folder and unsubscribes from the previous one. */
export function followCompany(dir: string): void {
  if (followed?.dir === dir) return;
  if (followed) {
    for (const subscription_id of [followed.events, followed.messages]) {
      call("events.unsubscribe", { subscription_id }).catch(() => {});
    }
  }
  const name = `desktop_${nextSubscription++}`;
  followed = { dir, events: name, messages: `${name}_messages` };
  // If the subscription fails, the folder cannot be read either, which its views report.
  call("events.subscribe", { subscription_id: followed.events, workspace_dir: dir }).catch(() => {});
  call("events.subscribe", {
    subscription_id: followed.messages,
    workspace_dir: dir,
    event_types: ["conversation.message"],
  }).catch(() => {});
}

/** Calls the listener with batches of events of the shown folder while the component is mounted. */
export function useEvents(listener: (events: LiveEvent[]) => void): void {
  const held = useRef(listener);
  held.current = listener;
  useEffect(() => {
    const own = (events: LiveEvent[]) => held.current(events);
    listeners.add(own);
    return () => void listeners.delete(own);
  }, []);
}
