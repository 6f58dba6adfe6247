// A Markdown document as people read it: headings, lists, code and paragraphs. Nothing in it is ever HTML.

import type { ReactNode } from "react";

type Block =
  | { kind: "heading"; level: number; text: string }
  | { kind: "list"; items: string[] }
  | { kind: "code"; text: string }
  | { kind: "text"; text: string };

/** The document without its front matter. */
export function body(markdown: string): string {
  return markdown.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, "").trim();
}

export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split(/\r?\n/);
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i] ?? "";
    const last = blocks.at(-1);
    const heading = /^(#{1,6})\s+(.*)/.exec(line);
    const item = /^\s*(?:[-*]|\d+\.)\s+(.*)/.exec(line);
    if (line.startsWith("```")) {
      const end = lines.findIndex((one, j) => j > i && one.startsWith("```"));
      const stop = end < 0 ? lines.length : end;
      blocks.push({ kind: "code", text: lines.slice(i + 1, stop).join("\n") });
      i = stop;
    } else if (heading) {
      blocks.push({ kind: "heading", level: heading[1]?.length ?? 1, text: heading[2] ?? "" });
    } else if (item) {
      const isNext = last?.kind === "list" && (lines[i - 1] ?? "").trim() !== "";
      if (isNext) last.items.push(item[1] ?? "");
      else blocks.push({ kind: "list", items: [item[1] ?? ""] });
    } else if (line.trim() !== "") {
      const isNext = last?.kind === "text" && (lines[i - 1] ?? "").trim() !== "";
      if (isNext) last.text += `\n${line}`;
      else blocks.push({ kind: "text", text: line });
    }
  }
  return blocks;
}

/** Code and emphasis within a line. */
function inline(text: string): ReactNode[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece, i) => {
    if (piece.startsWith("`") && piece.length > 2) return <code key={i}>{piece.slice(1, -1)}</code>;
    if (piece.startsWith("**") && piece.length > 4) return <strong key={i}>{piece.slice(2, -2)}</strong>;
    return piece;
  });
}

export function Prose({ text }: { text: string }) {
  return (
    <div className="prose">
      {blocksOf(text).map((block, i) => {
        if (block.kind === "heading") return block.level < 3 ? <h3 key={i}>{inline(block.text)}</h3> : <h4 key={i}>{inline(block.text)}</h4>;
        if (block.kind === "code") return <Code key={i} text={block.text} label="Code" />;
        if (block.kind === "text") return <p key={i}>{inline(block.text)}</p>;
        return (
          <ul key={i}>
            {block.items.map((item, j) => (
              <li key={j}>{inline(item)}</li>
            ))}
          </ul>
        );
      })}
    </div>
  );
}

/** Code that can be scrolled by keys. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <pre className="code-block" tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}
