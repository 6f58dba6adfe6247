// Ids that clients create.

const LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz";

/** Returns a new id: the prefix and 18 random letters and digits. */
export function newId(prefix: "thr" | "trn" | "ws"): string {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return `${prefix}_${Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join("")}`;
}
