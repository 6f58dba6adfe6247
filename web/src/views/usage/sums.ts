// Adding up runs: reported and estimated amounts are never mixed.

import type { UsageAnalyticsResponse, UsageRun, UsageTotals } from "@accord/client";
import { count } from "../../parts/size.ts";
import { isPlainCommand } from "../company/worker.ts";

export type Measure = "tokens" | "cost";

/** How many runs are added up. */
export const RUNS = 5000;

export interface Sum {
  label: string;
  reported: number;
  estimated: number;
  runs: number;
  /** How many of the runs have a price; the cost of the others is unknown. */
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

/** The runs of models: what is estimated from the output of a plain command is no use of a model. */
export const ofModels = (runs: UsageRun[]) => runs.filter(({ provider }) => !isPlainCommand(provider));

/** The totals of all time without plain commands, as far as the runs that were read tell which those are. */
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

/** One sum for each of the last days, also those without a run; days are those of this browser. */
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

/** One sum for each name, the largest first. */
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
  return `$${value.toFixed(value > 0 && value < 1 ? 4 : 2)}`;
}

/** An amount of a sum; the cost of runs without a price is unknown, not zero. */
export function amountOf(value: number, { runs, priced }: Sum, measure: Measure): string {
  return measure === "cost" && runs > 0 && priced === 0 ? "unknown" : amount(value, measure);
}

/** A round number at or above the largest, and the steps up to it. */
export function scaleOf(largest: number): number[] {
  if (largest <= 0) return [0, 1];
  const power = 10 ** Math.floor(Math.log10(largest / 4));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one * 4 >= largest) ?? power * 10;
  return [0, 1, 2, 3, 4].map((i) => i * step).filter((value) => value - step < largest);
}

/** Short enough for an axis: 12k, 3.5M. */
export function short(value: number, measure: Measure): string {
  const text = value >= 1e6 ? `${round(value / 1e6)}M` : value >= 1e3 ? `${round(value / 1e3)}k` : String(round(value));
  return measure === "cost" ? `$${text}` : text;
}

const round = (value: number) => Math.round(value * 100) / 100;
