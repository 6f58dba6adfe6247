// A table that scrolls horizontally when it is too wide, also with the keyboard.

import "./table.css";
import type { ReactNode } from "react";

/** A column: `number` is right-aligned, `wide` takes the remaining width, the title of `unsaid` is for screen readers only. */
export type Column = string | { title: string; as: "number" | "wide" | "unsaid" };

export function Table({ label, columns, children }: { label: string; columns: Column[]; children: ReactNode }) {
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label={label}>
      <table className="table">
        <thead>
          <tr>
            {columns.map((column) => {
              const { title, as } = typeof column === "string" ? { title: column, as: undefined } : column;
              return (
                <th key={title} className={as === "unsaid" ? undefined : as}>
                  {as === "unsaid" ? <span className="visually-hidden">{title}</span> : title}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
