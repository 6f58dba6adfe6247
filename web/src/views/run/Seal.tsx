// The result of the hash check of a run: a seal, or the first event that does not match.

import { Icon } from "../../parts/Icon.tsx";
import { words } from "../company/names.ts";
import type { Replay } from "./replay.ts";

export function Seal({ replay, onShow }: { replay: Replay; onShow: (seq: number) => void }) {
  const first = replay.issues[0];
  if (first) {
    return (
      <button type="button" className="seal broken" onClick={() => onShow(first.seq)}>
        <Icon name="alert" />
        Chain broken at event {first.seq}: {words(first.code).toLowerCase()}
      </button>
    );
  }
  if (replay.parseIssues[0]) {
    return (
      <span className="seal broken">
        <Icon name="alert" />
        Line {replay.parseIssues[0].line} of the log cannot be parsed
      </span>
    );
  }
  if (!replay.isComplete) return <span className="seal">Checking the chain…</span>;
  // New events are checked shortly after they arrive.
  if (replay.uncheckedFrom !== undefined) {
    return (
      <span className="seal">
        <Icon name="seal" />
        {replay.uncheckedFrom > 1 ? `Verified up to event ${replay.uncheckedFrom - 1}` : "Checking the chain…"}
      </span>
    );
  }
  return (
    <span className="seal whole">
      <Icon name="seal" />
      Chain verified
    </span>
  );
}
