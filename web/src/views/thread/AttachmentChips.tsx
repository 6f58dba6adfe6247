// The files of the next message with their upload progress.

import { IconButton } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { bytes } from "../../parts/size.ts";
import type { Attachment, Attachments } from "./attachments.ts";

export function AttachmentChips({ list, attachments }: { list: Attachment[]; attachments: Attachments }) {
  if (list.length === 0) return null;
  return (
    <ul className="chips" aria-label="Attached files">
      {list.map((one) => (
        <li key={one.id} className={one.error ? "chip failed" : "chip"} data-phase={one.progress.phase}>
          <Icon name="file" />
          <span className="chip-name">{one.name}</span>
          <span className="chip-note">{note(one)}</span>
          {!one.artifact && !one.error && (
            <>
              <progress max={one.progress.total || 1} value={one.progress.done} aria-label={`Upload of ${one.name}`} />
              <IconButton
                label={one.isPaused ? "Resume" : "Pause"}
                icon={one.isPaused ? "play" : "pause"}
                onClick={() => attachments.setPaused(one.id, !one.isPaused)}
              />
            </>
          )}
          {one.error && !one.isRefused && (
            <IconButton label="Try again" icon="undo" onClick={() => void attachments.retry(one.id)} />
          )}
          <IconButton label={`Remove ${one.name}`} icon="close" onClick={() => attachments.remove(one.id)} />
        </li>
      ))}
    </ul>
  );
}

function note({ artifact, error, isPaused, progress, size }: Attachment): string {
  if (error) return error;
  if (artifact) return bytes(size);
  if (isPaused) return `Paused at ${bytes(progress.done)}`;
  switch (progress.phase) {
    case "hashing":
      return "Reading";
    case "waiting":
      return "Waiting for the gateway";
    case "finishing":
    case "done":
      return "Verifying";
    case "paused":
    case "sending":
    case "failed":
      return `${bytes(progress.done)} of ${bytes(progress.total)}`;
  }
}
