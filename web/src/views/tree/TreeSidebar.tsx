// The sidebar of the thread tree: heading, tree, and the dialogs of its menus.

import "./tree.css";
import { useState } from "react";
import { address } from "../../address.ts";
import type { ViewProps } from "../../app/section.ts";
import { useKeys } from "../../keys/keys.ts";
import { usePalette } from "../../palette/registry.ts";
import { AskName, type NameQuestion } from "../../parts/AskName.tsx";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Await, Empty } from "../../parts/states.tsx";
import { navigate } from "../../router.tsx";
import { DeleteFolderDialog } from "./DeleteFolderDialog.tsx";
import { MoveDialog, type Movable } from "./MoveDialog.tsx";
import { rootMenu, rowMenu, type Ask } from "./menu.ts";
import { type FolderId, type Row } from "./model.ts";
import { createThread, useTree } from "./tree.ts";
import { TreeRows } from "./TreeRows.tsx";

export function TreeSidebar({ workspace, params }: ViewProps) {
  const { query, places } = useTree(workspace);
  const [question, setQuestion] = useState<NameQuestion>();
  const [moving, setMoving] = useState<Movable>();
  const [deleting, setDeleting] = useState<string>();
  const ask: Ask = { name: setQuestion, move: setMoving, deleteFolder: setDeleting };
  const open = openObject(params);
  /** The folder for new objects: that of the open object. */
  const here: FolderId = params["folder"] ?? (params["thread"] ? (places?.folderOf(params["thread"]) ?? null) : null);
  useKeys("Threads", [{ key: "c", label: "New thread", run: () => void createThread(workspace, here) }]);
  const root = places ? rootMenu(workspace, places, ask) : [];
  usePalette({
    group: "Actions",
    find: () => [
      ...root.map(({ label, icon, run }) => ({ id: label, title: label, icon: icon ?? "plus", run })),
      { id: "Trash", title: "Open trash", icon: "trash" as const, run: () => navigate(address.trash(workspace)) },
    ],
  });
  return (
    <>
      <div className="sidebar-head">
        <h2>Threads</h2>
        <IconButton label="Trash" icon="trash" onClick={() => navigate(address.trash(workspace))} />
        <IconButton
          label="New folder"
          icon="folder"
          onClick={() => root.find(({ icon }) => icon === "folder")?.run()}
        />
        <IconButton label="New thread" icon="plus" hotkey="c" onClick={() => void createThread(workspace, here)} />
      </div>
      <Await query={query} lines={10}>
        {() =>
          places && (
            <TreeRows
              workspace={workspace}
              places={places}
              openKey={open.key}
              openDoc={open.doc}
              menuOf={(row: Row | undefined) => (row ? rowMenu(workspace, places, row, ask) : root)}
              empty={
                <Empty
                  icon="thread"
                  title="No threads yet"
                  action={
                    <Button kind="primary" icon="plus" onClick={() => void createThread(workspace, null)}>
                      New thread
                    </Button>
                  }
                >
                  A thread is your own chat with a model. It follows the AGENTS.md of its folder.
                </Empty>
              }
            />
          )
        }
      </Await>
      <AskName question={question} onClose={() => setQuestion(undefined)} />
      {places && (
        <DeleteFolderDialog
          workspace={workspace}
          places={places}
          folder={deleting}
          onClose={() => setDeleting(undefined)}
        />
      )}
      {places && (
        <MoveDialog workspace={workspace} places={places} moving={moving} onClose={() => setMoving(undefined)} />
      )}
    </>
  );
}

/** Returns the key of the row that the address names, and the folder whose AGENTS.md is open. */
function openObject(params: Record<string, string>): { key: string | undefined; doc: FolderId | undefined } {
  const { thread, folder } = params;
  if (thread) return { key: `thread:${thread}`, doc: undefined };
  if (location.pathname.endsWith("/agents")) return { key: `doc:${folder ?? ""}`, doc: folder ?? null };
  return { key: folder ? `folder:${folder}` : undefined, doc: undefined };
}
