// The name of the location of an AGENTS.md.

import type { ThreadAgentsDocResolvedPayload } from "@accord/client";

export function sourceName({ source_path }: ThreadAgentsDocResolvedPayload): string {
  return source_path.length > 0 ? source_path.join(" / ") : "the root";
}
