// A chart of amounts by day: reported filled, estimated hatched. The values are shown on hover, with the arrow keys, and
// in a table.

import "./chart.css";
import { useEffect, useRef, useState } from "react";
import { plural } from "../company/names.ts";
import { SumTable } from "./SumTable.tsx";
import { amountOf, scaleOf, short, type Measure, type Sum } from "./sums.ts";

const HEIGHT = 220;
const LEFT = 44;
const BOTTOM = 22;
const TOP = 8;
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const nameOf = ({ label }: Sum) => day.format(new Date(`${label}T12:00:00`));

export function Days({ title, rows, measure }: { title: string; rows: Sum[]; measure: Measure }) {
  const [width, setWidth] = useState(800);
  const [at, setAt] = useState<number>();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const steps = scaleOf(Math.max(0, ...rows.map(({ reported, estimated }) => reported + estimated)));
  const top = steps.at(-1) || 1;
  const y = (value: number) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP);
  const slot = (width - LEFT) / rows.length;
  const bar = Math.max(2, Math.min(28, slot * 0.64));
  const every = Math.ceil(rows.length / Math.max(1, Math.floor((width - LEFT) / 64)));
  const shown = at === undefined ? undefined : rows[at];
  const move = (step: number) => setAt(Math.min(rows.length - 1, Math.max(0, (at ?? rows.length) + step)));
  return (
    <section className="block">
      <div className="block-head">
        <h2>{title}</h2>
        <Key />
      </div>
      <div
        className="chart"
        ref={box}
        tabIndex={0}
        role="group"
        aria-label={`${title}. Use the arrow keys to read the values.`}
        onKeyDown={(event) => {
          if (event.key === "ArrowLeft") move(-1);
          if (event.key === "ArrowRight") move(1);
        }}
        onPointerLeave={() => setAt(undefined)}
      >
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
          <Hatch />
          {steps.map((value) => (
            <g key={value}>
              <line className="chart-grid" x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
              <text x={LEFT - 6} y={y(value) + 4} textAnchor="end">
                {short(value, measure)}
              </text>
            </g>
          ))}
          {rows.map((row, i) => {
            const x = LEFT + i * slot + (slot - bar) / 2;
            return (
              <g key={row.label}>
                <rect
                  className="chart-hit"
                  data-at={at === i || undefined}
                  x={LEFT + i * slot}
                  y={TOP}
                  width={slot}
                  height={HEIGHT - BOTTOM - TOP}
                  onPointerEnter={() => setAt(i)}
                />
                {row.reported > 0 && (
                  <rect
                    className="chart-bar"
                    x={x}
                    y={y(row.reported)}
                    width={bar}
                    height={y(0) - y(row.reported)}
                    pointerEvents="none"
                  />
                )}
                {row.estimated > 0 && (
                  <rect
                    className="chart-bar estimated"
                    x={x + 0.5}
                    y={y(row.reported + row.estimated)}
                    width={bar - 1}
                    height={y(row.reported) - y(row.reported + row.estimated)}
                    pointerEvents="none"
                  />
                )}
                {i % every === 0 && (
                  <text x={LEFT + i * slot + slot / 2} y={HEIGHT - 6} textAnchor="middle">
                    {nameOf(row)}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
        <p className="chart-value" aria-live="polite">
          {shown &&
            `${nameOf(shown)}: ${amountOf(shown.reported, shown, measure)} reported, ${amountOf(shown.estimated, shown, measure)} estimated, ${plural(shown.runs, "run")}`}
        </p>
      </div>
      <SumTable title={title} first="Day" rows={[...rows].reverse().filter(({ runs }) => runs > 0)} measure={measure} />
    </section>
  );
}

export function Hatch() {
  return (
    <defs>
      <pattern id="estimated" width="5" height="5" patternUnits="userSpaceOnUse">
        <rect width="5" height="5" />
        <path d="M0 5 5 0" />
      </pattern>
    </defs>
  );
}

function Key() {
  return (
    <div className="chart-key chart">
      <span>
        <svg viewBox="0 0 12 12" aria-hidden="true">
          <rect className="chart-bar" width="12" height="12" />
        </svg>
        Reported
      </span>
      <span>
        <svg viewBox="0 0 12 12" aria-hidden="true">
          <Hatch />
          <rect className="chart-bar estimated" x="0.5" y="0.5" width="11" height="11" />
        </svg>
        Estimated
      </span>
    </div>
  );
}
