// The buttons of a confirmation dialog. Cancel has the focus, and an error is shown above the buttons.

import "./company.css";
import "./confirm-actions.css";
import { useRef, useState } from "react";
import { sentence } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { DialogActions } from "../../parts/Dialog.tsx";

export function ConfirmActions({
  label,
  disabled = false,
  confirm,
  onClose,
}: {
  /** The label of the confirming button. */
  label: string;
  disabled?: boolean;
  /** Runs the action. The dialog stays open if it fails. */
  confirm: () => Promise<void>;
  onClose: () => void;
}) {
  const [failure, setFailure] = useState<string>();
  const isBusy = useRef(false);
  const run = async () => {
    if (isBusy.current) return;
    isBusy.current = true;
    setFailure(undefined);
    try {
      await confirm();
      onClose();
    } catch (error) {
      setFailure(`${sentence(error)}.`);
    } finally {
      isBusy.current = false;
    }
  };
  return (
    <>
      {failure && (
        <p className="notice failed confirm-failure" role="alert">
          {failure}
        </p>
      )}
      <DialogActions>
        <Button autoFocus onClick={onClose}>
          Cancel
        </Button>
        <Button kind="danger" disabled={disabled} onClick={() => void run()}>
          {label}
        </Button>
      </DialogActions>
    </>
  );
}
