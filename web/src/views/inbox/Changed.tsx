// What changed in a document of the inbox since it was first looked at, file by file.

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
  /** The person has looked at what is there now. */
  onLooked: () => void;
}) {
  return (
    <section className="block" aria-label="What changed">
      <div className="notice waiting" role="alert">
        <Icon name="alert" />
        <span>This changed since you looked. Nothing was decided; look at it again.</span>
        <Button onClick={onLooked}>I have looked at it</Button>
      </div>
      {changedFiles(before.files, now.files).map(({ relpath, was, is }) => (
        <Diff key={relpath} before={was} after={is} label={relpath} />
      ))}
    </section>
  );
}

/** The files that are not as they were, with both texts. */
function changedFiles(before: InboxFile[], now: InboxFile[]): { relpath: string; was: string; is: string }[] {
  const paths = new Set([...before, ...now].map(({ relpath }) => relpath));
  return [...paths].flatMap((relpath) => {
    const was = before.find((file) => file.relpath === relpath);
    const is = now.find((file) => file.relpath === relpath);
    return was?.sha256 === is?.sha256 ? [] : [{ relpath, was: was?.text ?? "", is: is?.text ?? "" }];
  });
}
