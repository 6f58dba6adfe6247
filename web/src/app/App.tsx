// The root component: shows the workspace of the address, or redirects to one.

import { useEffect } from "react";
import { address } from "../address.ts";
import { useCall } from "../data/calls.ts";
import { KeyHelp } from "../keys/KeyHelp.tsx";
import { Palette } from "../palette/Palette.tsx";
import { Await } from "../parts/states.tsx";
import { Toasts } from "../parts/toast.tsx";
import { TooltipProvider } from "../parts/Tooltip.tsx";
import { match, navigate, usePath } from "../router.tsx";
import { GoToCompany } from "../views/company/GoToCompany.tsx";
import { prepareLanding } from "../views/company/Landing.tsx";
import { TrustDialog } from "../views/company/TrustDialog.tsx";
import { Connection } from "./Connection.tsx";
import { Shell } from "./Shell.tsx";

export function App() {
  const path = usePath();
  const workspace = match("/w/:workspace", path.split("/").slice(0, 3).join("/"))?.["workspace"];
  return (
    <TooltipProvider>
      <div className="app">
        <Connection>
          {workspace ? <Shell key={workspace} workspace={workspace} path={path} /> : <Start path={path} />}
        </Connection>
      </div>
      <Palette />
      <KeyHelp />
      <TrustDialog />
      <Toasts />
    </TooltipProvider>
  );
}

/** Redirects the bare address to the default workspace, and `/c/<folder>` to the workspace of that company folder. */
function Start({ path }: { path: string }) {
  const query = useCall("workspace/default", {});
  useEffect(prepareLanding, []);
  const [, first, dir, ...rest] = path.split("/");
  if (first === "c" && dir) return <GoToCompany dir={decodeURIComponent(dir)} rest={rest} />;
  return <Await query={query}>{({ workspace }) => <Go to={address.workspace(workspace.id)} />}</Await>;
}

export function Go({ to }: { to: string }) {
  useEffect(() => navigate(to, { replace: true }), [to]);
  return null;
}
