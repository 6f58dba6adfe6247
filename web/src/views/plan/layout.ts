// The layout of the Gantt chart: days to pixels, rows, and the lines between bars.

import type { GanttTask } from "@accord/client";

export const DAY = 86_400_000;
export const ROW = 32;
export const BAR = 16;
/** The height of the scale above the first row, in pixels. */
export const TOP = 40;

export interface Bar {
  task: GanttTask;
  row: number;
  /** Unix milliseconds. */
  start: number;
  end: number;
  x: number;
  width: number;
  y: number;
}

export interface Layout {
  /** The first day, at midnight UTC. */
  from: number;
  days: number;
  bars: Bar[];
  byId: Map<string, Bar>;
  width: number;
  height: number;
  x: (time: number) => number;
}

const midnight = (time: number) => Math.floor(time / DAY) * DAY;

/** The task that is being moved and is not saved yet. */
export interface Moved {
  task: string;
  start: number;
  end: number;
}

/** `room` is the minimum width in pixels. */
export function layout(
  tasks: GanttTask[],
  pixelsPerDay: number,
  now: number,
  moved: Moved | undefined,
  room: number,
): Layout {
  const times = tasks.map((task) => {
    const isMoved = moved?.task === task.task_id;
    const start = isMoved ? moved.start : Date.parse(task.start_at);
    const end = isMoved ? moved.end : Date.parse(task.end_at);
    return { task, start, end: Math.max(end, start + DAY / 4) };
  });
  const slackEnd = ({ task, end }: { task: GanttTask; end: number }) => end + task.slack_days * DAY;
  // The time range follows the saved plan, so that the chart does not shift during a drag.
  const known = tasks.map((task) => ({ task, start: Date.parse(task.start_at), end: Date.parse(task.end_at) }));
  const first = Math.min(now, ...known.map(({ start }) => start));
  const last = Math.max(now, ...known.map(slackEnd));
  const from = midnight(first) - 2 * DAY;
  const days = Math.max(Math.ceil((last - from) / DAY) + 4, Math.ceil(room / pixelsPerDay));
  const x = (time: number) => ((time - from) / DAY) * pixelsPerDay;
  const bars = times.map(({ task, start, end }, row) => ({
    task,
    row,
    start,
    end,
    x: x(start),
    width: x(end) - x(start),
    y: TOP + row * ROW + (ROW - BAR) / 2,
  }));
  return {
    from,
    days,
    bars,
    byId: new Map(bars.map((bar) => [bar.task.task_id, bar])),
    width: days * pixelsPerDay,
    height: TOP + tasks.length * ROW + 8,
    x,
  };
}

/** Returns the path from the end of one bar to the start of another. */
export function elbow(before: Bar, after: Bar): string {
  const [x1, y1] = [before.x + before.width, before.y + BAR / 2];
  const [x2, y2] = [after.x, after.y + BAR / 2];
  const out = 8;
  if (x2 - x1 >= 2 * out) {
    const middle = x2 - out;
    return `M${x1} ${y1}H${middle}V${y2}H${x2 - 4}`;
  }
  const between = y2 > y1 ? before.y + BAR + (ROW - BAR) / 2 : before.y - (ROW - BAR) / 2;
  return `M${x1} ${y1}h${out}V${between}H${x2 - out}V${y2}H${x2 - 4}`;
}

export interface Tick {
  x: number;
  label: string;
  isMajor: boolean;
}

const dayOf = new Intl.DateTimeFormat(undefined, { day: "numeric", timeZone: "UTC" });
const monthOf = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" });

/** Returns the ticks: days, or Mondays if days do not fit, and the first day of each month. */
export function ticks(
  { from, days }: Pick<Layout, "from" | "days">,
  pixelsPerDay: number,
): { days: Tick[]; months: Tick[] } {
  const isDaily = pixelsPerDay >= 24;
  const found: { days: Tick[]; months: Tick[] } = { days: [], months: [] };
  for (let day = 0; day < days; day += 1) {
    const date = new Date(from + day * DAY);
    const x = day * pixelsPerDay;
    const isMonday = date.getUTCDay() === 1;
    if (isDaily || isMonday) found.days.push({ x, label: dayOf.format(date), isMajor: isMonday });
    if (day === 0 || date.getUTCDate() === 1) found.months.push({ x, label: monthOf.format(date), isMajor: true });
  }
  // The name of a month that starts near the edge would overlap its neighbour.
  if ((found.months[1]?.x ?? Infinity) < 120) found.months.shift();
  return found;
}
