// Keys of the views. Whoever is on screen registers what its keys do; the newest registration wins.

import { useLayoutEffect, useRef } from "react";

export interface Key {
  /** The key as `KeyboardEvent.key` names it, with `Ctrl-` before it for Control or Command: `j`, `Enter`, `Ctrl-k`. */
  key: string;
  /** What it does, in a few words. */
  label: string;
  run: () => void;
}

export interface Keymap {
  /** Where these keys work, for the help. */
  title: string;
  keys: Key[];
}

const keymaps: { current: Keymap }[] = [];

/** The keys that work now, those of the innermost view first. */
export function activeKeymaps(): Keymap[] {
  return keymaps.map((keymap) => keymap.current).reverse();
}

/** Lets keys do something while this component is on screen and nobody types. */
export function useKeys(title: string, keys: Key[]): void {
  const keymap = useRef<Keymap>({ title, keys });
  keymap.current = { title, keys };
  // With what is seen, and not a moment later: whoever sees it may press a key.
  useLayoutEffect(() => {
    keymaps.push(keymap);
    return () => void keymaps.splice(keymaps.indexOf(keymap), 1);
  }, []);
}

/** How a key is written for people. */
export function keyName(key: string): string {
  const isApple = navigator.platform.startsWith("Mac");
  const [, letter] = /^Ctrl-(.)$/.exec(key) ?? [];
  if (letter) return `${isApple ? "⌘" : "Ctrl "}${letter.toUpperCase()}`;
  return key.replace("ArrowUp", "↑").replace("ArrowDown", "↓");
}

/** Whether the event belongs to a place where people type; editors hide in shadow roots. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Whether the key would operate what has the focus, which then has the first right to it. */
function isForFocus(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  const operates = event.key === "Enter" || event.key === " ";
  return operates && target instanceof HTMLElement && target.matches("button, a, summary, [role=tab], [role=menuitem]");
}

function isInDialog(event: KeyboardEvent): boolean {
  return event.composedPath().some((one) => one instanceof HTMLElement && /^(dialog|menu)$/.test(one.role ?? ""));
}

window.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey) return;
  const isControl = event.ctrlKey || event.metaKey;
  if (!isControl && (isTyping(event) || isForFocus(event) || isInDialog(event))) return;
  const name = (isControl ? "Ctrl-" : "") + event.key;
  for (const { current } of [...keymaps].reverse()) {
    const key = current.keys.find((one) => one.key === name);
    if (!key) continue;
    event.preventDefault();
    key.run();
    return;
  }
});
