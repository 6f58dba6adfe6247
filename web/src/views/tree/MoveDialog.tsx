// Selects the target folder of a move.

import { useState } from "react";
import { Dialog } from "../../parts/Dialog.tsx";
import { TextField } from "../../parts/Field.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { List } from "../../parts/List.tsx";
import type { FolderId, Places } from "./model.ts";
import { moveFolder, moveThread } from "./tree.ts";

export interface Movable {
  kind: "folder" | "thread";
  id: string;
  name: string;
}

export function MoveDialog({
  workspace,
  places,
  moving,
  onClose,
}: {
  workspace: string;
  places: Places;
  moving: Movable | undefined;
  onClose: () => void;
}) {
  return (
    <Dialog title={`Move “${moving?.name ?? ""}”`} open={moving !== undefined} onClose={onClose}>
      {moving && (
        <Targets
          places={places}
          moving={moving}
          onChoose={(folder) => {
            onClose();
            void move(workspace, moving, folder);
          }}
        />
      )}
    </Dialog>
  );
}

export function move(workspace: string, what: Movable, folder: FolderId): Promise<void> {
  return what.kind === "thread" ? moveThread(workspace, what.id, folder) : moveFolder(workspace, what.id, folder);
}

/** Returns whether an object can be moved into a folder, and is not already in it. */
export function mayMove(places: Places, what: Movable, folder: FolderId): boolean {
  if (what.kind === "thread") return places.folderOf(what.id) !== folder;
  return places.parentOf(what.id) !== folder && !places.isWithin(folder, what.id);
}

function Targets({
  places,
  moving,
  onChoose,
}: {
  places: Places;
  moving: Movable;
  onChoose: (folder: FolderId) => void;
}) {
  const [filter, setFilter] = useState("");
  const targets = [
    { id: null as FolderId, path: "Root of the tree" },
    ...places.allFolders().map(({ id }) => ({
      id,
      path: places
        .pathOf(id)
        .map(({ name }) => name)
        .join(" / "),
    })),
  ].filter(({ id, path }) => mayMove(places, moving, id) && path.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      <TextField
        label="Folder"
        placeholder="Filter"
        value={filter}
        autoFocus
        onChange={(event) => setFilter(event.target.value)}
        onKeyDown={(event) => {
          const first = targets[0];
          if (event.key === "Enter" && first) onChoose(first.id);
        }}
      />
      <div className="move-targets">
        {targets.length === 0 ? (
          <p className="muted">No matching folders.</p>
        ) : (
          <List
            label="Folders"
            items={targets}
            keyOf={({ id }) => id ?? "root"}
            rowHeight={32}
            onOpen={({ id }) => onChoose(id)}
            row={({ id, path }) => (
              <span className="move-target">
                <Icon name={id ? "folder" : "tree"} />
                {path}
              </span>
            )}
          />
        )}
      </div>
    </>
  );
}
