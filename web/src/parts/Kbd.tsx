// A key as people know it.

import { keyName } from "../keys/keys.ts";

export function Kbd({ keys }: { keys: string }) {
  return <kbd className="kbd">{keyName(keys)}</kbd>;
}
