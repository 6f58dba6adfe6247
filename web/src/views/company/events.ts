// Events of runs.

import { reworded } from "../../data/wording.ts";
import { plainText } from "../../parts/ansi.ts";
import { count, dollars } from "../../parts/size.ts";
import type { Meaning } from "../../parts/Status.tsx";
import { isRecord } from "./records.ts";
import { summaryOf } from "./worker-output.ts";

export interface RunEvent {
  /** The position in the log of the run, from 1. */
  seq: number;
  id: string;
  type: string;
  at: string;
  actor: string;
  run: string;
  session: string;
  visibility: string;
  payload: Record<string, unknown>;
  hash: string;
  previousHash: string;
}

const text = (value: unknown) => (typeof value === "string" ? value : "");

/** Parses an event of a log; missing fields are blank. */
export function readEvent(value: unknown, seq: number): RunEvent {
  const event = isRecord(value) ? value : {};
  return {
    seq,
    id: text(event["event_id"]),
    type: text(event["type"]) || "unreadable",
    at: text(event["ts_wallclock"]),
    actor: text(event["actor"]),
    run: text(event["run_id"]),
    session: text(event["session_ref"]),
    visibility: text(event["visibility"]),
    payload: isRecord(event["payload"]) ? event["payload"] : {},
    hash: text(event["event_hash"]),
    previousHash: text(event["prev_event_hash"]),
  };
}

/** The groups of the event filter. */
export const EVENT_GROUPS = [
  { id: "all", label: "All" },
  { id: "run", label: "Run" },
  { id: "output", label: "Output events" },
  { id: "policy", label: "Policy" },
  { id: "budget", label: "Usage and budget" },
  { id: "people", label: "Decisions and comments" },
] as const;

export type EventGroup = (typeof EVENT_GROUPS)[number]["id"];

export function groupOf(type: string): EventGroup {
  if (type === "provider.raw") return "output";
  if (type.startsWith("policy.") || type.startsWith("worker.")) return "policy";
  if (type.startsWith("budget.") || type.startsWith("usage.") || type.startsWith("context.cycle")) return "budget";
  if (/^(approval|comment|memory|evaluation)\./.test(type)) return "people";
  return "run";
}

export function eventMeaning({ type, payload }: RunEvent): Meaning {
  if (type === "approval.decided") return payload["decision"] === "approved" ? "done" : "failed";
  if (type === "policy.decision") return payload["allowed"] === false ? "failed" : "idle";
  if (/\.(failed|denied|exceeded)$/.test(type)) return "failed";
  if (type === "run.ended") return "done";
  if (type === "budget.alert" || type === "memory.delta.proposed") return "waiting";
  if (type === "run.executing") return "running";
  return "idle";
}

/** Returns a summary of an event in one line. */
export function eventLine({ type, payload }: RunEvent): string {
  const has = (name: string) => payload[name] !== undefined && payload[name] !== null;
  const value = (name: string) => String(payload[name]);
  if (type === "provider.raw") {
    return (
      plainText(summaryOf(text(payload["chunk"])))
        .trim()
        .split("\n")
        .at(-1) ?? ""
    );
  }
  if (type === "run.executing" && Array.isArray(payload["argv"])) return payload["argv"].map(String).join(" ");
  if (type === "run.started") return `with ${value("provider")}`;
  if (has("decision") && has("subject_kind"))
    return `${value("decision")}: ${value("subject_kind").replace(/_/g, " ")}`;
  if (type.startsWith("policy.")) {
    const policy = isRecord(payload["policy"]) ? payload["policy"] : payload;
    return `${value("action")} ${policy["allowed"] === false ? "denied" : "allowed"} by ${String(policy["rule_id"])}`;
  }
  if (type.startsWith("budget."))
    return `${value("scope")} ${value("metric")}: ${value("actual")} of ${value("threshold")}`;
  if (type === "usage.cost_computed") return dollars(Number(payload["cost_usd"]), 4);
  if (type.startsWith("usage.")) return `${count(Number(payload["total_tokens"]))} tokens`;
  if (type === "comment.added") return text(payload["body"]);
  if (type === "run.failed" && has("error")) return reworded(value("error"));
  if (has("exit_code")) return `exit code ${value("exit_code")}`;
  if (has("signal")) return `by ${value("signal")}`;
  if (has("reason")) return value("reason").replace(/_/g, " ");
  if (has("error")) return reworded(value("error"));
  if (has("target_file")) return `for ${value("target_file").split("/").at(-1)}`;
  if (has("artifact_type")) return value("artifact_type").replace(/_/g, " ");
  if (has("artifact_id")) return value("artifact_id");
  return "";
}
