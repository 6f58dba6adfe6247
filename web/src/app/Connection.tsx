// Tells how the connection stands: quietly while it comes back, plainly when this browser is not let in.

import { useEffect, useState, type ReactNode } from "react";
import { admission, client, useConnection } from "../data/client.ts";
import { isLinkUsedUp } from "../data/session.ts";
import { Button } from "../parts/Button.tsx";
import { Empty } from "../parts/states.tsx";
import { StatusDot } from "../parts/Status.tsx";

/** Milliseconds a broken connection may take to come back before anybody is told. */
const PATIENCE = 800;

export function Connection({ children }: { children: ReactNode }) {
  const state = useConnection();
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (state === "open" || state === "closed") return;
    const timer = setTimeout(() => setLate(true), PATIENCE);
    // Whoever is refused stops asking: the gateway answers everybody here more slowly after each wrong try.
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
        {isLinkUsedUp() && "This link was used before, or is older than ten minutes. "}
        Run “ac open”, or open the address that “ac open --print” prints: it lets this browser in, once. What you have
        typed is kept.
      </Empty>
    );
  }
  return (
    <>
      {isLate && (
        <div className="offline" role="status">
          <StatusDot meaning="waiting" />
          The gateway cannot be reached. You can read on; what you type is kept and sent when it is back.
        </div>
      )}
      {children}
    </>
  );
}
