// What was typed and is not acknowledged yet, kept in this browser so that nothing is ever lost.

const PREFIX = "accord.draft.";

/** Keeps a draft; an empty one is forgotten. */
export function keepDraft(name: string, value: string): void {
  try {
    if (value) localStorage.setItem(PREFIX + name, value);
    else localStorage.removeItem(PREFIX + name);
  } catch {
    // A full or forbidden storage must not keep anybody from typing.
  }
}

export function readDraft(name: string): string {
  try {
    return localStorage.getItem(PREFIX + name) ?? "";
  } catch {
    return "";
  }
}

export function forgetDraft(name: string): void {
  keepDraft(name, "");
}
