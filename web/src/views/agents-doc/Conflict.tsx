// A save conflict: mine, base and theirs side by side, with the actions that resolve it.

import { useMemo, useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { Diff } from "../../parts/Diff.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { merge, mergedText } from "../../parts/lines.ts";
import { Time } from "../../parts/Time.tsx";
import { Merging } from "./Merging.tsx";
import type { DocSession, DocState } from "./session.ts";

export function Conflict({ session, state }: { session: DocSession; state: DocState & { kind: "conflict" } }) {
  const [merged, setMerged] = useState<string>();
  const { remote, base } = state;
  const theirs = remote?.content ?? "";
  const parts = useMemo(() => merge(base, session.text, theirs), [base, session.text, theirs]);
  return (
    <div className="conflict">
      <div className="conflict-head" role="alert">
        <Icon name="alert" />
        <p>
          {remote ? (
            <>
              Version {remote.version} was saved elsewhere <Time at={remote.updated_at} /> while you were editing. Both
              texts are kept. Choose one, or merge them.
            </>
          ) : (
            "This file was deleted elsewhere while you were editing. Your text is kept."
          )}
        </p>
        <Button onClick={() => session.overwrite(session.text)}>{remote ? "Keep mine" : "Create it again"}</Button>
        <Button onClick={() => session.takeTheirs()}>{remote ? "Keep theirs" : "Discard mine"}</Button>
        {remote && merged === undefined && (
          <Button kind="primary" onClick={() => setMerged(mergedText(parts))}>
            Merge
          </Button>
        )}
      </div>
      {merged === undefined ? (
        <div className="conflict-panes">
          <Pane title="Mine" note="your text">
            <Diff before={base} after={session.text} label="base to mine" />
          </Pane>
          <Pane title="Base" note="common starting point">
            <Plain text={base} />
          </Pane>
          <Pane title="Theirs" note={remote ? `version ${remote.version}` : "deleted"}>
            <Diff before={base} after={theirs} label="base to theirs" />
          </Pane>
        </div>
      ) : (
        <Merging
          merged={merged}
          action="Save merged text"
          onChange={setMerged}
          onBack={() => setMerged(undefined)}
          onDone={() => session.overwrite(merged)}
        />
      )}
    </div>
  );
}

function Pane({ title, note, children }: { title: string; note: string; children: React.ReactNode }) {
  return (
    <section className="conflict-pane" aria-label={title}>
      <h2>
        {title} <span className="muted">{note}</span>
      </h2>
      {children}
    </section>
  );
}

function Plain({ text }: { text: string }) {
  return text ? (
    <pre className="plain-text" tabIndex={0}>
      {text}
    </pre>
  ) : (
    <p className="diff-none">Empty.</p>
  );
}
