// A bar chart of amounts by name, with a table.

import "./chart.css";
import { SumTable } from "./SumTable.tsx";
import { amount, type Measure, type Sum } from "./sums.ts";

const percent = (part: number) => `${part * 100}%`;

export function Bars({ title, rows, measure }: { title: string; rows: Sum[]; measure: Measure }) {
  const largest = Math.max(0, ...rows.map(({ reported, estimated }) => reported + estimated)) || 1;
  return (
    <section className="block">
      <h2>{title}</h2>
      {rows.length === 0 && <p className="muted">No runs in this period.</p>}
      <div className="bars" aria-hidden="true">
        {rows
          .slice(0, 8)
          .filter(({ reported, estimated }) => reported + estimated > 0)
          .map(({ label, reported, estimated }) => (
            <div key={label} className="bars-row">
              <span className="bars-name">{label}</span>
              <svg>
                <rect className="chart-bar" y="0" height="12" width={percent(reported / largest)} />
                {estimated > 0 && (
                  <rect
                    className="chart-bar estimated"
                    y="0.5"
                    height="11"
                    x={percent(reported / largest)}
                    width={percent(estimated / largest)}
                  />
                )}
              </svg>
              <span className="bars-value">{amount(reported + estimated, measure)}</span>
            </div>
          ))}
      </div>
      <SumTable title={title} first="Name" rows={rows} measure={measure} />
    </section>
  );
}
