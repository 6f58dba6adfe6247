// Asks before a folder is deleted, and says what happens to everything in it.

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
  /** The folder to delete; undefined while no question is asked. */
  folder: string | undefined;
  onClose: () => void;
}) {
  const found = folder === undefined ? undefined : places.folder(folder);
  return (
    <Dialog
      title={`Delete the folder “${found?.name ?? ""}”?`}
      open={found !== undefined}
      onClose={onClose}
      description="It goes to the trash, where it can be restored for 30 days."
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

/** What deleting a folder does, in sentences. */
function consequences(places: Places, folder: string): string[] {
  const doc = places.doc(folder);
  const [threads, folders] = [places.threadsIn(folder).length, places.foldersIn(folder).length];
  const inside = [amount(threads, "thread"), amount(folders, "folder")].filter((words) => words !== undefined);
  const stay = threads + folders === 1 ? "stays and moves" : "stay and move";
  const parent = places.folder(places.parentOf(folder))?.name;
  return [
    doc
      ? `Its AGENTS.md (version ${doc.version}, ${amount(doc.char_count, "character") ?? "empty"}) goes with it: threads that follow it get the one above instead.`
      : "It has no AGENTS.md of its own.",
    inside.length > 0
      ? `${inside.join(" and ")} in it ${stay} one level up, ${parent ? `into “${parent}”` : "to the root of the tree"}.`
      : "There is nothing in it.",
  ];
}

function amount(number: number, noun: string): string | undefined {
  if (number === 0) return undefined;
  return number === 1 ? `1 ${noun}` : `${count(number)} ${noun}s`;
}
