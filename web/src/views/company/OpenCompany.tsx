// Chooses the company folder of a workspace: one there is, or a new one.

import "./company.css";
import { useState } from "react";
import { address } from "../../address.ts";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { TextField } from "../../parts/Field.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { toast } from "../../parts/toast.tsx";
import { Link, navigate } from "../../router.tsx";
import { chooseCompany, folderName, linkedDir, useRecentCompanies } from "./folder.ts";

export default function OpenCompany({ workspace }: { workspace: string }) {
  const [dir, setDir] = useState("");
  const [name, setName] = useState("");
  const [isNew, setNew] = useState(false);
  const recent = useRecentCompanies();

  const show = async (path: string) => {
    invalidate(["workspace/list"]);
    const { workspaces } = await call("workspace/list", {});
    const linked = workspaces.find((one) => linkedDir(one) === path);
    chooseCompany(linked?.id ?? workspace, path);
    if (linked && linked.id !== workspace) navigate(`${address.workspace(linked.id)}/home`);
  };
  const open = (path: string) =>
    attempt("Opening the folder", async () => {
      const { valid, issues } = await call("workspace.open", { workspace_dir: path });
      const isCompany = valid || !issues.some(({ path }) => path === "company/company.yaml");
      if (!isCompany) throw new Error(`\`${path}\` is not a company folder: it has no company/company.yaml`);
      if (!valid) toast({ tone: "failed", text: `The folder has ${issues.length} problems; the first: ${issues[0]?.message}` });
      await show(path);
    });
  const create = () =>
    attempt("Making the company", async () => {
      await call("workspace.bootstrap.enterprise", {
        workspace_dir: dir.trim(),
        ...(name.trim() ? { company_name: name.trim() } : {}),
      });
      await show(dir.trim());
    });

  return (
    <div className="open-company">
      <Icon name="people" />
      <h1>{isNew ? "Make a company" : "Open a company folder"}</h1>
      <p className="muted">
        Projects, runs, approvals, plans and conversations live in a folder on the gateway’s machine. This workspace shows
        one of them. Threads and AGENTS.md work <Link to={address.tree(workspace)}>without it</Link>.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (dir.trim()) void (isNew ? create() : open(dir.trim()));
        }}
      >
        <TextField
          label="Folder"
          placeholder="/home/you/northwind"
          value={dir}
          autoFocus
          onChange={(event) => setDir(event.target.value)}
          hint={isNew ? "A new or empty folder; departments, agents and a first project are made in it." : undefined}
        />
        {isNew && (
          <TextField label="Name of the company" value={name} onChange={(event) => setName(event.target.value)} />
        )}
        <div className="open-company-actions">
          <Button kind="primary" type="submit" disabled={dir.trim() === ""}>
            {isNew ? "Make the company" : "Open"}
          </Button>
          <Button kind="quiet" onClick={() => setNew(!isNew)}>
            {isNew ? "Open one there is" : "Make a new one"}
          </Button>
        </div>
      </form>
      {recent.length > 0 && (
        <section>
          <h2>Opened before</h2>
          <ul>
            {recent.map((path) => (
              <li key={path}>
                <button type="button" className="recent-company" onClick={() => void open(path)}>
                  <Icon name="folder" />
                  <span>{folderName(path)}</span>
                  <span className="muted mono">{path}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
