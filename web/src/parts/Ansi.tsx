// A line of terminal output with its colours and styles.

import "./ansi.css";
import { memo } from "react";
import { ansiClasses, ansiLines, type AnsiLine } from "./ansi.ts";

export const AnsiSpans = memo(function AnsiSpans({ line }: { line: AnsiLine }) {
  return line.map(({ text, style }, i) => {
    const classes = ansiClasses(style);
    // Spans of a line never change places.
    return classes === "" ? text : <span key={i} className={classes}>{text}</span>;
  });
});

/** A short text in full; long output has a view of its own. */
export function AnsiText({ text }: { text: string }) {
  const lines = ansiLines(text);
  return lines.map((line, i) => (
    <span key={i}>
      <AnsiSpans line={line} />
      {i < lines.length - 1 && "\n"}
    </span>
  ));
}
