// The difference of two texts, line by line, with unchanged lines folded.

import "./diff.css";
import { useMemo, useState } from "react";
import { diffLines, type DiffLine } from "./lines.ts";

/** Unchanged lines shown around a change. */
const CONTEXT = 3;

type Block = { kind: "lines"; lines: DiffLine[] } | { kind: "fold"; lines: DiffLine[] };

export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => linesOf(before, after), [before, after]);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const added = lines.filter(({ kind }) => kind === "added").length;
  const removed = lines.filter(({ kind }) => kind === "removed").length;
  if (added + removed === 0) {
    const what = before === after ? "No changes." : "Only the line break at the end of the file changes.";
    return <p className="diff-none">{what}</p>;
  }
  return (
    <figure className="diff" aria-label={`${label}: ${added} lines added, ${removed} removed`}>
      <figcaption>
        <span className="diff-added">+{added}</span> <span className="diff-removed">−{removed}</span> {label}
      </figcaption>
      <div className="diff-lines" tabIndex={0} role="group" aria-label="Lines">
        {fold(lines).map((block, i) =>
          block.kind === "fold" && !opened.has(i) ? (
            <button key={i} type="button" className="diff-fold" onClick={() => setOpened(new Set([...opened, i]))}>
              {block.lines.length} unchanged lines
            </button>
          ) : (
            block.lines.map((line) => <Line key={`${line.kind}${line.before ?? ""}-${line.after ?? ""}`} line={line} />)
          ),
        )}
      </div>
    </figure>
  );
}

/** One line of a diff. */
export function Line({ line: { kind, text, before, after } }: { line: DiffLine }) {
  return (
    <div className={`diff-line ${kind}`}>
      <span className="diff-number">{before}</span>
      <span className="diff-number">{after}</span>
      <span className="diff-mark">{kind === "added" ? "+" : kind === "removed" ? "−" : ""}</span>
      <span className="diff-text">{text || " "}</span>
    </div>
  );
}

/** Returns the lines of the difference without the empty line after the last line break. */
function linesOf(before: string, after: string): DiffLine[] {
  const endOf = (text: string) => text.split("\n").length;
  const [endBefore, endAfter] = [endOf(before), endOf(after)];
  return diffLines(before, after).flatMap((line): DiffLine[] => {
    const isEndBefore = line.text === "" && line.before === endBefore;
    const isEndAfter = line.text === "" && line.after === endAfter;
    if (line.kind !== "same") return isEndBefore || isEndAfter ? [] : [line];
    if (isEndBefore && isEndAfter) return [];
    // A blank line on one side is the end of the text on the other.
    if (isEndBefore) return [{ kind: "added", text: "", after: line.after ?? 0 }];
    return isEndAfter ? [{ kind: "removed", text: "", before: line.before ?? 0 }] : [line];
  });
}

function fold(lines: DiffLine[]): Block[] {
  const isNear = lines.map(() => false);
  lines.forEach(({ kind }, i) => {
    if (kind === "same") return;
    for (let j = Math.max(0, i - CONTEXT); j <= Math.min(lines.length - 1, i + CONTEXT); j += 1) isNear[j] = true;
  });
  const blocks: Block[] = [];
  lines.forEach((line, i) => {
    const kind = isNear[i] ? "lines" : "fold";
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else blocks.push({ kind, lines: [line] });
  });
  return blocks.map((block) => (block.kind === "fold" && block.lines.length < 4 ? { ...block, kind: "lines" } : block));
}
