// The buttons and keys to approve or deny the open item, with a note that is kept as a draft.

import type { ReviewDecision } from "@accord/client";
import { useRef, useState } from "react";
import { useDraft } from "../../data/drafts.ts";
import { useKeys } from "../../keys/keys.ts";
import { Button } from "../../parts/Button.tsx";
import { Kbd } from "../../parts/Kbd.tsx";

export function DecisionBar({
  draft,
  canApprove,
  onDecide,
}: {
  /** The name of the draft of the note. */
  draft: string;
  canApprove: boolean;
  /** Saves the decision and returns whether it succeeded. */
  onDecide: (decision: ReviewDecision, note: string) => Promise<boolean>;
}) {
  const [note, setNote] = useDraft(draft);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const decide = async (decision: ReviewDecision) => {
    if (isBusy || (decision === "approved" && !canApprove)) return;
    setBusy(true);
    if (await onDecide(decision, note)) setNote("");
    setBusy(false);
  };
  useKeys("This decision", [
    { key: "a", label: "Approve", run: () => void decide("approved") },
    { key: "d", label: "Deny", run: () => void decide("denied") },
    { key: "e", label: "Write a note", run: () => field.current?.focus() },
  ]);
  return (
    <div className="decision-bar">
      <textarea
        ref={field}
        className="input"
        aria-label="Note"
        placeholder="Add a note (optional)"
        rows={1}
        value={note}
        onChange={(event) => setNote(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
      <Button kind="danger" disabled={isBusy} onClick={() => void decide("denied")}>
        Deny <Kbd keys="d" />
      </Button>
      <Button kind="primary" disabled={isBusy || !canApprove} onClick={() => void decide("approved")}>
        Approve <Kbd keys="a" />
      </Button>
    </div>
  );
}
