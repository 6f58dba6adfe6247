// Parses terminal output into lines of styled text. Colours and styles (SGR) are kept; other control sequences are
// dropped. The result is plain data: nothing in the output becomes HTML.

/** The colours of a terminal that the desktop has tokens for. */
export const ANSI_COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
export type AnsiColour = (typeof ANSI_COLOURS)[number];

export interface AnsiStyle {
  colour?: AnsiColour | undefined;
  background?: AnsiColour | undefined;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  strike?: boolean;
  inverse?: boolean;
}

export interface AnsiSpan {
  text: string;
  style: AnsiStyle;
}

export type AnsiLine = AnsiSpan[];

/* eslint-disable no-control-regex -- control characters are the subject of these expressions */
/** One control sequence: CSI, OSC (ended by BEL or ST), a two-character escape, or a single control character. */
const CONTROL =
  /\u001b\[([0-?]*)[ -/]*([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-Z\\^-~]|[\u0000-\u001f\u007f]/g;
/** A control sequence whose end has not arrived yet. */
const UNFINISHED = /\u001b(?:\[[0-?]*[ -/]*|\][^\u0007\u001b]*\u001b?|[ -/]*)?$/;
/* eslint-enable no-control-regex */

/** The maximum length of a control sequence in characters. */
const LONGEST = 4096;

/** Parses output in pieces; a piece may end anywhere, also within a control sequence. */
export class AnsiReader {
  /** The lines so far; the last one may still grow. */
  readonly lines: AnsiLine[] = [[]];
  #style: AnsiStyle = {};
  #rest = "";
  /** Whether the last character was a carriage return; the next text overwrites the line. */
  #returned = false;

  write(piece: string): void {
    let text = this.#rest + piece;
    const rest = UNFINISHED.exec(text)?.[0] ?? "";
    text = text.slice(0, text.length - rest.length);
    // An unterminated sequence must not swallow the output.
    this.#rest = rest.length > LONGEST ? "" : rest;
    let at = 0;
    for (const found of text.matchAll(CONTROL)) {
      this.#print(text.slice(at, found.index));
      at = found.index + found[0].length;
      this.#control(found[0], found[1], found[2]);
    }
    this.#print(text.slice(at));
  }

  #print(text: string): void {
    if (text === "") return;
    let line = this.lines.at(-1) as AnsiLine;
    if (this.#returned) {
      line = [];
      this.#returned = false;
    }
    const last = line.at(-1);
    // A line that changes is a new array, so that views notice.
    this.lines[this.lines.length - 1] =
      last?.style === this.#style
        ? [...line.slice(0, -1), { text: last.text + text, style: this.#style }]
        : [...line, { text, style: this.#style }];
  }

  #control(sequence: string, params: string | undefined, final: string | undefined): void {
    if (sequence === "\n") {
      this.#returned = false;
      this.lines.push([]);
    } else if (sequence === "\r") this.#returned = true;
    else if (sequence === "\t") this.#print("\t");
    else if (final === "m") this.#style = styled(this.#style, params ?? "");
  }
}

/** Returns the lines of a text. */
export function ansiLines(text: string): AnsiLine[] {
  const reader = new AnsiReader();
  reader.write(text);
  return reader.lines;
}

/** Returns a text without its control sequences. */
export function plainText(text: string): string {
  return ansiLines(text)
    .map((line) => line.map((span) => span.text).join(""))
    .join("\n");
}

/** The CSS classes of a style. */
export function ansiClasses({ colour, background, ...flags }: AnsiStyle): string {
  const names = Object.entries(flags).flatMap(([name, isSet]) => (isSet ? [`ansi-${name}`] : []));
  if (colour) names.push(`ansi-${colour}`);
  if (background) names.push(`ansi-on-${background}`);
  return names.join(" ");
}

/** The style after one SGR sequence. */
function styled(before: AnsiStyle, params: string): AnsiStyle {
  const codes = params.split(/[;:]/).map((code) => Number(code) || 0);
  let style = { ...before };
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i] ?? 0;
    if (code === 0) style = {};
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 7) style.inverse = true;
    else if (code === 9) style.strike = true;
    else if (code === 22) {
      delete style.bold;
      delete style.dim;
    } else if (code === 23) delete style.italic;
    else if (code === 24) delete style.underline;
    else if (code === 27) delete style.inverse;
    else if (code === 29) delete style.strike;
    else if (code === 39) delete style.colour;
    else if (code === 49) delete style.background;
    else if (code >= 30 && code <= 37) style.colour = ANSI_COLOURS[code - 30];
    else if (code >= 90 && code <= 97) style.colour = ANSI_COLOURS[code - 90];
    else if (code >= 40 && code <= 47) style.background = ANSI_COLOURS[code - 40];
    else if (code >= 100 && code <= 107) style.background = ANSI_COLOURS[code - 100];
    else if (code === 38 || code === 48) {
      const { colour, length } = extended(codes.slice(i + 1));
      if (code === 38) style.colour = colour;
      else style.background = colour;
      i += length;
    }
  }
  return style;
}

/** Returns the nearest supported colour for `5;n` (palette of 256) or `2;r;g;b`, and the number of codes consumed. */
function extended(codes: number[]): { colour: AnsiColour | undefined; length: number } {
  const [kind, first = 0, second = 0, third = 0] = codes;
  if (kind === 2) return { colour: nearest(first, second, third), length: 4 };
  if (kind !== 5) return { colour: undefined, length: codes.length };
  if (first < 16) return { colour: ANSI_COLOURS[first % 8], length: 2 };
  if (first >= 232) return { colour: first < 244 ? "black" : "white", length: 2 };
  const step = (divisor: number) => (Math.floor((first - 16) / divisor) % 6) * 51;
  return { colour: nearest(step(36), step(6), step(1)), length: 2 };
}

function nearest(red: number, green: number, blue: number): AnsiColour | undefined {
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  if (most - least < 48) return most < 96 ? "black" : "white";
  const isHigh = (part: number) => part > (most + least) / 2;
  return ANSI_COLOURS[(isHigh(red) ? 1 : 0) + (isHigh(green) ? 2 : 0) + (isHigh(blue) ? 4 : 0)];
}
