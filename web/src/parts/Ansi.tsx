// A line of terminal output with its colours and styles.

import "./ansi.css";
import { memo } from "react";
import { ansiClasses, ansiLines, type AnsiLine } from "./ansi.ts";

export const AnsiSpans = memo(function AnsiSpans({ line }: { line: AnsiLine }) {
  return line.map(({ text, style }, i) => {
    const classes = ansiClasses(style);
    // Spans of a line are never reordered, so the index is a stable key.
    return classes === "" ? (
      text
    ) : (
      <span key={i} className={classes}>
        {text}
      </span>
    );
  });
});

/** Renders a short text; long output uses the `Output` view. */
export function AnsiText({ text }: { text: string }) {
  const lines = ansiLines(text);
  return lines.map((line, i) => (
    <span key={i}>
      <AnsiSpans line={line} />
      {i < lines.length - 1 && "\n"}
    </span>
  ));
}
