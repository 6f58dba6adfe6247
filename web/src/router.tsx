// Routing: every object has an address, and the history of the browser is the only history.

import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";

export type Params = Record<string, string>;

const listeners = new Set<() => void>();
const changed = () => listeners.forEach((listener) => listener());
window.addEventListener("popstate", changed);

/** Navigates to an address within the page. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (to === location.pathname + location.search) return;
  if (options.replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  changed();
}

/** Returns the path of the current address and renders again when it changes. */
export function usePath(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => location.pathname,
  );
}

/** Returns the value of a query parameter of the current address, or `null` without it. */
export function useSearchParam(name: string): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => new URLSearchParams(location.search).get(name),
  );
}

/** Matches a path against a pattern and returns the values of its `:names`, or undefined if the path does not match. */
export function match(pattern: string, path: string): Params | undefined {
  const names = pattern.split("/").filter(Boolean);
  const parts = path.split("/").filter(Boolean);
  if (names.length !== parts.length) return undefined;
  const params: Params = {};
  for (const [i, name] of names.entries()) {
    const part = parts[i] ?? "";
    if (name.startsWith(":")) params[name.slice(1)] = decodeURIComponent(part);
    else if (name !== part) return undefined;
  }
  return params;
}

/** Returns whether a click opens another tab or window, which the browser handles. */
export function isForBrowser(event: MouseEvent): boolean {
  return event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
}

/** A link within the page. */
export function Link({ to, onClick, ...rest }: { to: string } & AnchorHTMLAttributes<HTMLAnchorElement>) {
  return (
    <a
      href={to}
      onClick={(event) => {
        onClick?.(event);
        if (event.defaultPrevented || isForBrowser(event)) return;
        event.preventDefault();
        navigate(to);
      }}
      {...rest}
    />
  );
}
