// A status: a shape and a word, never colour alone.

import "./status.css";
import type { ReactNode } from "react";

export type Meaning = "done" | "waiting" | "failed" | "running" | "idle";

export function Status({ meaning, children }: { meaning: Meaning; children: ReactNode }) {
  return (
    <span className={`status ${meaning}`}>
      <StatusDot meaning={meaning} />
      {children}
    </span>
  );
}

/** Only the shape, for places where the word is shown elsewhere. */
export function StatusDot({ meaning }: { meaning: Meaning }) {
  return (
    <svg className={`status-dot ${meaning}`} viewBox="0 0 10 10" aria-hidden="true">
      {meaning === "done" && <path d="M1.5 5.2 4 7.8 8.5 2.5" />}
      {meaning === "waiting" && <path d="M5 1.2 9 8.6H1z" />}
      {meaning === "failed" && <path d="M2 2l6 6M8 2 2 8" />}
      {meaning === "running" && <circle cx="5" cy="5" r="3.6" />}
      {meaning === "idle" && <circle cx="5" cy="5" r="3.2" />}
    </svg>
  );
}
