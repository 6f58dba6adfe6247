// Approve or deny what is open, by button or key, with a note that is kept until the decision is made.

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
  /** The name under which the note is kept. */
  draft: string;
  canApprove: boolean;
  /** Answers whether it is decided. */
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
        aria-label="Note for the record"
        placeholder="A note for the record, if you like"
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
