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
  /** A folder inside it that was tried and is not empty either. */
  tried?: string;
  /** Whether that one holds a company. */
  isTriedCompany?: boolean;
}

/** What a person may choose instead. */
export type Choice = { kind: "open"; dir: string } | { kind: "inside"; folder: string } | { kind: "force" };

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
          The folder “{found.tried}” inside it is not empty either{found.isTriedCompany ? ": it holds a company" : ""}.
        </p>
      )}
      <TextField
        label="New folder inside it"
        value={folder}
        autoFocus={!company}
        onChange={(event) => setFolder(event.target.value)}
        aria-invalid={problem !== undefined}
        hint={problem ?? `The company is made in ${inside}; nothing else changes.`}
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
        <Button {...(company ? {} : { kind: "primary" as const })} type="submit" disabled={!isGood}>
          Make it in the new folder
        </Button>
        {company && (
          <Button kind="primary" autoFocus onClick={() => onChoose({ kind: "open", dir: company })}>
            Open it
          </Button>
        )}
      </DialogActions>
    </form>
  );
}

/** What a company keeps in its own folder. */
const OWN = ["company", "org", "work", "inbox", ".local"];

/** Why a company cannot be made in this folder, in a sentence; nothing when it can. */
function folderProblem(folder: string, found: NotEmpty): string | undefined {
  if (/[\\/]/.test(folder) || folder === ".." || folder === ".") return "This is a path: write the name of one folder.";
  if (folder === found.tried) return "This folder is not empty either: choose another name.";
  if (found.isCompany && OWN.includes(folder)) return "The company that is there keeps its own files in this folder.";
  return undefined;
}

/** A name for a folder, from the name of the company. */
function folderName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return plain === "" || OWN.includes(plain) ? "new-company" : plain;
}

/** The name to try after one that is taken: `acme`, `acme-2`, `acme-3`. */
function nextName(taken: string): string {
  const [, stem = taken, number] = /^(.*)-(\d+)$/.exec(taken) ?? [];
  return `${stem}-${Number(number ?? 1) + 1}`;
}
