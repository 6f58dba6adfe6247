// The actor of calls that a person makes in the desktop.

export const ME = { actor_id: "human", actor_role: "human" } as const;
export const AUTHOR = { author_id: "human", author_role: "human" } as const;
