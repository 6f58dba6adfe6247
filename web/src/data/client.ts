// The only connection of the page, to the gateway that served it. The cookie and the page key authenticate it.

import { connect, type ConnectionState } from "@accord/client";
import { useSyncExternalStore } from "react";
import { pageKey, proof, signInByAddress } from "./session.ts";

await signInByAddress();

export const client = connect({ url: new URL("/ws", location.href), pageKey: pageKey() });

/** Returns the state of the connection. */
export function useConnection(): ConnectionState {
  return useSyncExternalStore(
    (listener) => client.onState(listener),
    () => client.state,
  );
}

/** Asks over HTTP whether the gateway accepts this browser. A failed WebSocket does not report the reason. */
export async function admission(): Promise<"welcome" | "refused" | "unknown"> {
  try {
    const { status } = await fetch("/ws", { headers: proof(), cache: "no-store" });
    if (status === 401 || status === 403) return "refused";
    // Throttled, or a proxy without a gateway behind it.
    return status === 429 || status >= 500 ? "unknown" : "welcome";
  } catch {
    return "unknown";
  }
}
