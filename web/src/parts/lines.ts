// Line differences of texts with Myers' algorithm, and a three-way merge.

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
  /** The number of the line in the old text, from 1. */
  before?: number;
  /** The number of the line in the new text, from 1. */
  after?: number;
}

/** Returns pairs of equal lines as indices into both lists, in order. */
function matches(a: string[], b: string[]): [number, number][] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const found: [number, number][] = [];
  for (let i = 0; i < start; i += 1) found.push([i, i]);
  const middleA = a.slice(start, a.length - end);
  const middleB = b.slice(start, b.length - end);
  for (const [x, y] of shortest(middleA, middleB)) found.push([x + start, y + start]);
  for (let i = end; i > 0; i -= 1) found.push([a.length - i, b.length - i]);
  return found;
}

/** The maximum number of edits; texts that differ more are treated as entirely different, which limits memory. */
const MAX_EDITS = 2000;

function shortest(a: string[], b: string[]): [number, number][] {
  const max = Math.min(a.length + b.length, MAX_EDITS);
  const trace: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= max; d += 1) {
    trace.push(new Map(reach));
    const next = new Map(reach);
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && (next.get(k - 1) ?? -1) < (next.get(k + 1) ?? -1));
      let x = isDown ? (next.get(k + 1) ?? 0) : (next.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
      }
      next.set(k, x);
      if (x >= a.length && y >= b.length) return walkBack(trace, a.length, b.length);
    }
    reach = next;
  }
  return [];
}

function walkBack(trace: Map<number, number>[], endX: number, endY: number): [number, number][] {
  const found: [number, number][] = [];
  let [x, y] = [endX, endY];
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const reach = trace[d] as Map<number, number>;
    const k = x - y;
    const isDown = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const previousK = isDown ? k + 1 : k - 1;
    const previousX = d === 0 ? 0 : (reach.get(previousK) ?? 0);
    const previousY = d === 0 ? 0 : previousX - previousK;
    while (x > previousX && y > previousY) {
      x -= 1;
      y -= 1;
      found.push([x, y]);
    }
    [x, y] = [previousX, previousY];
  }
  return found.reverse();
}

const lines = (text: string) => (text === "" ? [] : text.split("\n"));

/** Returns the lines of both texts in one list. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [lines(before), lines(after)];
  const result: DiffLine[] = [];
  let [x, y] = [0, 0];
  const upTo = (endX: number, endY: number) => {
    for (; x < endX; x += 1) result.push({ kind: "removed", text: a[x] ?? "", before: x + 1 });
    for (; y < endY; y += 1) result.push({ kind: "added", text: b[y] ?? "", after: y + 1 });
  };
  for (const [i, j] of matches(a, b)) {
    upTo(i, j);
    result.push({ kind: "same", text: a[i] ?? "", before: i + 1, after: j + 1 });
    [x, y] = [i + 1, j + 1];
  }
  upTo(a.length, b.length);
  return result;
}

/** A part of a merge: merged, or changed by both sides in different ways. */
export type MergePart =
  { kind: "settled"; lines: string[] } | { kind: "clash"; mine: string[]; base: string[]; theirs: string[] };

/** Merges two changes of one base. Lines that only one side changed are merged automatically. */
export function merge(base: string, mine: string, theirs: string): MergePart[] {
  const [o, a, b] = [lines(base), lines(mine), lines(theirs)];
  const inMine = new Map(matches(o, a));
  const inTheirs = new Map(matches(o, b));
  const parts: MergePart[] = [];
  const settle = (text: string[]) => {
    const last = parts.at(-1);
    if (text.length === 0) return;
    if (last?.kind === "settled") last.lines.push(...text);
    else parts.push({ kind: "settled", lines: [...text] });
  };
  const between = (x: [number, number, number], y: [number, number, number]) => {
    const [fromO, fromA, fromB] = [o.slice(x[0], y[0]), a.slice(x[1], y[1]), b.slice(x[2], y[2])];
    const same = (p: string[], q: string[]) => p.length === q.length && p.every((line, i) => line === q[i]);
    if (same(fromA, fromB) || same(fromB, fromO)) settle(fromA);
    else if (same(fromA, fromO)) settle(fromB);
    else parts.push({ kind: "clash", mine: fromA, base: fromO, theirs: fromB });
  };
  let at: [number, number, number] = [0, 0, 0];
  for (let i = 0; i < o.length; i += 1) {
    const [j, k] = [inMine.get(i), inTheirs.get(i)];
    if (j === undefined || k === undefined) continue;
    between(at, [i, j, k]);
    settle([o[i] ?? ""]);
    at = [i + 1, j + 1, k + 1];
  }
  between(at, [o.length, a.length, b.length]);
  return parts;
}

/** Returns the text of a merge with conflict markers. */
export function mergedText(parts: MergePart[]): string {
  return parts
    .flatMap((part) =>
      part.kind === "settled"
        ? part.lines
        : ["<<<<<<< mine", ...part.mine, "=======", ...part.theirs, ">>>>>>> theirs"],
    )
    .join("\n");
}
