// Parses a unified diff into files and numbered lines.

import type { DiffLine } from "./lines.ts";

export interface PatchFile {
  name: string;
  /** The change of the file itself. */
  change: "changed" | "added" | "deleted" | "renamed";
  isBinary: boolean;
  hunks: { heading: string; lines: DiffLine[] }[];
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/;

/** Returns the path of a `---`, `+++` or `rename` line without the prefix `a/` or `b/`. */
function path(text: string): string {
  const name = text.replace(/\t.*$/, "").replace(/^"(.*)"$/, "$1");
  return name === "/dev/null" ? "" : name.replace(/^[ab]\//, "");
}

export function readPatch(text: string): PatchFile[] {
  const files: PatchFile[] = [];
  let file: PatchFile | undefined;
  let removedName = "";
  /** The number of lines of the open hunk that are left, on each side. */
  let [oldLeft, newLeft] = [0, 0];
  let [oldLine, newLine] = [0, 0];
  const begin = (name: string) => {
    file = { name, change: "changed", isBinary: false, hunks: [] };
    files.push(file);
    return file;
  };
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const hunk = file?.hunks.at(-1);
    if (hunk && (oldLeft > 0 || newLeft > 0)) {
      const rest = line.slice(1);
      if (line.startsWith("+")) {
        hunk.lines.push({ kind: "added", text: rest, after: newLine++ });
        newLeft -= 1;
        continue;
      }
      if (line.startsWith("-")) {
        hunk.lines.push({ kind: "removed", text: rest, before: oldLine++ });
        oldLeft -= 1;
        continue;
      }
      if (line.startsWith(" ") || line === "") {
        hunk.lines.push({ kind: "same", text: rest, before: oldLine++, after: newLine++ });
        oldLeft -= 1;
        newLeft -= 1;
        continue;
      }
      if (line.startsWith("\\")) continue;
    }
    const git = /^diff --git a\/(.*) b\/(.*)$/.exec(line);
    const found = HUNK.exec(line);
    if (git) {
      begin(git[2] ?? "");
      removedName = "";
    } else if (line.startsWith("--- ")) {
      removedName = path(line.slice(4));
      // In a diff without `diff --git` lines a file begins here.
      if (!file || file.hunks.length > 0) begin(removedName);
    } else if (line.startsWith("+++ ") && file) {
      const name = path(line.slice(4));
      file.name = name || removedName;
      if (name === "") file.change = "deleted";
      else if (removedName === "") file.change = "added";
    } else if (line.startsWith("rename to ") && file) {
      file.name = path(line.slice(10));
      file.change = "renamed";
    } else if (line.startsWith("new file") && file) file.change = "added";
    else if (line.startsWith("deleted file") && file) file.change = "deleted";
    else if (/^(Binary files|GIT binary patch)/.test(line) && file) file.isBinary = true;
    else if (found && file) {
      const [, oldStart, oldCount, newStart, newCount, heading = ""] = found;
      [oldLine, newLine] = [Number(oldStart), Number(newStart)];
      [oldLeft, newLeft] = [Number(oldCount ?? 1), Number(newCount ?? 1)];
      file.hunks.push({ heading: heading.trim(), lines: [] });
    }
  }
  return files;
}
