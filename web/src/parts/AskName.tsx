// A dialog that asks for the name of a new or an existing object.

import { useState } from "react";
import { Button } from "./Button.tsx";
import { Dialog, DialogActions } from "./Dialog.tsx";
import { TextField } from "./Field.tsx";

export interface NameQuestion {
  title: string;
  label: string;
  /** The current name; absent for a new object. */
  name?: string;
  /** The label of the button. */
  action: string;
  run: (name: string) => void;
}

export function AskName({ question, onClose }: { question: NameQuestion | undefined; onClose: () => void }) {
  return (
    <Dialog title={question?.title ?? ""} open={question !== undefined} onClose={onClose}>
      {question && <NameForm question={question} onClose={onClose} />}
    </Dialog>
  );
}

function NameForm({ question, onClose }: { question: NameQuestion; onClose: () => void }) {
  const [name, setName] = useState(question.name ?? "");
  const isGood = name.trim() !== "" && name.trim() !== question.name;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isGood) return;
        onClose();
        question.run(name.trim());
      }}
    >
      <TextField
        label={question.label}
        value={name}
        maxLength={200}
        autoFocus
        onFocus={(event) => event.target.select()}
        onChange={(event) => setName(event.target.value)}
      />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" disabled={!isGood}>
          {question.action}
        </Button>
      </DialogActions>
    </form>
  );
}
