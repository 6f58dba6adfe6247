// Reads the tree of a workspace and changes it.

import type { Thread } from "@accord/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { address } from "../../address.ts";
import { attempt, call, invalidate, queries } from "../../data/calls.ts";
import { client } from "../../data/client.ts";
import { newId } from "../../data/id.ts";
import { toast } from "../../parts/toast.tsx";
import { navigate } from "../../router.tsx";
import { Places, threadName, type FolderId, type Tree } from "./model.ts";
import { restoreItem, trashed } from "./trash.ts";

/** The number of threads per request. */
const PAGE = 5000;

const keyOf = (workspace: string) => ["thread/tree", { workspace_id: workspace }];

async function readTree(workspace_id: string, signal: AbortSignal): Promise<Tree> {
  const { threads, folders, placements, agents_docs, next_cursor } = await call(
    "thread/tree",
    { workspace_id, limit: PAGE },
    { signal },
  );
  let cursor = next_cursor;
  while (cursor) {
    const page = await call("thread/tree", { workspace_id, limit: PAGE, cursor }, { signal });
    threads.push(...page.threads);
    cursor = page.next_cursor;
  }
  return { threads, folders, placements, agents_docs };
}

export function treeOptions(workspace: string) {
  return queryOptions({
    queryKey: keyOf(workspace),
    queryFn: ({ signal }) => readTree(workspace, signal),
    // The tree may be large, and the gateway reports every change of it.
    staleTime: Infinity,
  });
}

export function useTree(workspace: string) {
  const query = useQuery(treeOptions(workspace));
  const places = useMemo(() => query.data && new Places(query.data), [query.data]);
  return { query, places };
}

/** Updates the names and states of threads without refetching the tree. */
export function listenToThreads(): void {
  client.on("thread/updated", ({ thread }) =>
    patch(thread.workspace_id, (tree) => ({
      ...tree,
      threads: tree.threads.map((one) => (one.id === thread.id ? thread : one)),
    })),
  );
}

/** Applies an optimistic change, which the next result of the gateway replaces. */
function patch(workspace: string, change: (tree: Tree) => Tree): void {
  queries.setQueryData<Tree>(keyOf(workspace), (tree) => tree && change(tree));
}

const reread = (workspace_id: string) => invalidate(["thread/tree", "trash/list"], { workspace_id });

export async function createThread(workspace_id: string, folder: FolderId): Promise<void> {
  await attempt("Creating the thread", async () => {
    const thread_id = newId("thr");
    await call("thread/start", { workspace_id, thread_id }, { retry: true });
    // A placement turns the draft into a permanent thread.
    await call("thread/move", { workspace_id, thread_id, folder_id: folder }, { retry: true });
    reread(workspace_id);
    navigate(address.thread(workspace_id, thread_id));
  });
}

export async function createFolder(workspace_id: string, parent: FolderId, name: string): Promise<void> {
  await attempt("Creating the folder", async () => {
    await call("thread/folder/create", { workspace_id, name, parent_folder_id: parent });
    reread(workspace_id);
  });
}

export async function renameFolder(workspace_id: string, folder_id: string, name: string): Promise<void> {
  patch(workspace_id, (tree) => ({
    ...tree,
    folders: tree.folders.map((one) => (one.id === folder_id ? { ...one, name } : one)),
  }));
  await attempt("Renaming", () => call("thread/folder/update", { workspace_id, folder_id, name }, { retry: true }));
  reread(workspace_id);
}

export async function renameThread(workspace_id: string, thread_id: string, name: string): Promise<void> {
  patch(workspace_id, (tree) => ({
    ...tree,
    threads: tree.threads.map((one) => (one.id === thread_id ? { ...one, name } : one)),
  }));
  await attempt("Renaming", () => call("thread/update", { workspace_id, thread_id, name }, { retry: true }));
  reread(workspace_id);
}

export async function moveThread(workspace_id: string, thread_id: string, folder_id: FolderId): Promise<void> {
  patch(workspace_id, (tree) => ({
    ...tree,
    placements: [
      ...tree.placements.filter((one) => one.thread_id !== thread_id),
      { workspace_id, thread_id, folder_id },
    ],
  }));
  await attempt("Moving", () => call("thread/move", { workspace_id, thread_id, folder_id }, { retry: true }));
  reread(workspace_id);
}

export async function moveFolder(workspace_id: string, folder_id: string, parent: FolderId): Promise<void> {
  patch(workspace_id, (tree) => ({
    ...tree,
    folders: tree.folders.map((one) => (one.id === folder_id ? { ...one, parent_folder_id: parent } : one)),
  }));
  await attempt("Moving", () =>
    call("thread/folder/move", { workspace_id, folder_id, parent_folder_id: parent }, { retry: true }),
  );
  reread(workspace_id);
}

/** Moves a thread to the trash. The gateway refuses it during a turn. */
export async function deleteThread(workspace_id: string, thread: Thread): Promise<void> {
  const thread_id = thread.id;
  patch(workspace_id, (tree) => ({ ...tree, threads: tree.threads.filter((one) => one.id !== thread_id) }));
  const isDeleted = await attempt("Deleting the thread", () =>
    call("thread/delete", { workspace_id, thread_id }, { retry: true }),
  );
  reread(workspace_id);
  if (!isDeleted) return;
  toast({
    text: `“${threadName(thread)}” moved to trash`,
    about: trashed({ kind: "thread", id: thread_id }),
    action: { label: "Undo", run: () => void restoreItem(workspace_id, { kind: "thread", id: thread_id }) },
  });
}

/** Moves a folder to the trash; its contents move one level up. */
export async function deleteFolder(workspace_id: string, folder_id: string, name: string): Promise<void> {
  const isDeleted = await attempt("Deleting the folder", () =>
    call("thread/folder/delete", { workspace_id, folder_id }, { retry: true }),
  );
  reread(workspace_id);
  if (!isDeleted) return;
  toast({
    text: `Folder “${name}” moved to trash; its contents moved up`,
    about: trashed({ kind: "folder", id: folder_id }),
    action: { label: "Undo", run: () => void restoreItem(workspace_id, { kind: "folder", id: folder_id }) },
  });
}

/** Moves an AGENTS.md to the trash. */
export async function archiveDoc(
  workspace_id: string,
  folder: FolderId,
  doc_id: string,
  version: number,
): Promise<void> {
  await attempt("Deleting AGENTS.md", async () => {
    await call("thread/agents_doc/archive", { workspace_id, folder_id: folder, expected_version: version });
    toast({
      text: "AGENTS.md moved to trash",
      about: trashed({ kind: "agents_doc", id: doc_id }),
      action: {
        label: "Undo",
        run: () => void attempt("Undo", () => call("thread/agents_doc/restore", { workspace_id, doc_id })),
      },
    });
  });
}
