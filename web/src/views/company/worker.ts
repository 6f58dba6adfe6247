// Worker programs and their permissions.

export const WORKERS = [
  { value: "codex", label: "Codex" },
  { value: "claude", label: "Claude" },
  { value: "gemini", label: "Gemini" },
] as const;

/** Providers whose runs are shell commands, which use no model. */
const PLAIN_COMMANDS = ["cmd", "command", "shell"];

export const isPlainCommand = (provider: string | null | undefined) => PLAIN_COMMANDS.includes(provider ?? "");

export type Worker = (typeof WORKERS)[number]["value"];

export const PERMISSIONS = [
  { value: "read-only", label: "Read only" },
  { value: "patch", label: "Edit files" },
  { value: "run-commands", label: "Run commands" },
] as const;

export type Permission = (typeof PERMISSIONS)[number]["value"];
