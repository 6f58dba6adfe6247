// The frame of a view in main: breadcrumbs, title, state and actions.

import "./page.css";
import { Fragment, useEffect, type ReactNode } from "react";
import { Icon } from "../parts/Icon.tsx";
import { Link } from "../router.tsx";

export interface Crumb {
  label: string;
  to: string;
}

export function Page({
  title,
  crumbs = [],
  back,
  state,
  actions,
  children,
}: {
  title: string;
  crumbs?: Crumb[];
  /** The address of the section's sidebar, for screens that show one column. */
  back?: string;
  /** The status of the object. */
  state?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Accord`;
  }, [title]);
  return (
    <>
      <header className="page-head">
        {back && (
          <Link className="page-back icon-button" to={back} aria-label="Back to the list">
            <Icon name="back" />
          </Link>
        )}
        <div className="page-title">
          {crumbs.map(({ label, to }) => (
            <Fragment key={to}>
              <Link className="crumb" to={to}>
                {label}
              </Link>
              <span className="crumb-slash" aria-hidden="true">
                /
              </span>
            </Fragment>
          ))}
          <h1 title={title}>{title}</h1>
        </div>
        {state && <div className="page-state">{state}</div>}
        <div className="page-actions">{actions}</div>
      </header>
      <div className="page-body">{children}</div>
    </>
  );
}
