// Turns the JSON lines of worker programs into readable text: messages, and commands with their output. Lines of other
// programs stay unchanged.

import { isRecord } from "./records.ts";

/** One line of a worker program. */
export interface WorkerLine {
  /** The text for a row of a list. */
  summary: string;
  /** The full text; blank if a later line repeats it. */
  text: string;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");
const firstLine = (text: string) => text.trim().split("\n")[0]?.trim() ?? "";
const said = (text: string): WorkerLine | undefined => (text.trim() ? { summary: firstLine(text), text } : undefined);

/** Parses a line; undefined if its format is unknown. `started` contains the ids of commands whose start was parsed. */
export function readWorkerLine(line: string, started = new Set<string>()): WorkerLine | undefined {
  if (!line.startsWith("{")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  return ofCodex(value, started) ?? ofClaude(value);
}

function ofCodex(
  { type, item, error, message }: Record<string, unknown>,
  started: Set<string>,
): WorkerLine | undefined {
  if (type === "turn.failed" && isRecord(error)) return said(textOf(error["message"]));
  if (type === "error") return said(textOf(message));
  if (!isRecord(item) || !/^item\.(started|updated|completed)$/.test(textOf(type))) return undefined;
  if (item["type"] === "command_execution") return ofCommand(type === "item.completed", item, started);
  if (type !== "item.completed") return undefined;
  if (item["type"] === "file_change" && Array.isArray(item["changes"])) {
    const files = item["changes"].filter(isRecord).map(({ kind, path }) => `${textOf(kind)} ${textOf(path)}`.trim());
    return said(files.join("\n"));
  }
  return said(textOf(item["text"]) || textOf(item["message"]));
}

function ofCommand(isOver: boolean, item: Record<string, unknown>, started: Set<string>): WorkerLine | undefined {
  const command = textOf(item["command"]);
  const id = textOf(item["id"]);
  const isKnown = id !== "" && started.has(id);
  if (!isOver) {
    if (id) started.add(id);
    return { summary: `$ ${firstLine(command)}`, text: isKnown ? "" : `$ ${command}` };
  }
  const code = item["exit_code"];
  const end = typeof code === "number" ? `exit code ${code}` : textOf(item["status"]);
  const output = textOf(item["aggregated_output"]).replace(/\n$/, "");
  return {
    summary: [`$ ${firstLine(command)}`, end].filter(Boolean).join(", "),
    text: [isKnown ? "" : `$ ${command}`, output, code === 0 ? "" : end].filter(Boolean).join("\n"),
  };
}

function ofClaude({ type, message, result }: Record<string, unknown>): WorkerLine | undefined {
  if (type === "result") return said(textOf(result));
  if ((type !== "assistant" && type !== "user") || !isRecord(message)) return undefined;
  const content = Array.isArray(message["content"]) ? message["content"].filter(isRecord) : [];
  return said(content.map(blockOf).filter(Boolean).join("\n"));
}

function blockOf(block: Record<string, unknown>): string {
  if (block["type"] === "text") return textOf(block["text"]);
  if (block["type"] === "tool_use") {
    const input = isRecord(block["input"]) ? block["input"] : {};
    const what = textOf(input["command"]) || textOf(input["file_path"]) || textOf(input["pattern"]);
    return input["command"] ? `$ ${what}` : `${textOf(block["name"])} ${what}`.trim();
  }
  if (block["type"] !== "tool_result") return "";
  const result = block["content"];
  return Array.isArray(result)
    ? result
        .filter(isRecord)
        .map(({ text }) => textOf(text))
        .join("\n")
    : textOf(result);
}

/** Returns a summary of a piece of output in one line: the last message or command, or the last line. */
export function summaryOf(chunk: string): string {
  const lines = chunk.trim().split("\n");
  for (const line of lines.toReversed()) {
    const read = readWorkerLine(line);
    if (read) return read.summary;
  }
  const last = lines.at(-1) ?? "";
  // A truncated line, or one with nothing but a type.
  const cut = /^\{.*"(?:text|command)":"((?:[^"\\]|\\.)*)/.exec(last)?.[1];
  if (cut) return firstLine(unescaped(cut));
  const type = /^\{"type":"([\w.]+)"/.exec(last)?.[1];
  return type ? type.replace(/[._]/g, " ") : last;
}

function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

/** Converts output that arrives in pieces. */
export class WorkerReader {
  readonly #started = new Set<string>();
  /** The start of a line that may be JSON. */
  #rest = "";
  #isLineStart = true;

  /** Returns the readable text of a piece. A line that may be JSON is held back until it is complete. */
  read(piece: string): string {
    const text = this.#rest + piece;
    this.#rest = "";
    let readable = "";
    let at = 0;
    while (at < text.length) {
      const end = text.indexOf("\n", at);
      const line = text.slice(at, end < 0 ? text.length : end);
      const mayBeJson = this.#isLineStart && line.startsWith("{");
      if (end < 0) {
        if (mayBeJson) this.#rest = line;
        else readable += line;
        this.#isLineStart = mayBeJson;
        break;
      }
      const read = mayBeJson ? readWorkerLine(line, this.#started) : undefined;
      if (!read) readable += `${line}\n`;
      else if (read.text) readable += `${read.text}\n`;
      this.#isLineStart = true;
      at = end + 1;
    }
    return readable;
  }

  /** Returns the text that is held back. */
  get rest(): string {
    return this.#rest;
  }
}

/** Returns the readable version of a whole text. */
export function readable(text: string): string {
  const reader = new WorkerReader();
  const read = reader.read(text);
  const rest = readWorkerLine(reader.rest);
  return read + (rest?.text ?? reader.rest);
}
