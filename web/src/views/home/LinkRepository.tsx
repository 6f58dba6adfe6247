// Links a repository to a project; its runs get their own worktrees of it.

import { useState } from "react";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { TextField } from "../../parts/Field.tsx";
import { pathProblem } from "../company/folder.ts";

export function LinkRepository({ dir, project, onClose }: { dir: string; project: string; onClose: () => void }) {
  const [path, setPath] = useState("");
  const [name, setName] = useState("");
  // The default name is the last part of the path.
  const called = name.trim() || (path.split(/[\\/]+/).findLast(Boolean) ?? "").replace(/[^A-Za-z0-9_-]+/g, "_");
  const problem = pathProblem(path);
  const isGood = path.trim() !== "" && problem === undefined && called !== "";
  const link = () =>
    attempt("Linking the repository", async () => {
      // The path is set first: if it is invalid, no link is created.
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
          label="Repository folder"
          placeholder="/home/you/shop"
          value={path}
          autoFocus
          onChange={(event) => setPath(event.target.value)}
          aria-invalid={problem !== undefined}
          hint={
            problem ??
            "A path on the gateway’s machine. Runs that can edit files work in their own Git worktree, never in this folder."
          }
        />
        <TextField
          label="Name"
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
