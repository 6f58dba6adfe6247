// The table of a chart.

import { count } from "../../parts/size.ts";
import { Table } from "../../parts/Table.tsx";
import { amountOf, type Measure, type Sum } from "./sums.ts";

export function SumTable({
  title,
  first,
  rows,
  measure,
}: {
  title: string;
  first: string;
  rows: Sum[];
  measure: Measure;
}) {
  return (
    <details>
      <summary>Show as table</summary>
      <Table
        label={`${title} as a table`}
        columns={[
          { title: first, as: "wide" },
          { title: "Reported", as: "number" },
          { title: "Estimated", as: "number" },
          { title: "Runs", as: "number" },
        ]}
      >
        {rows.map((row) => (
          <tr key={row.label}>
            <td className="wide">{row.label}</td>
            <td className="number">{amountOf(row.reported, row, measure)}</td>
            <td className="number">{amountOf(row.estimated, row, measure)}</td>
            <td className="number">{count(row.runs)}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}
