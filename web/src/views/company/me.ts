// Who acts when a person uses the desktop.

export const ME = { actor_id: "human", actor_role: "human" } as const;
export const AUTHOR = { author_id: "human", author_role: "human" } as const;
