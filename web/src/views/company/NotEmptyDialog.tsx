// The dialog for creating a company in a folder that is not empty.

import { RpcError } from "@accord/client";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { TextField } from "../../parts/Field.tsx";

/** A folder that is not empty. */
export interface NotEmpty {
  dir: string;
  /** Whether it already contains a company. */
  isCompany: boolean;
  /** A subfolder that was tried and is not empty either. */
  tried?: string;
  /** Whether the subfolder contains a company. */
  isTriedCompany?: boolean;
}

/** The options of the dialog. */
export type Choice = { kind: "open"; dir: string } | { kind: "inside"; folder: string } | { kind: "force" };

/** Returns the folder if the error means that it is not empty; undefined for other errors. */
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
  /** The name of the new company. */
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
        found?.isCompany ? `“${found.dir}” already contains a company.` : `“${found?.dir ?? ""}” contains other files.`
      }
    >
      {found && (
        <Choices key={`${found.dir} ${found.tried}`} found={found} name={name} onChoose={onChoose} onClose={onClose} />
      )}
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
  const [folder, setFolder] = useState(found.tried ? nextName(found.tried) : folderName(name));
  const at = (name: string) => `${found.dir.replace(/[\\/]+$/, "")}/${name}`;
  /** The company that can be opened instead. */
  const company = found.isTriedCompany && found.tried ? at(found.tried) : found.isCompany ? found.dir : undefined;
  const inside = at(folder.trim());
  const problem = folderProblem(folder.trim(), found);
  const isGood = folder.trim() !== "" && problem === undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isGood) onChoose({ kind: "inside", folder: folder.trim() });
      }}
    >
      {found.tried && (
        <p className="notice failed" role="alert">
          The subfolder “{found.tried}” is not empty either{found.isTriedCompany ? ". It contains a company" : ""}.
        </p>
      )}
      <TextField
        label="New subfolder"
        value={folder}
        autoFocus={!company}
        onChange={(event) => setFolder(event.target.value)}
        aria-invalid={problem !== undefined}
        hint={problem ?? `The company is created in ${inside}. Other files are not changed.`}
      />
      <p className="muted">
        {found.isCompany
          ? "Replacing moves the existing company into a folder named .local-backup-…."
          : "Creating the company in this folder moves existing folders named company, org, work, inbox and .local into a folder named .local-backup-…. Other files are not changed."}
      </p>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" onClick={() => onChoose({ kind: "force" })}>
          {found.isCompany ? "Replace company" : "Create it here"}
        </Button>
        <Button {...(company ? {} : { kind: "primary" as const })} type="submit" disabled={!isGood}>
          Create in subfolder
        </Button>
        {company && (
          <Button kind="primary" autoFocus onClick={() => onChoose({ kind: "open", dir: company })}>
            Open company
          </Button>
        )}
      </DialogActions>
    </form>
  );
}

/** The folders that a company uses. */
const OWN = ["company", "org", "work", "inbox", ".local"];

/** Returns why a company cannot be created in a subfolder; undefined if it can. */
function folderProblem(folder: string, found: NotEmpty): string | undefined {
  if (/[\\/]/.test(folder) || folder === ".." || folder === ".") return "Enter a folder name, not a path.";
  if (folder === found.tried) return "This folder is not empty either. Choose another name.";
  if (found.isCompany && OWN.includes(folder)) return "The existing company uses this folder.";
  return undefined;
}

/** Returns a folder name derived from the name of the company. */
function folderName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return plain === "" || OWN.includes(plain) ? "new-company" : plain;
}

/** Returns the next name after one that is in use: `acme`, `acme-2`, `acme-3`. */
function nextName(taken: string): string {
  const [, stem = taken, number] = /^(.*)-(\d+)$/.exec(taken) ?? [];
  return `${stem}-${Number(number ?? 1) + 1}`;
}
