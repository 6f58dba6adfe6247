// Reads, grants and withdraws the trust of a company folder.

import type { CompanyWorkspaceTrustResponse } from "@accord/client";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { call, callOptions, queries } from "../../data/calls.ts";

type FolderTrust = CompanyWorkspaceTrustResponse;

const trustOptions = (dir: string) => callOptions("workspace.trust.get", { workspace_dir: dir });

/** Reads the trust state of a folder. Opening another page does not refetch it, because every page shows the banner. */
export function useTrust(dir: string | undefined): UseQueryResult<FolderTrust> {
  return useQuery({
    ...trustOptions(dir ?? ""),
    enabled: dir !== undefined,
    refetchOnMount: false,
  });
}

/** Reads the trust state without the cache: a person decides about the current contents of the folder. */
export function useTrustNow(dir: string): UseQueryResult<FolderTrust> {
  return useQuery({ ...trustOptions(dir), staleTime: 0, refetchOnMount: "always" });
}

/** Trusts a folder. The gateway rejects it if the folder no longer matches what was shown. */
export async function trustFolder(dir: string, shown: FolderTrust): Promise<void> {
  const expected_sha256 = shown.sha256;
  await changed(dir, await call("workspace.trust", { workspace_dir: dir, expected_sha256 }));
}

export async function withdrawTrust(dir: string): Promise<void> {
  await changed(dir, await call("workspace.trust.withdraw", { workspace_dir: dir }));
}

/** Stores the new state and invalidates all other reads of the folder, because trust changes their results. */
async function changed(dir: string, state: FolderTrust): Promise<void> {
  const { queryKey } = trustOptions(dir);
  // A pending request would return the old state.
  await queries.cancelQueries({ queryKey });
  queries.setQueryData(queryKey, state);
  void queries.invalidateQueries({
    predicate: ({ queryKey: [method, params] }) =>
      method !== queryKey[0] && (params as { workspace_dir?: unknown } | undefined)?.workspace_dir === dir,
  });
}
