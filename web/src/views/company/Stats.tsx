// A row of key figures.

import "./stats.css";
import type { ReactNode } from "react";

export interface Stat {
  label: string;
  value: ReactNode;
  note?: ReactNode;
}

export function Stats({ list }: { list: Stat[] }) {
  return (
    <dl className="stats">
      {list.map(({ label, value, note }) => (
        <div key={label} className="stat">
          <dt>{label}</dt>
          <dd>
            {value}
            {note && <div className="stat-note">{note}</div>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
