// The dialog that creates a project from a client request.

import { useState } from "react";
import { attempt, call, invalidate } from "../../data/calls.ts";
import { useDraft } from "../../data/drafts.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { LongTextField, SelectField, TextField } from "../../parts/Field.tsx";
import { toast } from "../../parts/toast.tsx";
import { navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyDialogProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";

export function IntakeDialog({ workspace, dir, names, onClose }: CompanyDialogProps) {
  const leads = names.agents.filter(({ role }) => role === "manager" || role === "ceo");
  const [name, setName] = useDraft(`intake-name.${dir}`);
  const [wish, setWish] = useDraft(`intake.${dir}`);
  const [lead, setLead] = useState(leads.find(({ role }) => role === "manager")?.agent_id ?? leads[0]?.agent_id ?? "");
  const [model, setModel] = useState("");
  const [isBusy, setBusy] = useState(false);
  const isGood = name.trim() !== "" && wish.trim() !== "" && lead !== "" && !isBusy;
  const start = async () => {
    setBusy(true);
    await attempt("Starting the intake", async () => {
      const { project_id, generation } = await call("pipeline.client_intake.run", {
        workspace_dir: dir,
        project_name: name.trim(),
        intake_text: wish.trim(),
        ceo_actor_id: ME.actor_id,
        executive_manager_agent_id: lead,
        ...(model.trim() ? { model: model.trim() } : {}),
      });
      invalidate(["run.list", "inbox.snapshot", "workspace.home.snapshot", "workspace.projects.list"], {
        workspace_dir: dir,
      });
      if (generation.failed > 0) {
        const text = `Workers wrote ${generation.succeeded} of ${generation.attempted} documents. The others still contain the template.`;
        toast({ tone: "failed", text });
      }
      setName("");
      setWish("");
      onClose();
      navigate(at.pipeline(workspace, project_id));
    });
    setBusy(false);
  };
  return (
    <Dialog
      title="New client intake"
      open
      onClose={onClose}
      description="Creates a project with a brief, a plan for each department and an executive plan. You then approve or deny the executive plan."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isGood) void start();
        }}
      >
        <TextField label="Project name" value={name} autoFocus onChange={(event) => setName(event.target.value)} />
        <LongTextField label="Client request" rows={6} value={wish} onChange={(event) => setWish(event.target.value)} />
        <SelectField
          label="Lead"
          value={lead}
          onChange={(event) => setLead(event.target.value)}
          options={leads.map(({ agent_id, name, role }) => ({ value: agent_id, label: `${name} (${role})` }))}
          hint={leads.length === 0 ? "The company has no manager or CEO to lead the project." : undefined}
        />
        <TextField
          label="Model (optional)"
          placeholder="No model: create outlines only"
          value={model}
          onChange={(event) => setModel(event.target.value)}
        />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={!isGood}>
            {isBusy ? (model.trim() ? "Writing plans…" : "Creating…") : "Create plans"}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
