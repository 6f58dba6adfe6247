// The state of the document in the page head.

import { Status } from "../../parts/Status.tsx";
import type { DocState } from "./session.ts";

export function DocStateWord({ state, version }: { state: DocState; version: number | undefined }) {
  const number = version === undefined ? "" : ` · v${version}`;
  return (
    <span role="status" data-doc-state={state.kind}>
      {word(state, number)}
    </span>
  );
}

function word(state: DocState, number: string) {
  switch (state.kind) {
    case "loading":
    case "unreadable":
      return null;
    case "clean":
      return <Status meaning="idle">{number ? `Saved${number}` : "Not created yet"}</Status>;
    case "dirty":
      return (
        <Status meaning="waiting">
          {state.changedElsewhere ? "Edited by you · changed elsewhere" : `Edited by you${number}`}
        </Status>
      );
    case "saving":
      return <Status meaning="running">Saving…</Status>;
    case "saved":
      return <Status meaning="done">Saved{number}</Status>;
    case "error":
      return <Status meaning="failed">{state.message}</Status>;
    case "proposing":
      return <Status meaning="waiting">Proposal, not sent yet</Status>;
    case "conflict":
      return <Status meaning="waiting">Conflict</Status>;
  }
}
