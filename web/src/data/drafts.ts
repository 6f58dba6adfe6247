// Text that the gateway has not acknowledged yet, kept in the local storage of the browser.
//
// Each tab has its own drafts, so that two tabs on the same object do not overwrite each other. A new tab takes over the
// drafts of closed tabs.

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

/** Stores a draft; an empty value deletes it. */
export function keepDraft(name: string, value: string): void {
  try {
    if (value) localStorage.setItem(keyOf(name), value);
    else localStorage.removeItem(keyOf(name));
  } catch {
    // Editing must work even if the storage is full or disabled.
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

/** A text state that is stored as a draft until it is set to an empty text. */
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

/** Marks this tab as open and takes over the drafts of closed tabs. Called once, before the first render. */
export async function adoptDrafts(): Promise<void> {
  // Locks need a secure context. Without them every other tab counts as closed.
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
    // The storage is disabled, so there are no drafts.
  }
}
