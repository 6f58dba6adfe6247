// Asks whether to trust a company folder and shows what trust allows.

import "./trust.css";
import { closeTrustQuestion, useTrustQuestion } from "../../data/trust.ts";
import { Dialog } from "../../parts/Dialog.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { toast } from "../../parts/toast.tsx";
import { ConfirmActions } from "./ConfirmActions.tsx";
import { trustFolder, useTrustNow } from "./trust.ts";

export function TrustDialog() {
  const question = useTrustQuestion();
  return (
    <Dialog
      title="Trust this folder?"
      open={question !== undefined}
      onClose={closeTrustQuestion}
      description={
        question?.refused && `${question.refused} failed because this folder is not trusted on this computer.`
      }
    >
      {question && <Question key={question.dir} dir={question.dir} />}
    </Dialog>
  );
}

function Question({ dir }: { dir: string }) {
  const { data, error, isFetchedAfterMount, refetch } = useTrustNow(dir);
  // A cached result may not match the current contents of the folder.
  const state = isFetchedAfterMount && !error ? data : undefined;
  const trust = async () => {
    if (!state) return;
    await trustFolder(dir, state);
    toast({ text: "This folder is trusted on this computer" });
  };
  return (
    <>
      <p className="trust-path mono">{visible(dir)}</p>
      {state ? (
        <>
          <Programs programs={state.programs} />
          {state.heartbeat_enabled && (
            <p className="trust-text">Its heartbeat is on. Accord starts workers for this folder automatically.</p>
          )}
          <p className="trust-text">
            Trusting this folder allows Accord to write to it and to start workers for it under your account. Trust it
            only if you know where it comes from. You can withdraw trust in Settings.
          </p>
        </>
      ) : error && isFetchedAfterMount ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : (
        <Loading lines={3} />
      )}
      <ConfirmActions label="Trust folder" disabled={!state} confirm={trust} onClose={closeTrustQuestion} />
    </>
  );
}

function Programs({ programs }: { programs: Record<string, string> }) {
  const named = Object.entries(programs);
  if (named.length === 0) return <p className="trust-text">Its .local/machine.yaml configures no programs.</p>;
  return (
    <>
      <p className="trust-text">Its .local/machine.yaml configures these programs as workers:</p>
      <div className="trust-programs" role="region" aria-label="Programs" tabIndex={0}>
        <dl className="facts">
          {named.map(([provider, path]) => (
            <div key={provider}>
              <dt>{visible(provider)}</dt>
              <dd className="mono">{visible(path)}</dd>
            </div>
          ))}
        </dl>
      </div>
    </>
  );
}

/** Escapes invisible characters, which could make one path look like another. */
function visible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
