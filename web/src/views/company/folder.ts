// The company folder of a workspace. The gateway links each opened folder to its own workspace.

import type { Workspace } from "@accord/client";
import { call, invalidate, useCall } from "../../data/calls.ts";

/** Returns the company folder and the name of a workspace. `isKnown` is false until the list is loaded. */
export function useCompany(workspace: string): { isKnown: boolean; dir: string | undefined; name: string } {
  const { data } = useCall("workspace/list", {});
  const row = data?.workspaces.find(({ id }) => id === workspace);
  return { isKnown: data !== undefined, dir: row?.dir ?? undefined, name: row?.name ?? "" };
}

/** Returns the workspaces with a company folder. */
export function useCompanies(): Workspace[] {
  const { data } = useCall("workspace/list", {});
  return data?.workspaces.filter(({ dir, is_active }) => dir && is_active) ?? [];
}

/** The folder does not exist or is not a company folder. */
export class NoCompany extends Error {
  /** The workspace that is linked to the folder; undefined if the folder was never opened. */
  readonly known: Workspace | undefined;

  constructor(dir: string, known: Workspace | undefined) {
    super(`no company found in \`${dir}\`: ${WHY}`);
    this.known = known;
  }
}

const WHY = "the folder does not exist, or it has no company/company.yaml";

/** Opens a company folder and returns the id of its workspace. */
export async function openCompany(dir: string): Promise<string> {
  const { issues } = await call("workspace.open", { workspace_dir: dir });
  if (issues.some(({ code, path }) => code === "missing_file" && path === "company/company.yaml")) {
    throw new NoCompany(dir, await knownAs(dir).catch(() => undefined));
  }
  return workspaceOf(dir);
}

/** Removes a company from the lists. Its files and the data of the gateway stay; opening the folder adds it again. */
export async function forgetCompany(workspace_id: string): Promise<void> {
  await call("workspace/forget", { workspace_id });
  invalidate(["workspace/list", "workspace/default"]);
}

async function knownAs(dir: string): Promise<Workspace | undefined> {
  const { workspaces } = await call("workspace/list", {});
  return workspaces.find((one) => one.is_active && one.dir && plain(one.dir) === plain(dir));
}

/** Creates a company and returns the id of its workspace. The folder must be new or empty unless `force` is set. */
export async function makeCompany(dir: string, name: string, { force = false } = {}): Promise<string> {
  await call("workspace.bootstrap.enterprise", {
    workspace_dir: dir,
    ...(name ? { company_name: name } : {}),
    ...(force ? { force } : {}),
  });
  // A created folder is trusted, whatever the state of its path was before.
  invalidate(["workspace.trust.get"]);
  return workspaceOf(dir);
}

async function workspaceOf(dir: string): Promise<string> {
  invalidate(["workspace/list"]);
  const { workspaces } = await call("workspace/list", {});
  const found = workspaces.find((one) => one.dir && plain(one.dir) === plain(dir));
  if (!found) throw new Error(`no workspace is linked to \`${dir}\`: enter the path without symbolic links`);
  return found.id;
}

/** Returns why a path is not valid for the gateway; undefined if it is. Only absolute paths are valid. */
export function pathProblem(path: string): string | undefined {
  const trimmed = path.trim();
  if (trimmed === "" || /^([\\/]|[A-Za-z]:[\\/])/.test(trimmed)) return undefined;
  const what = trimmed.startsWith("~") ? "~ is not supported here" : "This path is not absolute";
  return `${what}. Enter the full path, such as /home/you/northwind.`;
}

/** Normalises a path: resolves `.` and `..`. */
function plain(path: string): string {
  const parts: string[] = [];
  for (const part of path.split(/[\\/]+/)) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}

/** Returns an address to share that does not depend on the workspace: `/c/<folder>/runs`. */
export function companyAddress(dir: string, path: string): string {
  return `/c/${encodeURIComponent(dir)}${path.replace(/^\/w\/[^/]+/, "")}`;
}
