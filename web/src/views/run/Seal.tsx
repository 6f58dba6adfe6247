// Whether the events of a run are what was written: a small seal, or the first event that is not.

import { Icon } from "../../parts/Icon.tsx";
import { words } from "../company/names.ts";
import type { Replay } from "./replay.ts";

export function Seal({ replay, onShow }: { replay: Replay & { check: () => void }; onShow: (seq: number) => void }) {
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
        Line {replay.parseIssues[0].line} of the log is not readable
      </span>
    );
  }
  if (!replay.isComplete) return <span className="seal">Checking the chain…</span>;
  if (replay.uncheckedFrom !== undefined) {
    return (
      <button type="button" className="seal" onClick={replay.check}>
        <Icon name="seal" />
        {`Verified up to event ${replay.uncheckedFrom - 1}; check the rest`}
      </button>
    );
  }
  return (
    <span className="seal whole">
      <Icon name="seal" />
      Chain verified
    </span>
  );
}
