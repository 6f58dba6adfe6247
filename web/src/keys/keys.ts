// Keyboard shortcuts. Mounted components register their keys; the latest registration wins.

import { useLayoutEffect, useRef } from "react";

export interface Key {
  /** The key as `KeyboardEvent.key` names it, with `Ctrl-` before it for Control or Command: `j`, `Enter`, `Ctrl-k`. */
  key: string;
  /** The action, in a few words. */
  label: string;
  run: () => void;
}

export interface Keymap {
  /** The heading of these keys in the help. */
  title: string;
  keys: Key[];
}

const keymaps: { current: Keymap }[] = [];

/** Returns the registered keymaps, the innermost view first. */
export function activeKeymaps(): Keymap[] {
  return keymaps.map((keymap) => keymap.current).reverse();
}

/** Registers keys while this component is mounted. They are ignored while the focus is in a text field. */
export function useKeys(title: string, keys: Key[]): void {
  const keymap = useRef<Keymap>({ title, keys });
  keymap.current = { title, keys };
  // A layout effect, so that the keys work as soon as the component is visible.
  useLayoutEffect(() => {
    keymaps.push(keymap);
    return () => void keymaps.splice(keymaps.indexOf(keymap), 1);
  }, []);
}

/** Returns the label of a key. */
export function keyName(key: string): string {
  const isApple = navigator.platform.startsWith("Mac");
  const [, letter] = /^Ctrl-(.)$/.exec(key) ?? [];
  if (letter) return `${isApple ? "⌘" : "Ctrl "}${letter.toUpperCase()}`;
  return key.replace("ArrowUp", "↑").replace("ArrowDown", "↓");
}

/** Returns whether the event comes from a text field or an editor, which is in a shadow root. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Returns whether the focused control handles the key itself. */
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
