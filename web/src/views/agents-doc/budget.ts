/** The most characters a prompt takes of an AGENTS.md. */
export const BUDGET = 16_000;
