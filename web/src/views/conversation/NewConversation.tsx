// The dialog that creates a channel or a direct message.

import { useState } from "react";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { SelectField, TextField } from "../../parts/Field.tsx";
import { navigate } from "../../router.tsx";
import { at, COMPANY } from "../company/address.ts";
import { Choices } from "../company/Choices.tsx";
import type { CompanyDialogProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";

const KINDS = [
  { id: "dm", label: "Direct message" },
  { id: "channel", label: "Channel" },
] as const;

export function NewConversation({ workspace, dir, names, onClose }: CompanyDialogProps) {
  const [kind, setKind] = useState<"dm" | "channel">("dm");
  const [place, setPlace] = useState(COMPANY);
  const [agent, setAgent] = useState(names.agents[0]?.agent_id ?? "");
  const [name, setName] = useState("");
  const isGood = kind === "dm" ? agent !== "" : name.trim() !== "";
  const where =
    place === COMPANY ? ({ scope: "workspace" } as const) : ({ scope: "project", project_id: place } as const);
  const create = () =>
    attempt("Creating the conversation", async () => {
      const made =
        kind === "dm"
          ? await call("conversation.create_dm", {
              workspace_dir: dir,
              ...where,
              created_by: ME.actor_id,
              peer_agent_id: agent,
            })
          : await call("conversation.create_channel", {
              workspace_dir: dir,
              ...where,
              created_by: ME.actor_id,
              name: name.trim(),
              slug:
                name
                  .trim()
                  .toLowerCase()
                  .replace(/[^a-z0-9]+/g, "-")
                  .replace(/^-|-$/g, "") || "channel",
              visibility: "org",
            });
      invalidate(["conversation.list"], { workspace_dir: dir });
      onClose();
      navigate(at.conversation(workspace, place === COMPANY ? null : place, made.id));
    });
  return (
    <Dialog title="New conversation" open onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isGood) void create();
        }}
      >
        <div className="field">
          <Choices label="Type" options={KINDS} value={kind} onChange={setKind} />
        </div>
        <SelectField
          label="Scope"
          value={place}
          onChange={(event) => setPlace(event.target.value)}
          options={[
            { value: COMPANY, label: "Company" },
            ...names.projects.map(({ project_id, name }) => ({ value: project_id, label: name })),
          ]}
        />
        {kind === "dm" ? (
          <SelectField
            label="Agent"
            value={agent}
            onChange={(event) => setAgent(event.target.value)}
            options={names.agents.map(({ agent_id, name, role }) => ({ value: agent_id, label: `${name} (${role})` }))}
          />
        ) : (
          <TextField label="Name" value={name} autoFocus onChange={(event) => setName(event.target.value)} />
        )}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!isGood}>
            Create
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
