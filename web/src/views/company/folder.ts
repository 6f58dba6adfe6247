// Which company folder a workspace shows: the one the gateway has linked to it, else the one chosen in this browser.

import type { Workspace } from "@accord/client";
import { useCall } from "../../data/calls.ts";
import { readPreference, setPreference, usePreference } from "../../data/preference.ts";

const RECENT = "companies";
const MAX_RECENT = 12;
const chosenName = (workspace: string) => `company.${workspace}`;

/** Gateways that link workspaces to company folders say so here. */
export function linkedDir(workspace: Workspace): string | undefined {
  const { dir } = workspace as Workspace & { dir?: string | null };
  return dir ?? undefined;
}

/** The company folder of a workspace, if it has one. */
export function useCompanyDir(workspace: string): string | undefined {
  const { data } = useCall("workspace/list", {});
  const chosen = usePreference(chosenName(workspace));
  const row = data?.workspaces.find(({ id }) => id === workspace);
  return (row && linkedDir(row)) ?? chosen ?? undefined;
}

/** Shows this company folder in a workspace from now on. */
export function chooseCompany(workspace: string, dir: string | null): void {
  setPreference(chosenName(workspace), dir);
  if (dir) setPreference(RECENT, JSON.stringify([dir, ...recent(readPreference(RECENT))].filter(isFirst).slice(0, MAX_RECENT)));
}

/** The company folders this browser has shown, newest first. */
export function useRecentCompanies(): string[] {
  return recent(usePreference(RECENT));
}

function recent(text: string | null): string[] {
  try {
    const list: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

const isFirst = (one: string, i: number, all: string[]) => all.indexOf(one) === i;

/** The address of a place in a company folder, for somebody else: `/c/<folder>/runs`. */
export function companyAddress(dir: string, path: string): string {
  return `/c/${encodeURIComponent(dir)}${path.replace(/^\/w\/[^/]+/, "")}`;
}

/** The last part of a path, which is what people call a folder. */
export function folderName(dir: string): string {
  return dir.split(/[\\/]/).filter(Boolean).at(-1) ?? dir;
}
