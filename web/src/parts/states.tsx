// The states of a view without contents: empty, loading and failed.

import "./states.css";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { sentence } from "../data/calls.ts";
import { askToTrust, UntrustedFolder } from "../data/trust.ts";
import { Button } from "./Button.tsx";
import { Icon, type IconName } from "./Icon.tsx";

/** An empty state: the purpose of the view and the next action. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="state">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

/** A skeleton of grey lines that appears after 150 ms. */
export function Loading({ lines = 6 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} className={`skeleton-line w${(i * 7) % 4}`} />
      ))}
    </div>
  );
}

/** An error with a button to try again. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div className="state failure" role="alert">
      <Icon name="alert" />
      <h2>Could not load this page</h2>
      <p>{sentence(error)}</p>
      {error instanceof UntrustedFolder && (
        <Button icon="key" onClick={() => askToTrust({ dir: error.dir })}>
          Trust this folder…
        </Button>
      )}
      {onRetry && (
        <Button icon="undo" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Renders the data of a query, or its loading or error state. Cached data stays visible during a refetch. */
export function Await<T>({
  query,
  lines,
  children,
}: {
  query: UseQueryResult<T>;
  lines?: number;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  return <Loading {...(lines ? { lines } : {})} />;
}
