// Restores and purges items of the trash.

import type { TrashItem } from "@accord/client";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { dismissAbout, toast } from "../../parts/toast.tsx";

type Reference = Pick<TrashItem, "kind" | "id">;

/** Returns the subject of the toast about a deleted item. */
export const trashed = ({ kind, id }: Reference) => `trash.${kind}.${id}`;

/** The maximum number of items that one call purges. */
const BATCH = 1000;

const stale = (workspace_id: string) => invalidate(["thread/tree", "trash/list"], { workspace_id });

/** Restores items one after the other and shows the notes of the gateway. */
export async function restoreItem(workspace_id: string, ...items: Reference[]): Promise<void> {
  await attempt("Restoring", async () => {
    const told: string[] = [];
    for (const { kind, id } of items) {
      const { notes } = await call("trash/restore", { workspace_id, kind, id });
      told.push(...notes);
      dismissAbout(trashed({ kind, id }));
      stale(workspace_id);
    }
    toast({ text: ["Restored.", ...told].join(" ") });
  });
}

export async function purgeItems(workspace_id: string, items: Reference[]): Promise<void> {
  await attempt("Deleting permanently", async () => {
    for (let at = 0; at < items.length; at += BATCH) {
      const batch = items.slice(at, at + BATCH).map(({ kind, id }) => ({ kind, id }));
      await call("trash/purge", { workspace_id, items: batch });
      batch.forEach((item) => dismissAbout(trashed(item)));
    }
    stale(workspace_id);
  });
}
