// Merging two changes by hand: both in one text, with marks where they clash.

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
  /** What the button says that ends it. */
  action: string;
  onChange: (text: string) => void;
  onBack: () => void;
  onDone: () => void;
}) {
  const [clashes] = useState(() => clashesIn(merged));
  const left = clashesIn(merged);
  const note =
    clashes === 0
      ? "Both changes fit together; this is what they make. Look it over."
      : left > 0
        ? `${left} of ${clashes} places changed by both are left: keep what is right and remove the marks.`
        : "All places are settled.";
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
