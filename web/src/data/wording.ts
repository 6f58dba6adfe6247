// Readable versions of messages that the company protocol fixes; the command line uses the same (`wording.rs`).

/** `spawn claude ENOENT` as `claude is not installed or not in PATH`; every other message stays as it is. */
export function reworded(text: string): string {
  const missing = /^spawn (.+) ENOENT$/.exec(text)?.[1] ?? /^.* binary not found: (.+)$/.exec(text)?.[1];
  if (missing) return `${missing} is not installed or not in PATH`;
  const refused = /^spawn (.+) EACCES$/.exec(text)?.[1];
  return refused ? `${refused} may not be executed: check its permissions` : text;
}
