// Gives a view the company folder of its workspace, or asks for one.

import "./side.css";
import { RpcError } from "@accord/client";
import type { ComponentType } from "react";
import { later } from "../../app/later.tsx";
import type { View, ViewProps } from "../../app/section.ts";
import { Loading } from "../../parts/states.tsx";
import { useCompany } from "./folder.ts";
import type { Names } from "./names.ts";
import { useRead } from "./reads.ts";

export interface CompanyViewProps extends ViewProps {
  /** The company folder. */
  dir: string;
}

/** What a dialog over a view of a company is given. */
export interface CompanyDialogProps {
  workspace: string;
  dir: string;
  names: Names;
  onClose: () => void;
}

type CompanyView = ComponentType<CompanyViewProps>;

const OpenCompany = later(() => import("./OpenCompany.tsx"));
const CompanyGone = later(() => import("./CompanyGone.tsx"));

/** Whether the gateway finds no company in the folder. */
const isNoCompany = (error: unknown) => error instanceof RpcError && error.kind === "NOT_A_WORKSPACE";

/** A view that needs a company folder. */
export function inCompany(Shown: CompanyView): View {
  return function InCompany(props: ViewProps) {
    const { isKnown, dir } = useCompany(props.workspace);
    // Every view of a company needs the names of its projects, so this costs no call of its own.
    const { error, refetch } = useRead("workspace.projects.list", { workspace_dir: dir ?? "" }, { enabled: Boolean(dir) });
    if (dir && isNoCompany(error)) {
      return <CompanyGone workspace={props.workspace} dir={dir} onRetry={() => void refetch()} />;
    }
    if (dir) return <Shown {...props} dir={dir} />;
    return isKnown ? <OpenCompany {...props} /> : <Loading />;
  };
}

/** A sidebar that stays empty while there is no company folder. */
export function inCompanySidebar(Shown: CompanyView): View {
  return function InCompanySidebar(props: ViewProps) {
    const { isKnown, dir } = useCompany(props.workspace);
    if (dir) return <Shown {...props} dir={dir} />;
    return isKnown ? <p className="sidebar-none">This workspace has no company folder.</p> : null;
  };
}
