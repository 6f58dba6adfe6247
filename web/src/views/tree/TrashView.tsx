// The trash: deleted objects, to restore or to delete permanently.

import type { TrashItem } from "@accord/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { address } from "../../address.ts";
import { Page } from "../../app/Page.tsx";
import type { ViewProps } from "../../app/section.ts";
import { call } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { Icon, type IconName } from "../../parts/Icon.tsx";
import { count } from "../../parts/size.ts";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { Time } from "../../parts/Time.tsx";
import { purgeItems, restoreItem } from "./trash.ts";

const ICONS: Record<TrashItem["kind"], IconName> = { thread: "thread", folder: "folder", agents_doc: "doc" };

export default function TrashView({ workspace }: ViewProps) {
  const query = useInfiniteQuery({
    queryKey: ["trash/list", { workspace_id: workspace }],
    queryFn: ({ pageParam, signal }) =>
      call("trash/list", { workspace_id: workspace, ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor || undefined,
  });
  const [asked, setAsked] = useState<TrashItem[]>();
  /** An AGENTS.md that can only be restored together with its deleted folder. */
  const [blocked, setBlocked] = useState<{ doc: TrashItem; folder: TrashItem }>();
  const items = query.data?.pages.flatMap((page) => page.items);
  const restore = (item: TrashItem) => {
    const folder = folderOf(item, items ?? []);
    if (folder) setBlocked({ doc: item, folder });
    else void restoreItem(workspace, item);
  };
  const lost = docsLostWith(asked ?? [], items ?? []);
  return (
    <Page
      title="Trash"
      back={address.tree(workspace)}
      actions={
        items && items.length > 0 ? (
          <Button kind="danger" icon="trash" onClick={() => setAsked(items)}>
            {query.hasNextPage ? "Delete all listed permanently…" : "Empty trash…"}
          </Button>
        ) : undefined
      }
    >
      <div className="page-column">
        {!items && (query.error ? <Failure error={query.error} onRetry={() => void query.refetch()} /> : <Loading />)}
        {items?.length === 0 && (
          <Empty icon="trash" title="The trash is empty">
            Deleted threads, folders and AGENTS.md files stay here for 30 days.
          </Empty>
        )}
        {items && items.length > 0 && (
          <ul className="trash" aria-label="Deleted items">
            {items.map((item) => (
              <li key={`${item.kind}:${item.id}`} className="trash-line">
                <Icon name={ICONS[item.kind]} />
                <div className="trash-words">
                  <span>{nameOf(item)}</span>
                  <span className="muted">
                    {description(item)} · deleted <Time at={item.deleted_at} /> · permanently deleted{" "}
                    <Time at={item.purge_at} />
                  </span>
                </div>
                <Button icon="undo" aria-label={`Restore ${nameOf(item)}`} onClick={() => restore(item)}>
                  Restore
                </Button>
                <Button
                  kind="quiet"
                  icon="trash"
                  aria-label={`Delete ${nameOf(item)} permanently`}
                  onClick={() => setAsked([item])}
                >
                  Delete permanently…
                </Button>
              </li>
            ))}
          </ul>
        )}
        {query.hasNextPage && <Button onClick={() => void query.fetchNextPage()}>Show more</Button>}
      </div>
      <Dialog
        title={
          asked?.length === 1 && asked[0]
            ? `Permanently delete “${nameOf(asked[0])}”?`
            : `Permanently delete ${count(asked?.length ?? 0)} items?`
        }
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
        description="This cannot be undone. Saved versions of AGENTS.md stay in the history as a record of the instructions that agents received."
      >
        {lost.length > 0 && (
          <ul className="consequences">
            {lost.map((doc) => (
              <li key={doc.id}>“{nameOf(doc)}” is deleted with its folder and can no longer be restored.</li>
            ))}
          </ul>
        )}
        <DialogActions>
          <Button onClick={() => setAsked(undefined)}>Cancel</Button>
          <Button
            kind="danger"
            icon="trash"
            onClick={() => {
              if (asked) void purgeItems(workspace, asked);
              setAsked(undefined);
            }}
          >
            Delete permanently
          </Button>
        </DialogActions>
      </Dialog>
      <Dialog
        title={`Restore folder “${blocked?.folder.name ?? ""}” first`}
        open={blocked !== undefined}
        onClose={() => setBlocked(undefined)}
        description="The folder of this AGENTS.md is also in the trash."
      >
        <DialogActions>
          <Button onClick={() => setBlocked(undefined)}>Cancel</Button>
          <Button
            kind="primary"
            icon="undo"
            autoFocus
            onClick={() => {
              if (blocked) void restoreItem(workspace, blocked.folder, blocked.doc);
              setBlocked(undefined);
            }}
          >
            Restore both
          </Button>
        </DialogActions>
      </Dialog>
    </Page>
  );
}

/** Returns the folder of an AGENTS.md if the folder is in the trash too. */
function folderOf(item: TrashItem, items: TrashItem[]): TrashItem | undefined {
  if (item.kind !== "agents_doc") return undefined;
  return items.find(({ kind, id }) => kind === "folder" && id === item.folder_id);
}

/** Returns the AGENTS.md files that are purged because their folders are. */
function docsLostWith(purged: TrashItem[], items: TrashItem[]): TrashItem[] {
  return items.filter((item) => {
    const folder = folderOf(item, items);
    return folder !== undefined && purged.includes(folder) && !purged.includes(item);
  });
}

function nameOf(item: TrashItem): string {
  if (item.kind === "agents_doc")
    return item.folder_name ? `AGENTS.md in ${item.folder_name}` : "AGENTS.md in the root";
  return item.name || "New thread";
}

/** Returns the type, the former location and the contents of an item. */
function description(item: TrashItem): string {
  const where = item.folder_name ? `in ${item.folder_name}` : "at the root";
  if (item.kind === "thread") return `Thread, ${where}`;
  if (item.kind === "agents_doc") return "Instructions";
  const inside = [
    item.has_agents_doc ? "AGENTS.md" : "",
    item.thread_count ? `${item.thread_count} ${item.thread_count === 1 ? "thread" : "threads"}` : "",
    item.folder_count ? `${item.folder_count} ${item.folder_count === 1 ? "folder" : "folders"}` : "",
  ].filter(Boolean);
  return `Folder, ${where}${inside.length ? `, with ${inside.join(", ")}` : ", empty"}`;
}
