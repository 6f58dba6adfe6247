// Whether a company folder is trusted on this computer, and the two ways to change that.

import type { CompanyWorkspaceTrustResponse } from "@accord/client";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { call, callOptions, queries } from "../../data/calls.ts";
import { FRESH } from "./reads.ts";

type FolderTrust = CompanyWorkspaceTrustResponse;

const trustOptions = (dir: string) => callOptions("workspace.trust.get", { workspace_dir: dir });

/**
 * The trust state of a folder, shared by all who ask. It grows old like other reads of a folder and is repeated when
 * the window gets the focus, but another page does not ask again.
 */
export function useTrust(dir: string | undefined): UseQueryResult<FolderTrust> {
  return useQuery({
    ...trustOptions(dir ?? ""),
    enabled: dir !== undefined,
    staleTime: FRESH,
    refetchOnMount: false,
    refetchOnWindowFocus: true,
  });
}

/** The trust state as the gateway tells it now: a person decides about what the folder says at this moment. */
export function useTrustNow(dir: string): UseQueryResult<FolderTrust> {
  return useQuery({ ...trustOptions(dir), staleTime: 0, refetchOnMount: "always" });
}

/** Trusts a folder that says about this computer what was shown; refused if it says something else by now. */
export async function trustFolder(dir: string, shown: FolderTrust): Promise<void> {
  const expected_sha256 = shown.sha256;
  await changed(dir, await call("workspace.trust", { workspace_dir: dir, expected_sha256 }));
}

export async function withdrawTrust(dir: string): Promise<void> {
  await changed(dir, await call("workspace.trust.withdraw", { workspace_dir: dir }));
}

/** Keeps the new state. What counts in the folder is another thing now, so that everything read of it is stale. */
async function changed(dir: string, state: FolderTrust): Promise<void> {
  const { queryKey } = trustOptions(dir);
  // An answer that is on its way tells the state before.
  await queries.cancelQueries({ queryKey });
  queries.setQueryData(queryKey, state);
  void queries.invalidateQueries({
    predicate: ({ queryKey: [method, params] }) =>
      method !== queryKey[0] && (params as { workspace_dir?: unknown } | undefined)?.workspace_dir === dir,
  });
}
