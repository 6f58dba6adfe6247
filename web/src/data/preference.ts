// Display preferences in the local storage of the browser. A change updates every view that uses the preference.

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
    // The storage is disabled; the preference is not kept.
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
