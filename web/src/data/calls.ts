// Calls as queries and actions: what is read is kept and shared, what is done tells its failure.

import { RpcError, type Methods } from "@accord/client";
import { QueryClient, queryOptions, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { toast } from "../parts/toast.tsx";
import { client } from "./client.ts";
import { askToTrust, UntrustedFolder, withFolder } from "./trust.ts";
import { reworded } from "./wording.ts";

type Params<M extends keyof Methods> = Methods[M]["params"];
type Result<M extends keyof Methods> = Methods[M]["result"];

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Notifications say when something is stale; nothing is read again for any other reason.
      staleTime: Infinity,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: false,
      // The client waits for the connection itself.
      networkMode: "always",
      retry: (failures, error) => failures < 2 && !(error instanceof RpcError),
    },
  },
});

/** The query of a reading method: keyed by its name and params, so that all who ask share the answer. */
export function callOptions<M extends keyof Methods>(method: M, params: Params<M>) {
  return queryOptions<Result<M>>({
    queryKey: [method, params],
    queryFn: ({ signal }) => call(method, params, { signal }),
  });
}

/** Reads a method, again whenever it becomes stale. */
export function useCall<M extends keyof Methods>(
  method: M,
  params: Params<M>,
  options: { enabled?: boolean } = {},
): UseQueryResult<Result<M>> {
  return useQuery({ ...callOptions(method, params), ...options });
}

/** Calls a method once. */
export function call<M extends keyof Methods>(
  method: M,
  params: Params<M>,
  options: { signal?: AbortSignal; retry?: boolean } = {},
): Promise<Result<M>> {
  // The conditional type of the arguments cannot be seen through here.
  const send = client.call.bind(client) as (m: M, p: Params<M>, o: typeof options) => Promise<Result<M>>;
  return send(method, params, options).catch((error: unknown) => {
    throw withFolder(error, params);
  });
}

/** Everything read by these methods is stale, optionally only where the params have these members. */
export function invalidate(methods: (keyof Methods)[], where: Record<string, unknown> = {}): void {
  void queries.invalidateQueries({
    predicate: ({ queryKey: [method, params] }) =>
      methods.includes(method as keyof Methods) &&
      Object.entries(where).every(([name, value]) => {
        const given = (params as Record<string, unknown> | undefined)?.[name];
        return given === undefined || given === value;
      }),
  });
}

/** One sentence about a failure, for people. */
export function sentence(error: unknown): string {
  let text = reworded(error instanceof Error ? error.message : String(error));
  // The company family lists what is wrong with params beside a message that says only that something is.
  if (error instanceof RpcError && Array.isArray(error.data)) {
    const issue = error.data[0] as { message?: unknown; path?: unknown } | undefined;
    const path = Array.isArray(issue?.path) ? issue.path.join(".") : "";
    if (typeof issue?.message === "string") text = `${text}: ${path ? `${path}: ` : ""}${issue.message}`;
  }
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Does something and tells the failure in a toast. If the company folder has to be trusted first, the dialog opens that
 * asks for it. Answers whether it went well.
 */
export async function attempt(what: string, action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action();
    return true;
  } catch (error) {
    if (error instanceof UntrustedFolder) askToTrust({ dir: error.dir, refused: what });
    else toast({ tone: "failed", text: `${what} failed. ${sentence(error)}` });
    return false;
  }
}
