// Asks before a folder is deleted and lists the consequences.

import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { count } from "../../parts/size.ts";
import type { Places } from "./model.ts";
import { deleteFolder } from "./tree.ts";

export function DeleteFolderDialog({
  workspace,
  places,
  folder,
  onClose,
}: {
  workspace: string;
  places: Places;
  /** The folder to delete; undefined while the dialog is closed. */
  folder: string | undefined;
  onClose: () => void;
}) {
  const found = folder === undefined ? undefined : places.folder(folder);
  return (
    <Dialog
      title={`Delete folder “${found?.name ?? ""}”?`}
      open={found !== undefined}
      onClose={onClose}
      description="The folder moves to the trash. You can restore it for 30 days."
    >
      {found && (
        <>
          <ul className="consequences">
            {consequences(places, found.id).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <DialogActions>
            <Button onClick={onClose}>Cancel</Button>
            <Button
              kind="danger"
              icon="trash"
              autoFocus
              onClick={() => {
                onClose();
                void deleteFolder(workspace, found.id, found.name);
              }}
            >
              Delete folder
            </Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  );
}

/** Returns the consequences of deleting a folder, one sentence each. */
function consequences(places: Places, folder: string): string[] {
  const doc = places.doc(folder);
  const [threads, folders] = [places.threadsIn(folder).length, places.foldersIn(folder).length];
  const inside = [amount(threads, "thread"), amount(folders, "folder")].filter((words) => words !== undefined);
  const move = threads + folders === 1 ? "moves" : "move";
  const parent = places.folder(places.parentOf(folder))?.name;
  return [
    doc
      ? `Its AGENTS.md (version ${doc.version}, ${amount(doc.char_count, "character") ?? "empty"}) moves to the trash with it. Threads that use it inherit the one above.`
      : "It has no AGENTS.md.",
    inside.length > 0
      ? `${inside.join(" and ")} ${move} up to ${parent ? `“${parent}”` : "the root of the tree"}.`
      : "The folder is empty.",
  ];
}

function amount(number: number, noun: string): string | undefined {
  if (number === 0) return undefined;
  return number === 1 ? `1 ${noun}` : `${count(number)} ${noun}s`;
}
