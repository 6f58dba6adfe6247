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

/** There is no company where one was expected: the folder is not there, or it is no company folder. */
export class NoCompany extends Error {
  /** The workspace that showed the company when it was still there. */
  readonly known: Workspace | undefined;

  constructor(dir: string, known: Workspace | undefined) {
    super(`${known ? "the company in " : ""}\`${dir}\` is not there${known ? " any more" : ""}: ${WHY}`);
    this.known = known;
  }
}

const WHY = "the folder does not exist, or it is not a company folder because it has no company/company.yaml";

/** Opens a company folder. Answers the workspace that shows it. */
export async function openCompany(dir: string): Promise<string> {
  const { issues } = await call("workspace.open", { workspace_dir: dir });
  if (issues.some(({ code, path }) => code === "missing_file" && path === "company/company.yaml")) {
    throw new NoCompany(dir, await knownAs(dir).catch(() => undefined));
  }
  return workspaceOf(dir);
}

/** Takes a company out of the lists; its folder and what the gateway keeps for it stay, and opening it brings it back. */
export async function forgetCompany(workspace_id: string): Promise<void> {
  await call("workspace/forget", { workspace_id });
  invalidate(["workspace/list", "workspace/default"]);
}

async function knownAs(dir: string): Promise<Workspace | undefined> {
  const { workspaces } = await call("workspace/list", {});
  return workspaces.find((one) => one.is_active && one.dir && plain(one.dir) === plain(dir));
}

/** Makes a company in a folder, which must be new or empty unless it is forced. Answers the workspace that shows it. */
export async function makeCompany(dir: string, name: string, { force = false } = {}): Promise<string> {
  await call("workspace.bootstrap.enterprise", {
    workspace_dir: dir,
    ...(name ? { company_name: name } : {}),
    ...(force ? { force } : {}),
  });
  // A folder that is made here is trusted, whatever was at its path before.
  invalidate(["workspace.trust.get"]);
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
