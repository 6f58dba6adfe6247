// The collapsed folders of a workspace, stored in the browser.

import { useMemo } from "react";
import { readPreference, setPreference, usePreference } from "../../data/preference.ts";

const nameOf = (workspace: string) => `closed.${workspace}`;

function parse(text: string | null): ReadonlySet<string> {
  return new Set(text ? text.split(",") : []);
}

export function useClosed(workspace: string): ReadonlySet<string> {
  const text = usePreference(nameOf(workspace));
  return useMemo(() => parse(text), [text]);
}

export function setClosed(workspace: string, folder: string, isClosed: boolean): void {
  const closed = new Set(parse(readPreference(nameOf(workspace))));
  if (closed.has(folder) === isClosed) return;
  if (isClosed) closed.add(folder);
  else closed.delete(folder);
  setPreference(nameOf(workspace), closed.size > 0 ? [...closed].join(",") : null);
}
