// The programs that work, and what they may do.

export const WORKERS = [
  { value: "codex", label: "Codex" },
  { value: "claude", label: "Claude" },
  { value: "gemini", label: "Gemini" },
] as const;

/** Providers whose runs are commands that a person typed; no model counts their tokens. */
const PLAIN_COMMANDS = ["cmd", "command", "shell"];

export const isPlainCommand = (provider: string | null | undefined) => PLAIN_COMMANDS.includes(provider ?? "");

export type Worker = (typeof WORKERS)[number]["value"];

export const PERMISSIONS = [
  { value: "read-only", label: "Read" },
  { value: "patch", label: "Change files" },
  { value: "run-commands", label: "Run commands" },
] as const;

export type Permission = (typeof PERMISSIONS)[number]["value"];
