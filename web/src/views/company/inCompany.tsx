// Gives a view the company folder of its workspace, or asks for one.

import { lazy, useEffect, type ComponentType, type LazyExoticComponent } from "react";
import type { View, ViewProps } from "../../app/section.ts";
import { useCompanyDir } from "./folder.ts";
import { followCompany } from "./live.ts";

export interface CompanyViewProps extends ViewProps {
  /** The company folder. */
  dir: string;
}

type CompanyView = ComponentType<CompanyViewProps>;

const OpenCompany = lazy(() => import("./OpenCompany.tsx"));

/** A view that needs a company folder. */
export function inCompany(Shown: CompanyView | LazyExoticComponent<CompanyView>): View {
  return function InCompany(props: ViewProps) {
    const dir = useCompanyDir(props.workspace);
    useEffect(() => {
      if (dir) followCompany(dir);
    }, [dir]);
    return dir ? <Shown key={dir} {...props} dir={dir} /> : <OpenCompany workspace={props.workspace} />;
  };
}

/** A sidebar that stays empty while there is no company folder. */
export function inCompanySidebar(Shown: CompanyView | LazyExoticComponent<CompanyView>): View {
  return function InCompany(props: ViewProps) {
    const dir = useCompanyDir(props.workspace);
    return dir ? <Shown key={dir} {...props} dir={dir} /> : <p className="sidebar-none">No company folder is open.</p>;
  };
}
