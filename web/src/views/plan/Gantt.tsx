// A Gantt chart: the critical path in the accent colour, slack as a thin tail, dependencies as elbows, today as a line.
// Bars are moved by dragging or with the arrow keys.

import "./gantt.css";
import type { GanttTask } from "@accord/client";
import {
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
} from "react";
import { useNow } from "../../parts/Time.tsx";
import { plural, words } from "../company/names.ts";
import { BAR, DAY, elbow, layout, ROW, ticks, TOP, type Bar, type Moved } from "./layout.ts";

interface Props {
  tasks: GanttTask[];
  pixelsPerDay: number;
  selected: string | undefined;
  onSelect: (task: string) => void;
  onReplan: (task: GanttTask, start: number, end: number) => Promise<boolean>;
}

interface Drag {
  task: GanttTask;
  kind: "move" | "length";
  fromX: number;
  start: number;
  end: number;
}

/** The maximum width in pixels of the name of a month, and of the word “Today”. */
const MONTH = 120;
const TODAY = 48;

const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

export function Gantt({ tasks, pixelsPerDay, selected, onSelect, onReplan }: Props) {
  const now = useNow();
  const [drag, setDrag] = useState<Drag>();
  const [moved, setMoved] = useState<Moved>();
  const [room, setRoom] = useState(0);
  const [left, setLeft] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const plan = useMemo(() => layout(tasks, pixelsPerDay, now, moved, room), [tasks, pixelsPerDay, now, moved, room]);
  const { from, days } = plan;
  const scale = useMemo(() => ticks({ from, days }, pixelsPerDay), [from, days, pixelsPerDay]);
  const todayX = plan.x(now);

  // A new result of the gateway includes the move.
  useEffect(() => setMoved(undefined), [tasks]);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setRoom(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // A layout effect, so that the chart does not jump after it is visible.
  const scrollToToday = useEffectEvent(() => {
    const element = scroller.current;
    if (element) element.scrollLeft = Math.max(0, todayX - element.clientWidth / 3);
  });
  useLayoutEffect(() => scrollToToday(), [pixelsPerDay]);

  const place = (d: Drag, x: number): Moved => {
    const days = Math.round((x - d.fromX) / pixelsPerDay) * DAY;
    if (d.kind === "move") return { task: d.task.task_id, start: d.start + days, end: d.end + days };
    return { task: d.task.task_id, start: d.start, end: Math.max(d.start + DAY, d.end + days) };
  };
  const finish = async (bar: Bar, to: Moved) => {
    if (to.start === bar.start && to.end === bar.end) return setMoved(undefined);
    setMoved(to);
    if (!(await onReplan(bar.task, to.start, to.end))) setMoved(undefined);
  };
  const onPointerDown = (event: PointerEvent<SVGElement>, bar: Bar, kind: Drag["kind"]) => {
    if (event.button !== 0) return;
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ task: bar.task, kind, fromX: event.clientX, start: bar.start, end: bar.end });
    onSelect(bar.task.task_id);
  };
  const onPointerMove = (event: PointerEvent) => drag && setMoved(place(drag, event.clientX));
  const onPointerUp = (event: PointerEvent, bar: Bar) => {
    if (!drag) return;
    setDrag(undefined);
    void finish({ ...bar, start: drag.start, end: drag.end }, place(drag, event.clientX));
  };
  const onKeyDown = (event: KeyboardEvent, bar: Bar) => {
    const step = event.key === "ArrowRight" ? DAY : event.key === "ArrowLeft" ? -DAY : 0;
    if (event.key === "Enter" || event.key === " ") onSelect(bar.task.task_id);
    else if (step === 0) return;
    event.preventDefault();
    if (step === 0) return;
    const start = event.shiftKey ? bar.start : bar.start + step;
    void finish(bar, { task: bar.task.task_id, start, end: Math.max(start + DAY, bar.end + step) });
  };

  // The name of the current month stays visible. The label “Today” is omitted where it would overlap.
  const months = scale.months.map(({ x, label }, i) => ({
    label,
    x: Math.max(x, Math.min(left, (scale.months[i + 1]?.x ?? Infinity) - MONTH)) + 4,
  }));
  const isOnMonth = months.some(({ x }) => todayX > x - TODAY && todayX < x + MONTH);

  return (
    <div className="gantt">
      <div className="gantt-names" aria-hidden="true">
        {plan.bars.map(({ task }) => (
          <button
            key={task.task_id}
            type="button"
            tabIndex={-1}
            className="gantt-name"
            data-selected={task.task_id === selected || undefined}
            onClick={() => onSelect(task.task_id)}
          >
            {task.title}
          </button>
        ))}
      </div>
      <div
        className="gantt-scroll"
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label="Timeline"
        onScroll={(event) => setLeft(event.currentTarget.scrollLeft)}
      >
        <svg
          width={plan.width}
          height={plan.height}
          role="group"
          aria-label={`Timeline of ${plural(tasks.length, "task")}`}
        >
          <defs>
            <marker id="gantt-arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">
              <path d="M0 0 6 3 0 6z" />
            </marker>
          </defs>
          {plan.bars.map(({ task, row }) => (
            <rect
              key={task.task_id}
              className="gantt-row"
              data-selected={task.task_id === selected || undefined}
              x={0}
              y={TOP + row * ROW}
              width={plan.width}
              height={ROW}
              onClick={() => onSelect(task.task_id)}
            />
          ))}
          {scale.days.map(({ x, label, isMajor }) => (
            <g key={x}>
              <line className={isMajor ? "gantt-grid major" : "gantt-grid"} x1={x} x2={x} y1={TOP} y2={plan.height} />
              <text className="gantt-day" x={x + 4} y={TOP - 8}>
                {label}
              </text>
            </g>
          ))}
          {months.map(({ x, label }) => (
            <text key={label} className="gantt-month" x={x} y={14}>
              {label}
            </text>
          ))}
          <g className="gantt-today">
            <line x1={todayX} x2={todayX} y1={TOP - 4} y2={plan.height} />
            {!isOnMonth && (
              <text x={todayX + 4} y={14}>
                Today
              </text>
            )}
          </g>
          {plan.bars.flatMap((bar) =>
            bar.task.depends_on_task_ids.map((id) => {
              const before = plan.byId.get(id);
              if (!before) return null;
              const isCritical = before.task.critical && bar.task.critical;
              return (
                <path
                  key={`${id}-${bar.task.task_id}`}
                  className={isCritical ? "gantt-link critical" : "gantt-link"}
                  d={elbow(before, bar)}
                />
              );
            }),
          )}
          {plan.bars.map((bar) => {
            const { task, x, y, width } = bar;
            const done = (width * task.progress_pct) / 100;
            const slack = task.slack_days * pixelsPerDay;
            return (
              <g
                key={task.task_id}
                className="gantt-bar"
                data-critical={task.critical || undefined}
                data-status={task.status}
                data-selected={task.task_id === selected || undefined}
                data-task={task.task_id}
                role="button"
                tabIndex={0}
                aria-label={describe(bar)}
                onKeyDown={(event) => onKeyDown(event, bar)}
                onPointerDown={(event) => onPointerDown(event, bar, "move")}
                onPointerMove={onPointerMove}
                onPointerUp={(event) => onPointerUp(event, bar)}
              >
                {slack > 0 && <path className="gantt-slack" d={`M${x + width} ${y + BAR / 2}h${slack}m0 -4v8`} />}
                <rect className="gantt-body" x={x} y={y} width={width} height={BAR} rx={3} />
                {done > 0 && <rect className="gantt-done" x={x} y={y} width={done} height={BAR} rx={3} />}
                <rect className="gantt-outline" x={x} y={y} width={width} height={BAR} rx={3} />
                {task.schedule_conflict && (
                  <path className="gantt-conflict" d={`M${x - 8} ${y + BAR - 2}l5 -10 5 10z`} />
                )}
                {task.status === "blocked" && <path className="gantt-blocked" d={`M${x + 5} ${y + 5}l6 6m0 -6l-6 6`} />}
                {task.status === "done" && <path className="gantt-check" d={`M${x + 5} ${y + 8}l3 3 5 -6`} />}
                <rect
                  className="gantt-handle"
                  x={x + width - 5}
                  y={y}
                  width={8}
                  height={BAR}
                  onPointerDown={(event) => onPointerDown(event, bar, "length")}
                />
                <title>{describe(bar)}</title>
              </g>
            );
          })}
          {drag && moved && <DragNote bar={plan.byId.get(moved.task)} />}
        </svg>
      </div>
    </div>
  );
}

function DragNote({ bar }: { bar: Bar | undefined }) {
  if (!bar) return null;
  return (
    <text className="gantt-note" x={bar.x} y={bar.y - 3}>
      {date.format(bar.start)} – {date.format(bar.end)}
    </text>
  );
}

function describe({ task, start, end }: Bar): string {
  const facts = [
    task.title,
    words(task.status).toLowerCase(),
    `${date.format(start)} to ${date.format(end)}`,
    `${Math.round(task.progress_pct)} % done`,
    task.critical ? "on the critical path" : `${plural(task.slack_days, "day")} of slack`,
  ];
  if (task.schedule_conflict) facts.push("starts before a task that blocks it ends");
  return facts.join(", ");
}
