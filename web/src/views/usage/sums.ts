// Sums over runs. Reported and estimated amounts are never mixed.

import type { UsageAnalyticsResponse, UsageRun, UsageTotals } from "@accord/client";
import { count, dollars } from "../../parts/size.ts";
import { isPlainCommand } from "../company/worker.ts";

export type Measure = "tokens" | "cost";

/** The maximum number of runs to add up. */
export const RUNS = 5000;

export interface Sum {
  label: string;
  reported: number;
  estimated: number;
  runs: number;
  /** The number of runs with a known price. */
  priced: number;
}

function add(sum: Sum, run: UsageRun, measure: Measure): void {
  const amount = measure === "tokens" ? run.total_tokens : (run.cost_usd ?? 0);
  if (run.usage_source === "provider_reported") sum.reported += amount;
  else sum.estimated += amount;
  sum.runs += 1;
  if (run.cost_usd != null) sum.priced += 1;
}

const empty = (label: string): Sum => ({ label, reported: 0, estimated: 0, runs: 0, priced: 0 });

/** Returns the runs that used a model; shell commands use none, although their output has an estimate. */
export const ofModels = (runs: UsageRun[]) => runs.filter(({ provider }) => !isPlainCommand(provider));

/** Returns the totals of all time minus the shell commands among the loaded runs. */
export function totalsOfModels({ all_time_totals, recent_runs }: UsageAnalyticsResponse): UsageTotals {
  const totals = { ...all_time_totals };
  for (const run of recent_runs.filter(({ provider }) => isPlainCommand(provider))) {
    totals.run_count -= 1;
    totals.total_tokens -= run.total_tokens;
    totals.total_cost_usd -= run.cost_usd ?? 0;
    if (run.cost_usd == null) totals.unpriced_run_count -= 1;
    else totals.priced_run_count -= 1;
    if (run.usage_source === "provider_reported") totals.provider_reported_count -= 1;
    if (run.usage_source === "estimated_chars") totals.estimated_count -= 1;
  }
  return totals;
}

/** Returns one sum for each of the last days, in the time zone of the browser. */
export function byDay(runs: UsageRun[], days: number, measure: Measure): Sum[] {
  const sums = new Map<string, Sum>();
  const today = new Date();
  for (let i = days - 1; i >= 0; i -= 1) {
    const label = dayOf(new Date(today.getFullYear(), today.getMonth(), today.getDate() - i));
    sums.set(label, empty(label));
  }
  for (const run of runs) {
    const sum = sums.get(dayOf(new Date(run.created_at)));
    if (sum) add(sum, run, measure);
  }
  return [...sums.values()];
}

const pad = (value: number) => String(value).padStart(2, "0");
const dayOf = (date: Date) => `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;

/** Returns one sum per name, largest first. */
export function byKey(runs: UsageRun[], keyOf: (run: UsageRun) => string, measure: Measure): Sum[] {
  const sums = new Map<string, Sum>();
  for (const run of runs) {
    const key = keyOf(run);
    const sum = sums.get(key) ?? empty(key);
    sums.set(key, sum);
    add(sum, run, measure);
  }
  return [...sums.values()].sort((a, b) => b.reported + b.estimated - a.reported - a.estimated);
}

export function amount(value: number, measure: Measure): string {
  if (measure === "tokens") return count(value);
  return dollars(value, value > 0 && value < 1 ? 4 : 2);
}

/** Formats an amount of a sum. The cost of runs without a price is unknown, not zero. */
export function amountOf(value: number, { runs, priced }: Sum, measure: Measure): string {
  return measure === "cost" && runs > 0 && priced === 0 ? "Unknown" : amount(value, measure);
}

/** Returns the steps of an axis up to a round number at or above the largest value. */
export function scaleOf(largest: number): number[] {
  if (largest <= 0) return [0, 1];
  const power = 10 ** Math.floor(Math.log10(largest / 4));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one * 4 >= largest) ?? power * 10;
  return [0, 1, 2, 3, 4].map((i) => i * step).filter((value) => value - step < largest);
}

/** Formats a number for an axis: 12k, 3.5M. */
export function short(value: number, measure: Measure): string {
  const text = value >= 1e6 ? `${round(value / 1e6)}M` : value >= 1e3 ? `${round(value / 1e3)}k` : String(round(value));
  return measure === "cost" ? `$${text}` : text;
}

const round = (value: number) => Math.round(value * 100) / 100;
