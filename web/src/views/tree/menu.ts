// The context menus of the rows of the tree and of the root.

import { address } from "../../address.ts";
import type { NameQuestion } from "../../parts/AskName.tsx";
import type { MenuItem } from "../../parts/Menu.tsx";
import { navigate } from "../../router.tsx";
import type { Movable } from "./MoveDialog.tsx";
import { threadName, type FolderId, type Places, type Row } from "./model.ts";
import { archiveDoc, createFolder, createThread, deleteThread, renameFolder, renameThread } from "./tree.ts";

/** Opens the dialogs of the menu. */
export interface Ask {
  name: (question: NameQuestion) => void;
  move: (what: Movable) => void;
  /** Asks whether to delete a folder. */
  deleteFolder: (folder: string) => void;
}

function creating(workspace: string, places: Places, folder: FolderId, ask: Ask): MenuItem[] {
  const doc = places.doc(folder);
  return [
    { label: "New thread", icon: "plus", hotkey: "c", run: () => void createThread(workspace, folder) },
    {
      label: "New folder…",
      icon: "folder",
      run: () =>
        ask.name({
          title: "New folder",
          label: "Name",
          action: "Create",
          run: (name) => void createFolder(workspace, folder, name),
        }),
    },
    {
      label: doc ? "Edit AGENTS.md" : "Create AGENTS.md",
      icon: "doc",
      run: () => navigate(address.agentsDoc(workspace, folder)),
    },
    ...(doc ? [deletingDoc(workspace, folder, doc)] : []),
  ];
}

function deletingDoc(workspace: string, folder: FolderId, doc: { id: string; version: number }): MenuItem {
  return {
    label: "Delete AGENTS.md",
    icon: "trash",
    danger: true,
    run: () => void archiveDoc(workspace, folder, doc.id, doc.version),
  };
}

/** Returns the menu of the empty space, which is that of the root. */
export function rootMenu(workspace: string, places: Places, ask: Ask): MenuItem[] {
  return creating(workspace, places, null, ask);
}

export function rowMenu(workspace: string, places: Places, row: Row, ask: Ask): MenuItem[] {
  switch (row.kind) {
    case "doc": {
      const edit: MenuItem = {
        label: "Edit AGENTS.md",
        icon: "edit",
        run: () => navigate(address.agentsDoc(workspace, row.parent)),
      };
      return row.doc ? [edit, deletingDoc(workspace, row.parent, row.doc)] : [edit];
    }
    case "folder": {
      const { id, name } = row.folder;
      return [
        { label: "Open folder", icon: "folderOpen", run: () => navigate(address.folder(workspace, id)) },
        ...creating(workspace, places, id, ask),
        {
          label: "Rename…",
          icon: "edit",
          hotkey: "F2",
          separated: true,
          run: () =>
            ask.name({
              title: "Rename folder",
              label: "Name",
              name,
              action: "Rename",
              run: (next) => void renameFolder(workspace, id, next),
            }),
        },
        { label: "Move to…", icon: "move", run: () => ask.move({ kind: "folder", id, name }) },
        {
          label: "Delete folder…",
          icon: "trash",
          hotkey: "Del",
          danger: true,
          run: () => ask.deleteFolder(id),
        },
      ];
    }
    case "thread": {
      const { thread } = row;
      const name = threadName(thread);
      return [
        { label: "Open in new tab", icon: "link", run: () => void window.open(address.thread(workspace, thread.id)) },
        {
          label: "Rename…",
          icon: "edit",
          hotkey: "F2",
          run: () =>
            ask.name({
              title: "Rename thread",
              label: "Title",
              name,
              action: "Rename",
              run: (next) => void renameThread(workspace, thread.id, next),
            }),
        },
        { label: "Move to…", icon: "move", run: () => ask.move({ kind: "thread", id: thread.id, name }) },
        {
          label: "Delete thread",
          icon: "trash",
          hotkey: "Del",
          danger: true,
          separated: true,
          run: () => {
            if (location.pathname === address.thread(workspace, thread.id)) navigate(address.tree(workspace));
            void deleteThread(workspace, thread);
          },
        },
      ];
    }
  }
}
