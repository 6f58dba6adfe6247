// Calls of the gateway: reads as queries whose results are cached and shared, actions that report their failure.
//
// When a cached result is read again, for every query:
//
// 1. A notification of the gateway marks the results it affects as stale (`live.ts`, `views/company/live.ts`).
//    Results on screen are refetched at once, others when a view shows them again.
// 2. Other programs may change a company folder without a notification. A result therefore also becomes stale after
//    `FRESH_MS`; it is then refetched when a view that shows it is opened or the window gets the focus.
// 3. Values that change without either, such as a position in a queue, are polled with `everyMs`.
//
// A query that must not follow rule 2 sets `staleTime` or `refetchOnMount` itself and states the reason.

import { RpcError, type Methods } from "@accord/client";
import { QueryClient, queryOptions, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { toast } from "../parts/toast.tsx";
import { client } from "./client.ts";
import { askToTrust, UntrustedFolder, withFolder } from "./trust.ts";
import { reworded } from "./wording.ts";

type Params<M extends keyof Methods> = Methods[M]["params"];
type Result<M extends keyof Methods> = Methods[M]["result"];

/** Milliseconds after which a result becomes stale without a notification. */
const FRESH_MS = 4_000;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      refetchOnWindowFocus: true,
      gcTime: 5 * 60_000,
      // The client waits for the connection itself.
      networkMode: "always",
      retry: (failures, error) => failures < 2 && !(error instanceof RpcError),
    },
  },
});

/** Returns the query of a reading method. Its key is the method and the params, so that all callers share the result. */
export function callOptions<M extends keyof Methods>(method: M, params: Params<M>) {
  return queryOptions<Result<M>>({
    queryKey: [method, params],
    queryFn: ({ signal }) => call(method, params, { signal }),
  });
}

/** Reads a method and keeps the result up to date as described at the top of this file. */
export function useCall<M extends keyof Methods>(
  method: M,
  params: Params<M>,
  options: { enabled?: boolean; everyMs?: number; staleTime?: number } = {},
): UseQueryResult<Result<M>> {
  const { everyMs, ...rest } = options;
  return useQuery({ ...callOptions(method, params), ...rest, ...(everyMs ? { refetchInterval: everyMs } : {}) });
}

/** Calls a method once. */
export function call<M extends keyof Methods>(
  method: M,
  params: Params<M>,
  options: { signal?: AbortSignal; retry?: boolean } = {},
): Promise<Result<M>> {
  // TypeScript cannot resolve the conditional type of the arguments for a generic method.
  const send = client.call.bind(client) as (m: M, p: Params<M>, o: typeof options) => Promise<Result<M>>;
  return send(method, params, options).catch((error: unknown) => {
    throw withFolder(error, params);
  });
}

/** Marks the results of these methods as stale, optionally only those whose params match `where`. */
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

/** Returns a sentence that describes an error. */
export function sentence(error: unknown): string {
  let text = reworded(error instanceof Error ? error.message : String(error));
  // The company family returns a general message and lists the invalid params in `data`.
  if (error instanceof RpcError && Array.isArray(error.data)) {
    const issue = error.data[0] as { message?: unknown; path?: unknown } | undefined;
    const path = Array.isArray(issue?.path) ? issue.path.join(".") : "";
    if (typeof issue?.message === "string") text = `${text}: ${path ? `${path}: ` : ""}${issue.message}`;
  }
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Runs an action and returns whether it succeeded. A failure is shown in a toast; if the cause is an untrusted company
 * folder, the trust dialog opens instead.
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
