// The company folder of a workspace. The gateway links each folder that was opened to a workspace of its own.

import type { Workspace } from "@accord/client";
import { call, invalidate, useCall } from "../../data/calls.ts";

/** The workspace and its company folder; neither is known before the gateway has answered. */
export function useCompany(workspace: string): { isKnown: boolean; dir: string | undefined; name: string } {
  const { data } = useCall("workspace/list", {});
  const row = data?.workspaces.find(({ id }) => id === workspace);
  return { isKnown: data !== undefined, dir: row?.dir ?? undefined, name: row?.name ?? "" };
}

/** The workspaces that have a company folder. */
export function useCompanies(): Workspace[] {
  const { data } = useCall("workspace/list", {});
  return data?.workspaces.filter(({ dir, is_active }) => dir && is_active) ?? [];
}

/** Opens a company folder. Answers the workspace that shows it. */
export async function openCompany(dir: string): Promise<string> {
  const { issues } = await call("workspace.open", { workspace_dir: dir });
  if (issues.some(({ code, path }) => code === "missing_file" && path === "company/company.yaml")) {
    throw new Error(`\`${dir}\` is not a company folder: it has no company/company.yaml`);
  }
  return workspaceOf(dir);
}

/** Makes a company in a folder, which must be new or empty unless it is forced. Answers the workspace that shows it. */
export async function makeCompany(dir: string, name: string, { force = false } = {}): Promise<string> {
  await call("workspace.bootstrap.enterprise", {
    workspace_dir: dir,
    ...(name ? { company_name: name } : {}),
    ...(force ? { force } : {}),
  });
  return workspaceOf(dir);
}

async function workspaceOf(dir: string): Promise<string> {
  invalidate(["workspace/list"]);
  const { workspaces } = await call("workspace/list", {});
  const found = workspaces.find((one) => one.dir && plain(one.dir) === plain(dir));
  if (!found) throw new Error(`no workspace shows \`${dir}\`: name the folder by its own path, without links`);
  return found.id;
}

/** Why a path cannot be the gateway's, in a sentence; nothing when it can. The browser knows no home and no current folder. */
export function pathProblem(path: string): string | undefined {
  const trimmed = path.trim();
  if (trimmed === "" || /^([\\/]|[A-Za-z]:[\\/])/.test(trimmed)) return undefined;
  const what = trimmed.startsWith("~") ? "~ is not known here" : "This is not a whole path";
  return `${what}: write the path from the beginning, such as /home/you/northwind.`;
}

/** A path without `.`, `..` and what they stand for. */
function plain(path: string): string {
  const parts: string[] = [];
  for (const part of path.split(/[\\/]+/)) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}

/** The address of a place in a company folder, for somebody else: `/c/<folder>/runs`. */
export function companyAddress(dir: string, path: string): string {
  return `/c/${encodeURIComponent(dir)}${path.replace(/^\/w\/[^/]+/, "")}`;
}
