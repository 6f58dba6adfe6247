// Opens a company folder, one there is or a new one, in a workspace of its own.

import "./open-company.css";
import { useState } from "react";
import { address } from "../../address.ts";
import type { ViewProps } from "../../app/section.ts";
import { attempt } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { TextField } from "../../parts/Field.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Link, navigate } from "../../router.tsx";
import { at } from "./address.ts";
import { makeCompany, openCompany, useCompanies } from "./folder.ts";

export default function OpenCompany({ workspace }: ViewProps) {
  const [dir, setDir] = useState("");
  const [name, setName] = useState("");
  const [isNew, setNew] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const companies = useCompanies();
  const submit = async () => {
    setBusy(true);
    await attempt(isNew ? "Making the company" : "Opening the folder", async () => {
      const id = await (isNew ? makeCompany(dir.trim(), name.trim()) : openCompany(dir.trim()));
      navigate(at.home(id));
    });
    setBusy(false);
  };
  return (
    <div className="open-company">
      <Icon name="people" />
      <h1>{isNew ? "Make a company" : "Open a company folder"}</h1>
      <p className="muted">
        Projects, runs, approvals, plans and conversations live in a folder on the gateway’s machine, which gets a
        workspace of its own. Threads and AGENTS.md work <Link to={address.tree(workspace)}>without it</Link>.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (dir.trim() && !isBusy) void submit();
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
          <Button kind="primary" type="submit" disabled={dir.trim() === "" || isBusy}>
            {isNew ? "Make the company" : "Open"}
          </Button>
          <Button kind="quiet" onClick={() => setNew(!isNew)}>
            {isNew ? "Open one there is" : "Make a new one"}
          </Button>
        </div>
      </form>
      {companies.length > 0 && (
        <section>
          <h2>Opened before</h2>
          <ul>
            {companies.map(({ id, name, dir }) => (
              <li key={id}>
                <Link className="recent-company" to={at.home(id)}>
                  <Icon name="folder" />
                  <span>{name}</span>
                  <span className="muted mono">{dir}</span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
