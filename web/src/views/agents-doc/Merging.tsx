// The editor of a manual merge, with conflict markers.

import "./agents-doc.css";
import { useState } from "react";
import { Editor } from "../../editor/Editor.tsx";
import { Button } from "../../parts/Button.tsx";

const clashesIn = (text: string) => text.split("\n").filter((line) => line.startsWith("<<<<<<< ")).length;

export function Merging({
  merged,
  action,
  onChange,
  onBack,
  onDone,
}: {
  merged: string;
  /** The label of the button that saves the merged text. */
  action: string;
  onChange: (text: string) => void;
  onBack: () => void;
  onDone: () => void;
}) {
  const [clashes] = useState(() => clashesIn(merged));
  const left = clashesIn(merged);
  const note =
    clashes === 0
      ? "Both changes were merged without conflicts. Review the result."
      : left > 0
        ? `Conflicts left: ${left} of ${clashes}. Edit the text and remove the conflict markers.`
        : "All conflicts resolved.";
  return (
    <>
      <div className="merge-bar">
        <span>{note}</span>
        <Button onClick={onBack}>Back</Button>
        <Button kind="primary" disabled={left > 0} onClick={onDone}>
          {action}
        </Button>
      </div>
      <Editor label="Merged text" value={merged} autoFocus onChange={onChange} />
    </>
  );
}
