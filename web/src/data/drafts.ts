// What was typed and is not acknowledged yet, kept in this browser so that nothing is ever lost.
//
// Each tab keeps its own drafts, so that two tabs on one thing do not take them from each other. A tab that opens
// takes over the drafts of tabs that are gone.

import { useCallback, useState } from "react";

const PREFIX = "accord.draft.";

function tabId(): string {
  try {
    const known = sessionStorage.getItem("accord.tab");
    if (known) return known;
    const made = crypto.getRandomValues(new Uint32Array(2)).join("");
    sessionStorage.setItem("accord.tab", made);
    return made;
  } catch {
    return "0";
  }
}

const tab = tabId();
const keyOf = (name: string) => `${PREFIX}${tab}.${name}`;

/** Keeps a draft; an empty one is forgotten. */
export function keepDraft(name: string, value: string): void {
  try {
    if (value) localStorage.setItem(keyOf(name), value);
    else localStorage.removeItem(keyOf(name));
  } catch {
    // A full or forbidden storage must not keep anybody from typing.
  }
}

export function readDraft(name: string): string {
  try {
    return localStorage.getItem(keyOf(name)) ?? "";
  } catch {
    return "";
  }
}

export function forgetDraft(name: string): void {
  keepDraft(name, "");
}

/** What is typed in one place, kept until it is set to nothing. */
export function useDraft(name: string): [text: string, write: (text: string) => void] {
  const [text, setText] = useState(() => readDraft(name));
  const write = useCallback(
    (next: string) => {
      setText(next);
      keepDraft(name, next);
    },
    [name],
  );
  return [text, write];
}

/** Says that this tab lives, and takes over the drafts of tabs that do not. Called once, before anything is shown. */
export async function adoptDrafts(): Promise<void> {
  // Without locks, which need a secure page, every other tab counts as gone.
  const locks = navigator.locks as LockManager | undefined;
  const living = new Set((await locks?.query())?.held?.map(({ name }) => name));
  void locks?.request(`accord.tab.${tab}`, () => new Promise(() => {}));
  try {
    for (const key of Object.keys(localStorage)) {
      const [, owner, name] = /^accord\.draft\.(\d+)\.(.+)$/.exec(key) ?? [];
      if (!owner || !name || owner === tab || living.has(`accord.tab.${owner}`)) continue;
      if (!readDraft(name)) keepDraft(name, localStorage.getItem(key) ?? "");
      localStorage.removeItem(key);
    }
  } catch {
    // Nothing was kept, then.
  }
}
