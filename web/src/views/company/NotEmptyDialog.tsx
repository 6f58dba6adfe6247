// A company is to be made in a folder that has something in it: the ways forward.

import { RpcError } from "@accord/client";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { TextField } from "../../parts/Field.tsx";

/** A folder that cannot be used as it is. */
export interface NotEmpty {
  dir: string;
  /** Whether it holds a company already. */
  isCompany: boolean;
}

/** What a person may choose instead. */
export type Choice = { kind: "open" } | { kind: "inside"; folder: string } | { kind: "force" };

/** The folder an answer refuses because it is not empty; nothing for any other failure. */
export function notEmpty(error: unknown, dir: string): NotEmpty | undefined {
  if (!(error instanceof RpcError)) return undefined;
  const data = error.data as { cause?: unknown; is_company?: unknown } | undefined;
  return data?.cause === "folder_not_empty" ? { dir, isCompany: data.is_company === true } : undefined;
}

export function NotEmptyDialog({
  found,
  name,
  onChoose,
  onClose,
}: {
  found: NotEmpty | undefined;
  /** The name of the company to make. */
  name: string;
  onChoose: (choice: Choice) => void;
  onClose: () => void;
}) {
  return (
    <Dialog
      title="This folder is not empty"
      open={found !== undefined}
      onClose={onClose}
      description={
        found?.isCompany ? `“${found.dir}” holds a company already.` : `There are other files in “${found?.dir ?? ""}”.`
      }
    >
      {found && <Choices found={found} name={name} onChoose={onChoose} onClose={onClose} />}
    </Dialog>
  );
}

function Choices({
  found,
  name,
  onChoose,
  onClose,
}: {
  found: NotEmpty;
  name: string;
  onChoose: (choice: Choice) => void;
  onClose: () => void;
}) {
  const [folder, setFolder] = useState(folderName(name));
  const isGood = folder.trim() !== "" && !/[\\/]/.test(folder) && folder.trim() !== "..";
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isGood) onChoose({ kind: "inside", folder: folder.trim() });
      }}
    >
      <TextField
        label="New folder inside it"
        value={folder}
        autoFocus={!found.isCompany}
        onChange={(event) => setFolder(event.target.value)}
        hint={`The company is made in ${found.dir.replace(/[\\/]+$/, "")}/${folder.trim()}; nothing else changes.`}
      />
      <p className="muted">
        {found.isCompany
          ? "Replacing moves the company that is there into a folder called .local-backup-… beside the new one."
          : "Using the folder itself leaves your files alone, except that folders called company, org, work, inbox and .local are moved into a folder called .local-backup-…."}
      </p>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" onClick={() => onChoose({ kind: "force" })}>
          {found.isCompany ? "Replace the company" : "Make it here anyway"}
        </Button>
        <Button {...(found.isCompany ? {} : { kind: "primary" as const })} type="submit" disabled={!isGood}>
          Make it in the new folder
        </Button>
        {found.isCompany && (
          <Button kind="primary" autoFocus onClick={() => onChoose({ kind: "open" })}>
            Open it as it is
          </Button>
        )}
      </DialogActions>
    </form>
  );
}

/** A name for a folder, from the name of the company. */
function folderName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return plain || "company";
}
