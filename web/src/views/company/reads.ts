// Reads of a company folder. Other programs may change the folder without telling, so these reads grow old by
// themselves too: they are repeated when a view is opened again or the window gets the focus.

import type { Methods } from "@accord/client";
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { callOptions } from "../../data/calls.ts";

/** Milliseconds after which a read is repeated when there is a reason to look. */
export const FRESH = 4_000;

export function useRead<M extends keyof Methods>(
  method: M,
  params: Methods[M]["params"],
  options: { enabled?: boolean; everyMs?: number } = {},
): UseQueryResult<Methods[M]["result"]> {
  const { enabled = true, everyMs } = options;
  return useQuery({
    ...callOptions(method, params),
    enabled,
    staleTime: FRESH,
    refetchOnWindowFocus: true,
    ...(everyMs ? { refetchInterval: everyMs } : {}),
  });
}
