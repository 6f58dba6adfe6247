// Opens an existing company or creates a new one, each in its own workspace.

import "./company.css";
import "./open-company.css";
import { useState } from "react";
import { address } from "../../address.ts";
import type { ViewProps } from "../../app/section.ts";
import { attempt, sentence } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { TextField } from "../../parts/Field.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Link, navigate } from "../../router.tsx";
import { at } from "./address.ts";
import { ForgetButton } from "./CompanyGone.tsx";
import { makeCompany, NoCompany, openCompany, pathProblem, useCompanies } from "./folder.ts";
import { notEmpty, NotEmptyDialog, type Choice, type NotEmpty } from "./NotEmptyDialog.tsx";

export default function OpenCompany({ workspace }: ViewProps) {
  const [dir, setDir] = useState("");
  const [name, setName] = useState("");
  const [isNew, setNew] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const companies = useCompanies();
  const [occupied, setOccupied] = useState<NotEmpty>();
  const problem = pathProblem(dir);
  /** The reason why the folder could not be opened. */
  const [missing, setMissing] = useState<NoCompany>();
  const run = async (what: string, action: () => Promise<string>) => {
    setBusy(true);
    setMissing(undefined);
    await attempt(what, async () => {
      try {
        navigate(at.home(await action()));
      } catch (error) {
        if (!(error instanceof NoCompany)) throw error;
        setMissing(error);
      }
    });
    setBusy(false);
  };
  const make = async () => {
    setBusy(true);
    await attempt("Creating the company", async () => {
      try {
        navigate(at.home(await makeCompany(dir.trim(), name.trim())));
      } catch (error) {
        const found = notEmpty(error, dir.trim());
        if (!found) throw error;
        setOccupied(found);
      }
    });
    setBusy(false);
  };
  const submit = () => (isNew ? make() : run("Opening the folder", () => openCompany(dir.trim())));
  const makeInside = async (found: NotEmpty, folder: string) => {
    setBusy(true);
    await attempt("Creating the company", async () => {
      const inside = `${found.dir.replace(/[\\/]+$/, "")}/${folder}`;
      try {
        navigate(at.home(await makeCompany(inside, name.trim())));
      } catch (error) {
        const again = notEmpty(error, inside);
        if (!again) throw error;
        setOccupied({ ...found, tried: folder, isTriedCompany: again.isCompany });
      }
    });
    setBusy(false);
  };
  const choose = (found: NotEmpty, choice: Choice) => {
    setOccupied(undefined);
    switch (choice.kind) {
      case "open":
        return run("Opening the folder", () => openCompany(choice.dir));
      case "inside":
        return makeInside(found, choice.folder);
      case "force":
        return run("Creating the company", () => makeCompany(found.dir, name.trim(), { force: true }));
    }
  };
  return (
    <div className="open-company">
      <Icon name="people" />
      <h1>{isNew ? "Create a company" : "Open an existing company"}</h1>
      <p className="muted">
        A company is a folder on the gateway’s machine with projects, runs, approvals, plans and conversations. Threads
        and AGENTS.md files work <Link to={address.tree(workspace)}>without a company</Link>.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (dir.trim() && !problem && !isBusy) void submit();
        }}
      >
        <TextField
          label="Folder"
          placeholder="/home/you/northwind"
          value={dir}
          autoFocus
          onChange={(event) => setDir(event.target.value)}
          aria-invalid={problem !== undefined}
          hint={
            problem ??
            (isNew
              ? "Choose a new or empty folder. Accord creates departments, agents and a first project in it."
              : undefined)
          }
        />
        {isNew && <TextField label="Company name" value={name} onChange={(event) => setName(event.target.value)} />}
        <div className="open-company-actions">
          <Button kind="primary" type="submit" disabled={dir.trim() === "" || problem !== undefined || isBusy}>
            {isNew ? "Create company" : "Open company"}
          </Button>
          <Button kind="quiet" onClick={() => setNew(!isNew)}>
            {isNew ? "Open an existing company" : "Create a company"}
          </Button>
        </div>
      </form>
      {missing && (
        <div className="notice failed" role="alert">
          <Icon name="alert" />
          <span>{sentence(missing)}.</span>
          {missing.known && <ForgetButton workspace={missing.known.id} onDone={() => setMissing(undefined)} />}
        </div>
      )}
      <NotEmptyDialog
        found={occupied}
        name={name.trim()}
        onChoose={(choice) => occupied && void choose(occupied, choice)}
        onClose={() => setOccupied(undefined)}
      />
      {companies.length > 0 && (
        <section>
          <h2>Recent companies</h2>
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
