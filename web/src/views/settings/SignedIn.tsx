// The signed-in browsers.

import { RpcError, type DesktopSession } from "@accord/client";
import { attempt, call, invalidate, useCall } from "../../data/calls.ts";
import { leave } from "../../data/leave.ts";
import { Button } from "../../parts/Button.tsx";
import { Await } from "../../parts/states.tsx";
import { Time } from "../../parts/Time.tsx";

export function SignedIn() {
  const query = useCall("desktop_session/list", {});
  // Only the owner may list sessions.
  if (query.error instanceof RpcError && query.error.kind === "forbidden") return null;
  return (
    <section>
      <h2>Signed-in browsers</h2>
      <p className="muted">
        Each signed-in browser has your full access. A sign-in expires after 30 days without use, and after 90 days in
        any case.
      </p>
      <Await query={query} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p>No browser signed in with a link.</p>
          ) : (
            <ul className="sessions">
              {items.map((session) => (
                <Session key={session.id} session={session} />
              ))}
            </ul>
          )
        }
      </Await>
    </section>
  );
}

function Session({ session }: { session: DesktopSession }) {
  const end = () =>
    attempt("Signing out the browser", async () => {
      await call("desktop_session/end", { session_id: session.id }, { retry: true });
      invalidate(["desktop_session/list"]);
    });
  const name = browserName(session.user_agent);
  return (
    <li className="session">
      <div>
        <h3 title={session.user_agent}>{session.is_current ? `${name}, this browser` : name}</h3>
        <p className="muted small">
          Signed in <Time at={session.created_at} />, last used <Time at={session.last_used_at} />
        </p>
      </div>
      {session.is_current ? (
        <Button onClick={leave}>Sign out</Button>
      ) : (
        <Button kind="danger" aria-label={`Sign out ${name}`} onClick={() => void end()}>
          Sign out
        </Button>
      )}
    </li>
  );
}

/** Returns the name of the browser with a `User-Agent`. Most contain the names of other browsers, so the order matters. */
export function browserName(userAgent: string): string {
  const BROWSERS = [
    ["Edg/", "Edge"],
    ["OPR/", "Opera"],
    ["Firefox/", "Firefox"],
    ["Chrome/", "Chrome"],
    ["Safari/", "Safari"],
  ] as const;
  const SYSTEMS = [
    ["Android", "Android"],
    ["iPhone", "iPhone"],
    ["iPad", "iPad"],
    ["Mac OS", "macOS"],
    ["Windows", "Windows"],
    ["Linux", "Linux"],
  ] as const;
  const named = (table: readonly (readonly [string, string])[]) =>
    table.find(([sign]) => userAgent.includes(sign))?.[1];
  const [browser, system] = [named(BROWSERS), named(SYSTEMS)];
  return browser ? [browser, system].filter(Boolean).join(" on ") : userAgent || "Unknown browser";
}
