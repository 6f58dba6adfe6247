// Renders a unified diff, one figure per file. Text that is not a diff is shown unchanged.

import "./diff.css";
import { useMemo } from "react";
import { Line } from "./Diff.tsx";
import { readPatch, type PatchFile } from "./patch.ts";

export function Patch({ text }: { text: string }) {
  const files = useMemo(() => readPatch(text), [text]);
  if (!files.some(({ hunks, isBinary, change }) => hunks.length > 0 || isBinary || change !== "changed")) {
    return (
      <pre className="diff-raw" tabIndex={0}>
        <code>{text}</code>
      </pre>
    );
  }
  return (
    <div className="patch">
      {files.map((file, i) => (
        <PatchFigure key={`${i}-${file.name}`} file={file} />
      ))}
    </div>
  );
}

function PatchFigure({ file: { name, change, isBinary, hunks } }: { file: PatchFile }) {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const added = lines.filter(({ kind }) => kind === "added").length;
  const removed = lines.filter(({ kind }) => kind === "removed").length;
  return (
    <figure className="diff" aria-label={`${name}: ${added} lines added, ${removed} removed`}>
      <figcaption>
        <span className="diff-added">+{added}</span> <span className="diff-removed">−{removed}</span> {name}
        {change !== "changed" && ` (${change})`}
      </figcaption>
      {isBinary && <p className="diff-none">Binary file, not shown.</p>}
      {hunks.length > 0 && (
        <div className="diff-lines" tabIndex={0} role="group" aria-label={`Lines of ${name}`}>
          {hunks.map((hunk, i) => (
            <div key={i}>
              {(i > 0 || hunk.heading) && <div className="diff-hunk">{hunk.heading || "…"}</div>}
              {hunk.lines.map((line, n) => (
                <Line key={n} line={line} />
              ))}
            </div>
          ))}
        </div>
      )}
    </figure>
  );
}
