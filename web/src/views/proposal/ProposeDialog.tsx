// The dialog that sends a proposal with its reason.

import { attempt, invalidate } from "../../data/calls.ts";
import { useDraft } from "../../data/drafts.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { Diff } from "../../parts/Diff.tsx";
import { LongTextField } from "../../parts/Field.tsx";
import { toast } from "../../parts/toast.tsx";
import { navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { DocSession } from "../agents-doc/session.ts";

export function ProposeDialog({
  workspace,
  session,
  onClose,
}: {
  workspace: string;
  session: DocSession;
  onClose: () => void;
}) {
  const [rationale, setRationale] = useDraft(`rationale.${workspace}.${location.pathname}`);
  const send = () =>
    attempt("Proposing", async () => {
      const proposal = await session.propose(rationale.trim());
      invalidate(["thread/agents_doc/proposal/list"], { workspace_id: workspace });
      setRationale("");
      onClose();
      toast({
        text: "Proposal sent to the inbox",
        action: { label: "Show", run: () => navigate(at.proposal(workspace, proposal.id)) },
      });
    });
  return (
    <Dialog
      title="Propose change"
      open
      onClose={onClose}
      wide
      description="The change is saved after a person approves it in the inbox."
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (rationale.trim()) void send();
        }}
      >
        <Diff before={session.proposalBase} after={session.text} label="proposed change" />
        <LongTextField
          label="Reason"
          rows={3}
          autoFocus
          maxLength={4096}
          value={rationale}
          onChange={(event) => setRationale(event.target.value)}
        />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={rationale.trim() === ""}>
            Propose
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
