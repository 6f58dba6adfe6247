// Shows the state of the connection: a banner while it is lost, and a page when this browser is not signed in.

import { useEffect, useState, type ReactNode } from "react";
import { admission, client, useConnection } from "../data/client.ts";
import { isLinkUsedUp } from "../data/session.ts";
import { Button } from "../parts/Button.tsx";
import { Empty } from "../parts/states.tsx";
import { StatusDot } from "../parts/Status.tsx";

/** Milliseconds after which a lost connection shows the banner. */
const PATIENCE = 800;

export function Connection({ children }: { children: ReactNode }) {
  const state = useConnection();
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (state === "open" || state === "closed") return;
    const timer = setTimeout(() => setLate(true), PATIENCE);
    // Stop reconnecting when refused: the gateway delays all responses to this address after each failed attempt.
    if (state === "reconnecting") void admission().then((answer) => answer === "refused" && client.close());
    return () => clearTimeout(timer);
  }, [state]);
  useEffect(() => {
    if (state !== "closed") return;
    const look = () => void admission().then((answer) => answer === "welcome" && location.reload());
    window.addEventListener("focus", look);
    return () => window.removeEventListener("focus", look);
  }, [state]);
  if (state === "closed") {
    return (
      <Empty
        icon="key"
        title="This browser is not signed in"
        action={<Button onClick={() => location.reload()}>Try again</Button>}
      >
        {isLinkUsedUp() && "This sign-in link was already used or has expired. "}
        Run “ac open”, or open the address that “ac open --print” prints. The link works once and expires after ten
        minutes. Your unsaved text is kept.
      </Empty>
    );
  }
  return (
    <>
      {isLate && (
        <div className="offline" role="status">
          <StatusDot meaning="waiting" />
          The gateway cannot be reached. You can keep reading. Your changes are saved when the connection is back.
        </div>
      )}
      {children}
    </>
  );
}
