// The thread tree as a list of rows in a fixed order, without the contents of collapsed folders.

import type { Thread, ThreadAgentsDocSummary, ThreadFolder, ThreadPlacement } from "@accord/client";

export interface Tree {
  folders: ThreadFolder[];
  placements: ThreadPlacement[];
  agents_docs: ThreadAgentsDocSummary[];
  threads: Thread[];
}

/** A folder, or the root. */
export type FolderId = string | null;

interface Place {
  key: string;
  /** The folder that contains it. */
  parent: FolderId;
  /** The depth; 1 at the root. */
  level: number;
  /** The position among its siblings, from 1, and their number. */
  position: number;
  siblings: number;
}

export type Row = Place &
  (
    | { kind: "folder"; folder: ThreadFolder; isOpen: boolean; isEmpty: boolean }
    | { kind: "doc"; doc: ThreadAgentsDocSummary | undefined }
    | { kind: "thread"; thread: Thread }
  );

export const folderKey = (id: string) => `folder:${id}`;
export const docKey = (folder: FolderId) => `doc:${folder ?? ""}`;
export const threadKey = (id: string) => `thread:${id}`;

export function threadName(thread: Thread): string {
  return thread.name || thread.preview.split("\n")[0]?.slice(0, 120) || "New thread";
}

/** The tree indexed by folder. */
export class Places {
  readonly #folders: Map<string, ThreadFolder>;
  readonly #docs: Map<FolderId, ThreadAgentsDocSummary>;
  readonly #folderOf: Map<string, FolderId>;
  readonly #foldersIn = new Map<FolderId, ThreadFolder[]>();
  readonly #threadsIn = new Map<FolderId, Thread[]>();

  constructor(tree: Tree) {
    this.#folders = new Map(tree.folders.map((folder) => [folder.id, folder]));
    const standing = (id: FolderId): FolderId => (id !== null && this.#folders.has(id) ? id : null);
    this.#docs = new Map(tree.agents_docs.map((doc) => [doc.folder_id ?? null, doc]));
    this.#folderOf = new Map(tree.placements.map((place) => [place.thread_id, standing(place.folder_id ?? null)]));
    for (const folder of this.#folders.values())
      add(this.#foldersIn, standing(folder.parent_folder_id ?? null), folder);
    for (const thread of tree.threads) add(this.#threadsIn, this.folderOf(thread.id), thread);
    for (const folders of this.#foldersIn.values()) folders.sort(byPositionAndName);
    // Newest first by creation time, so that rows do not move while in view.
    for (const threads of this.#threadsIn.values()) {
      threads.sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1));
    }
  }

  folder(id: FolderId): ThreadFolder | undefined {
    return id === null ? undefined : this.#folders.get(id);
  }

  doc(folder: FolderId): ThreadAgentsDocSummary | undefined {
    return this.#docs.get(folder);
  }

  folderOf(thread: string): FolderId {
    return this.#folderOf.get(thread) ?? null;
  }

  parentOf(folder: FolderId): FolderId {
    return this.folder(folder)?.parent_folder_id ?? null;
  }

  foldersIn(folder: FolderId): ThreadFolder[] {
    return this.#foldersIn.get(folder) ?? [];
  }

  threadsIn(folder: FolderId): Thread[] {
    return this.#threadsIn.get(folder) ?? [];
  }

  /** Returns the folders from the root down to this one. */
  pathOf(folder: FolderId): ThreadFolder[] {
    const path: ThreadFolder[] = [];
    for (let at = this.folder(folder); at && path.length < 1000; at = this.folder(at.parent_folder_id ?? null))
      path.unshift(at);
    return path;
  }

  /** Returns whether a folder is the other one or below it. */
  isWithin(folder: FolderId, other: string): boolean {
    return this.pathOf(folder).some(({ id }) => id === other);
  }

  /** Returns every folder in the order of the tree. */
  allFolders(): ThreadFolder[] {
    const below = (folder: FolderId): ThreadFolder[] =>
      this.foldersIn(folder).flatMap((one) => [one, ...below(one.id)]);
    return below(null);
  }

  /** Returns the number of threads in a folder and below it. */
  threadCount(folder: FolderId): number {
    return this.foldersIn(folder).reduce((sum, { id }) => sum + this.threadCount(id), this.threadsIn(folder).length);
  }

  /** Returns the rows. `openDoc` is the folder whose AGENTS.md is open; its row is shown even before the file exists. */
  rows(closed: ReadonlySet<string>, openDoc: FolderId | undefined): Row[] {
    const rows: Row[] = [];
    const descend = (parent: FolderId, level: number) => {
      const doc = this.doc(parent);
      const hasDoc = doc !== undefined || openDoc === parent;
      const folders = this.foldersIn(parent);
      const threads = this.threadsIn(parent);
      const siblings = (hasDoc ? 1 : 0) + folders.length + threads.length;
      let position = 0;
      const place = (key: string) => ({ key, parent, level, siblings, position: (position += 1) });
      if (hasDoc) rows.push({ kind: "doc", doc, ...place(docKey(parent)) });
      for (const folder of folders) {
        const isOpen = !closed.has(folder.id);
        const isEmpty =
          this.foldersIn(folder.id).length + this.threadsIn(folder.id).length === 0 &&
          !this.doc(folder.id) &&
          openDoc !== folder.id;
        rows.push({ kind: "folder", folder, isOpen, isEmpty, ...place(folderKey(folder.id)) });
        if (isOpen) descend(folder.id, level + 1);
      }
      for (const thread of threads) rows.push({ kind: "thread", thread, ...place(threadKey(thread.id)) });
    };
    descend(null, 1);
    return rows;
  }
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

function byPositionAndName(a: ThreadFolder, b: ThreadFolder): number {
  const [x, y] = [a.position ?? Infinity, b.position ?? Infinity];
  if (x !== y) return x < y ? -1 : 1;
  return a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1);
}
