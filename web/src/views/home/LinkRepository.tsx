// Ties a repository to a project, so that its workers get copies of it to work in.

import { useState } from "react";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { TextField } from "../../parts/Field.tsx";
import { pathProblem } from "../company/folder.ts";

export function LinkRepository({ dir, project, onClose }: { dir: string; project: string; onClose: () => void }) {
  const [path, setPath] = useState("");
  const [name, setName] = useState("");
  // The last part of the path is what people call it.
  const called = name.trim() || (path.split(/[\\/]+/).findLast(Boolean) ?? "").replace(/[^A-Za-z0-9_-]+/g, "_");
  const problem = pathProblem(path);
  const isGood = path.trim() !== "" && problem === undefined && called !== "";
  const link = () =>
    attempt("Linking the repository", async () => {
      // Where it is comes first: a path without a repository ties nothing.
      await call("workspace.repo_root.set", { workspace_dir: dir, repo_id: called, repo_path: path.trim() });
      await call("workspace.project.link_repo", { workspace_dir: dir, project_id: project, repo_id: called });
      invalidate(["workspace.projects.list"], { workspace_dir: dir });
      onClose();
    });
  return (
    <Dialog title="Link a repository" open onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isGood) void link();
        }}
      >
        <TextField
          label="Folder of the repository"
          placeholder="/home/you/shop"
          value={path}
          autoFocus
          onChange={(event) => setPath(event.target.value)}
          aria-invalid={problem !== undefined}
          hint={
            problem ??
            "On the gateway’s machine. Workers that may change files never work in it: each of their runs gets a worktree of its own."
          }
        />
        <TextField
          label="What the company calls it"
          placeholder={called || "shop"}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!isGood}>
            Link
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
