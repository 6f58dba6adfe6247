// Renders Markdown as React elements. HTML in the text is never interpreted, so it cannot run or load anything.

import "./markdown.css";
import type { SyntaxNode } from "@lezer/common";
import { GFM, parser } from "@lezer/markdown";
import { memo, type ReactNode } from "react";
import { Patch } from "./Patch.tsx";

const markdown = parser.configure(GFM);

/** Syntax marks, which are not rendered. */
const MARKS = new Set([
  "HeaderMark",
  "QuoteMark",
  "ListMark",
  "EmphasisMark",
  "CodeMark",
  "CodeInfo",
  "LinkMark",
  "StrikethroughMark",
  "TableDelimiter",
  "TaskMarker",
  "HardBreak",
]);

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return <div className="markdown">{children(markdown.parse(text).topNode, text)}</div>;
});

function children(node: SyntaxNode, text: string): ReactNode[] {
  const found: ReactNode[] = [];
  let at = node.from;
  const plain = (to: number) => {
    if (to > at) found.push(text.slice(at, to));
  };
  for (let child = node.firstChild; child; child = child.nextSibling) {
    const isBlock = node.type.is("Document") || BLOCKS.has(node.name);
    if (!isBlock) plain(child.from);
    found.push(element(child, text));
    at = child.to;
  }
  if (!BLOCKS.has(node.name) && node.name !== "Document") plain(node.to);
  return found;
}

const BLOCKS = new Set(["BulletList", "OrderedList", "ListItem", "Blockquote", "Table", "TableHeader", "TableRow"]);

function element(node: SyntaxNode, text: string): ReactNode {
  const key = node.from;
  const inner = () => children(node, text);
  if (MARKS.has(node.name)) return node.name === "TaskMarker" ? `${text.slice(node.from, node.to)} ` : null;
  switch (node.name) {
    case "ATXHeading1":
    case "ATXHeading2":
    case "SetextHeading1":
    case "SetextHeading2":
      return <h3 key={key}>{trimmed(inner())}</h3>;
    case "ATXHeading3":
    case "ATXHeading4":
    case "ATXHeading5":
    case "ATXHeading6":
      return <h4 key={key}>{trimmed(inner())}</h4>;
    case "Paragraph":
      return <p key={key}>{inner()}</p>;
    case "Blockquote":
      return <blockquote key={key}>{inner()}</blockquote>;
    case "BulletList":
      return <ul key={key}>{inner()}</ul>;
    case "OrderedList":
      return <ol key={key}>{inner()}</ol>;
    case "ListItem":
      return <li key={key}>{inner()}</li>;
    case "FencedCode":
      if (/^(diff|patch)$/.test(infoOf(node, text))) return <Patch key={key} text={codeOf(node, text)} />;
      return code(key, codeOf(node, text));
    case "CodeBlock":
      return code(key, codeOf(node, text));
    case "InlineCode":
      return <code key={key}>{text.slice(node.from, node.to).replace(/^`+ ?| ?`+$/g, "")}</code>;
    case "StrongEmphasis":
      return <strong key={key}>{inner()}</strong>;
    case "Emphasis":
      return <em key={key}>{inner()}</em>;
    case "Strikethrough":
      return <del key={key}>{inner()}</del>;
    case "HorizontalRule":
      return <hr key={key} />;
    case "Link":
    case "Autolink":
    case "URL":
    case "Image":
      return link(node, text);
    case "Escape":
      return text.slice(node.from + 1, node.to);
    case "Table":
      return (
        <table key={key}>
          <tbody>{inner()}</tbody>
        </table>
      );
    case "TableHeader":
    case "TableRow":
      return <tr key={key}>{inner()}</tr>;
    case "TableCell":
      return node.parent?.name === "TableHeader" ? <th key={key}>{inner()}</th> : <td key={key}>{inner()}</td>;
    default:
      return node.firstChild ? inner() : text.slice(node.from, node.to);
  }
}

/** Renders links; images become links too, so that nothing is loaded from another host. */
function link(node: SyntaxNode, text: string): ReactNode {
  const url = node.name === "URL" ? node : node.getChild("URL");
  const href = url ? text.slice(url.from, url.to) : "";
  const marks = node.getChildren("LinkMark");
  const [first, second] = marks;
  const label =
    node.name !== "URL" && node.name !== "Autolink" && first && second ? text.slice(first.to, second.from) : href;
  if (!/^(https?:|mailto:)/i.test(href)) return label || text.slice(node.from, node.to);
  return (
    <a key={node.from} href={href} target="_blank" rel="noopener noreferrer">
      {label}
    </a>
  );
}

function code(key: number, text: string): ReactNode {
  return (
    <pre key={key} tabIndex={0}>
      <code>{text}</code>
    </pre>
  );
}

/** Returns the language of a fenced code block. */
function infoOf(node: SyntaxNode, text: string): string {
  const info = node.getChild("CodeInfo");
  return info ? text.slice(info.from, info.to).trim() : "";
}

function codeOf(node: SyntaxNode, text: string): string {
  const parts = node.getChildren("CodeText");
  return parts.map(({ from, to }) => text.slice(from, to)).join("");
}

/** Removes the space between the mark of a heading and its text. */
function trimmed(nodes: ReactNode[]): ReactNode[] {
  return nodes.map((node) => (typeof node === "string" ? node.replace(/^\s+/, "") : node));
}
