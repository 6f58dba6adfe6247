// What this browser remembers about how things are shown: a value by name, live in every view that uses it.

import { useSyncExternalStore } from "react";

const PREFIX = "accord.";
const listeners = new Set<() => void>();

export function readPreference(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

export function setPreference(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    // Only remembered until the page is closed, then.
  }
  listeners.forEach((listener) => listener());
}

export function usePreference(name: string): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => readPreference(name),
  );
}
