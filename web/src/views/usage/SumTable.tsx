// The table behind a chart.

import { Table } from "../../parts/Table.tsx";
import { amount, type Measure, type Sum } from "./sums.ts";

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
      <summary>As a table</summary>
      <Table
        label={`${title} as a table`}
        columns={[
          { title: first, as: "wide" },
          { title: "Reported", as: "number" },
          { title: "Estimated", as: "number" },
          { title: "Runs", as: "number" },
        ]}
      >
        {rows.map(({ label, reported, estimated, runs }) => (
          <tr key={label}>
            <td className="wide">{label}</td>
            <td className="number">{amount(reported, measure)}</td>
            <td className="number">{amount(estimated, measure)}</td>
            <td className="number">{runs}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}
