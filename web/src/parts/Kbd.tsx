// A keyboard key.

import { keyName } from "../keys/keys.ts";

export function Kbd({ keys }: { keys: string }) {
  return <kbd className="kbd">{keyName(keys)}</kbd>;
}
