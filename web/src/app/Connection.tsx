// Tells how the connection stands: quietly while it comes back, plainly when this browser is not let in.

import { useEffect, useState, type ReactNode } from "react";
import { isRefused, useConnection } from "../data/client.ts";
import { Empty } from "../parts/states.tsx";
import { StatusDot } from "../parts/Status.tsx";

/** Milliseconds a broken connection may take to come back before anybody is told. */
const PATIENCE = 800;
/** Milliseconds between questions whether this browser is still let in. */
const ASK_AGAIN = 5000;

export function Connection({ children }: { children: ReactNode }) {
  const state = useConnection();
  const [isLate, setLate] = useState(false);
  const [isUnknown, setUnknown] = useState(false);
  useEffect(() => {
    setLate(false);
    if (state === "open") {
      setUnknown(false);
      return;
    }
    const timer = setTimeout(() => setLate(true), PATIENCE);
    let isCurrent = true;
    const ask = () => void isRefused().then((refused) => isCurrent && setUnknown(refused));
    const asking = setInterval(ask, ASK_AGAIN);
    if (state !== "connecting") ask();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
      clearInterval(asking);
    };
  }, [state]);
  if (state === "closed" || isUnknown) {
    return (
      <Empty icon="key" title="This browser is not signed in">
        Open the address that the gateway prints when it starts; it lets this browser in, once. What you have typed is
        kept.
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
