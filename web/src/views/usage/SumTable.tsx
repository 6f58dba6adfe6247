// The table behind a chart.

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
      <div className="table-scroll" tabIndex={0} role="region" aria-label={`${title} as a table`}>
        <table className="table">
          <thead>
            <tr>
              <th className="wide">{first}</th>
              <th className="number">Reported</th>
              <th className="number">Estimated</th>
              <th className="number">Runs</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ label, reported, estimated, runs }) => (
              <tr key={label}>
                <td className="wide">{label}</td>
                <td className="number">{amount(reported, measure)}</td>
                <td className="number">{amount(estimated, measure)}</td>
                <td className="number">{runs}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
