// Drag and drop in the tree: moves threads and folders into folders or to the root.

import { useRef, useState, type DragEvent } from "react";
import { mayMove, move, type Movable } from "./MoveDialog.tsx";
import { threadName, type FolderId, type Places, type Row } from "./model.ts";
import { setClosed } from "./closed.ts";

/** Milliseconds of hovering after which a collapsed folder expands. */
const OPEN_AFTER = 600;

export interface Drag {
  /** The drop target: a folder, or `null` for the root. Undefined while nothing is dragged. */
  target: FolderId | undefined;
  source: (row: Row) => { draggable?: boolean; onDragStart?: (event: DragEvent) => void; onDragEnd?: () => void };
  over: (folder: FolderId) => {
    onDragOver: (event: DragEvent) => void;
    onDragLeave: (event: DragEvent) => void;
    onDrop: (event: DragEvent) => void;
  };
}

export function useDrag(workspace: string, places: Places): Drag {
  const [target, setTarget] = useState<FolderId>();
  const dragged = useRef<Movable>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const aim = (folder: FolderId | undefined) => {
    if (folder === target) return;
    setTarget(folder);
    clearTimeout(timer.current);
    if (folder) timer.current = setTimeout(() => setClosed(workspace, folder, false), OPEN_AFTER);
  };
  const end = () => {
    dragged.current = undefined;
    clearTimeout(timer.current);
    setTarget(undefined);
  };
  return {
    target,
    source: (row) =>
      row.kind === "doc"
        ? {}
        : {
            draggable: true,
            onDragStart: (event) => {
              dragged.current =
                row.kind === "folder"
                  ? { kind: "folder", id: row.folder.id, name: row.folder.name }
                  : { kind: "thread", id: row.thread.id, name: threadName(row.thread) };
              event.dataTransfer.effectAllowed = "move";
              event.dataTransfer.setData("text/plain", dragged.current.name);
            },
            onDragEnd: end,
          },
    over: (folder) => ({
      onDragOver: (event) => {
        if (!dragged.current) return;
        event.stopPropagation();
        if (!mayMove(places, dragged.current, folder)) return aim(undefined);
        event.preventDefault();
        event.dataTransfer.dropEffect = "move";
        aim(folder);
      },
      onDragLeave: (event) => {
        if (folder === null && !event.currentTarget.contains(event.relatedTarget as Node | null)) aim(undefined);
      },
      onDrop: (event) => {
        const what = dragged.current;
        if (!what) return;
        event.preventDefault();
        event.stopPropagation();
        end();
        if (mayMove(places, what, folder)) void move(workspace, what, folder);
      },
    }),
  };
}
