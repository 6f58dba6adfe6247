// Passes the company folder of the workspace to a view, or shows the page that opens one.

import "./side.css";
import { RpcError } from "@accord/client";
import type { ComponentType } from "react";
import { later } from "../../app/later.tsx";
import type { View, ViewProps } from "../../app/section.ts";
import { useCall } from "../../data/calls.ts";
import { Loading } from "../../parts/states.tsx";
import { useCompany } from "./folder.ts";
import type { Names } from "./names.ts";

export interface CompanyViewProps extends ViewProps {
  /** The company folder. */
  dir: string;
}

/** The props of a dialog of a company view. */
export interface CompanyDialogProps {
  workspace: string;
  dir: string;
  names: Names;
  onClose: () => void;
}

type CompanyView = ComponentType<CompanyViewProps>;

const OpenCompany = later(() => import("./OpenCompany.tsx"));
const CompanyGone = later(() => import("./CompanyGone.tsx"));

/** Returns whether the error means that the folder contains no company. */
const isNoCompany = (error: unknown) => error instanceof RpcError && error.kind === "NOT_A_WORKSPACE";

/** Wraps a view that needs a company folder. */
export function inCompany(Shown: CompanyView): View {
  return function InCompany(props: ViewProps) {
    const { isKnown, dir } = useCompany(props.workspace);
    // Every view of a company reads the projects, so this causes no additional request.
    const { error, refetch } = useCall(
      "workspace.projects.list",
      { workspace_dir: dir ?? "" },
      { enabled: Boolean(dir) },
    );
    if (dir && isNoCompany(error)) {
      return <CompanyGone workspace={props.workspace} dir={dir} onRetry={() => void refetch()} />;
    }
    if (dir) return <Shown {...props} dir={dir} />;
    return isKnown ? <OpenCompany {...props} /> : <Loading />;
  };
}

/** Wraps a sidebar that is empty without a company folder. */
export function inCompanySidebar(Shown: CompanyView): View {
  return function InCompanySidebar(props: ViewProps) {
    const { isKnown, dir } = useCompany(props.workspace);
    if (dir) return <Shown {...props} dir={dir} />;
    return isKnown ? <p className="sidebar-none">This workspace has no company folder.</p> : null;
  };
}
