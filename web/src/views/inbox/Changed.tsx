// The changes of an inbox item since it was opened, file by file.

import type { InboxFile, InboxReadResponse } from "@accord/client";
import { Button } from "../../parts/Button.tsx";
import { Diff } from "../../parts/Diff.tsx";
import { Icon } from "../../parts/Icon.tsx";

export function Changed({
  before,
  now,
  onLooked,
}: {
  before: InboxReadResponse;
  now: InboxReadResponse;
  /** Called when the user has reviewed the changes. */
  onLooked: () => void;
}) {
  return (
    <section className="block" aria-label="Changes">
      <div className="notice waiting" role="alert">
        <Icon name="alert" />
        <span>This item changed since you opened it. No decision was saved. Review the changes.</span>
        <Button onClick={onLooked}>Mark as reviewed</Button>
      </div>
      {changedFiles(before.files, now.files).map(({ relpath, was, is }) => (
        <Diff key={relpath} before={was} after={is} label={relpath} />
      ))}
    </section>
  );
}

/** Returns the changed files with both texts. */
function changedFiles(before: InboxFile[], now: InboxFile[]): { relpath: string; was: string; is: string }[] {
  const paths = new Set([...before, ...now].map(({ relpath }) => relpath));
  return [...paths].flatMap((relpath) => {
    const was = before.find((file) => file.relpath === relpath);
    const is = now.find((file) => file.relpath === relpath);
    return was?.sha256 === is?.sha256 ? [] : [{ relpath, was: was?.text ?? "", is: is?.text ?? "" }];
  });
}
