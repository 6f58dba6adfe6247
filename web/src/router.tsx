// Addresses: every object has one, and the history of the browser is the only history.

import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";

export type Params = Record<string, string>;

const listeners = new Set<() => void>();
const changed = () => listeners.forEach((listener) => listener());
window.addEventListener("popstate", changed);

/** Goes to an address of this page. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (to === location.pathname + location.search) return;
  if (options.replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  changed();
}

/** The path of the address, and again whenever it changes. */
export function usePath(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => location.pathname,
  );
}

/** The value of one member of the query of the address. */
export function useSearchParam(name: string): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => new URLSearchParams(location.search).get(name),
  );
}

/** What the `:names` of a pattern stand for in a path; nothing when the path is another one. */
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

/** Whether a click wants another tab or window, which is the browser's business. */
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
