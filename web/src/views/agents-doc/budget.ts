/** The maximum number of characters of an AGENTS.md in a prompt. */
export const BUDGET = 16_000;
