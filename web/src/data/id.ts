// Ids that clients make.

const LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz";

/** A new id such as `thr_` and 18 letters nobody else has drawn. */
export function newId(prefix: "thr" | "trn" | "ws"): string {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return `${prefix}_${Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join("")}`;
}
