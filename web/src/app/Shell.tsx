// The layout of the desktop: rail, sidebar, main and inspector. A phone shows one of them at a time.

import "./shell.css";
import { useLayoutEffect, useMemo } from "react";
import { useFollow } from "../data/live.ts";
import { setPreference, usePreference } from "../data/preference.ts";
import { useKeys } from "../keys/keys.ts";
import { usePalette } from "../palette/registry.ts";
import { Empty } from "../parts/states.tsx";
import { match, navigate } from "../router.tsx";
import { address } from "../address.ts";
import { at } from "../views/company/address.ts";
import { Landing } from "../views/company/Landing.tsx";
import { isOfCompany } from "../views/company/sections.ts";
import { TrustBanner } from "../views/company/TrustBanner.tsx";
import { Boundary } from "./Boundary.tsx";
import { InspectorSlot } from "./Inspector.tsx";
import { Rail } from "./Rail.tsx";
import { sections } from "./sections.ts";
import { setTheme } from "./theme.ts";
import { WorkspaceMenu } from "./WorkspaceMenu.tsx";

export function Shell({ workspace, path }: { workspace: string; path: string }) {
  useFollow(workspace);
  const base = address.workspace(workspace);
  const isSidebarHidden = usePreference("sidebar") === "hidden";
  const toggleSidebar = () => setPreference("sidebar", isSidebarHidden ? null : "hidden");
  useKeys("Everywhere", [{ key: "Ctrl-b", label: "Show or hide the sidebar", run: toggleSidebar }]);
  usePalette({
    group: "Go to",
    find: () =>
      sections.map(({ id, title, description, icon, path }) => ({
        id: `section-${id}`,
        title,
        ...(description ? { hint: description } : {}),
        icon,
        run: () => navigate(base + path),
      })),
  });
  usePalette({
    group: "Actions",
    find: () => [
      { id: "sidebar", title: "Show or hide the sidebar", icon: "sidebar", key: "Ctrl-b", run: toggleSidebar },
      { id: "light", title: "Use the light theme", icon: "moon", run: () => setTheme("light") },
      { id: "dark", title: "Use the dark theme", icon: "moon", run: () => setTheme("dark") },
      { id: "system", title: "Use the system theme", icon: "moon", run: () => setTheme("system") },
    ],
  });

  const found = useMemo(() => {
    for (const section of sections) {
      for (const { path: pattern, View } of section.views) {
        const params = match(`/w/:workspace${pattern}`, path);
        if (params) return { section, View, params, isSectionItself: pattern === section.path };
      }
    }
    return undefined;
  }, [path]);
  // A view with its own title sets it in an effect, which runs later.
  useLayoutEffect(() => {
    document.title = found ? `${found.section.title} · Accord` : "Accord";
  }, [found]);

  if (path === base) return <Landing workspace={workspace} />;
  const Sidebar = found?.section.Sidebar;
  const props = { workspace, params: found?.params ?? {} };
  const column = found?.isSectionItself && Sidebar ? "sidebar" : "main";
  // The page that opens another company does not show the folder of this one.
  const showsCompany = found && isOfCompany(found.section) && path !== at.open(workspace);
  return (
    <div className="shell" data-column={column} data-sidebar={Sidebar && !isSidebarHidden ? "" : undefined}>
      <Rail workspace={workspace} current={found?.section.id} />
      {Sidebar && (
        <nav className="sidebar" aria-label={found.section.title}>
          <WorkspaceMenu workspace={workspace} />
          <div className="sidebar-body">
            <Boundary key={found.section.id}>
              <Sidebar {...props} />
            </Boundary>
          </div>
        </nav>
      )}
      {showsCompany && <TrustBanner workspace={workspace} />}
      <main className="main">
        <Boundary key={path}>
          {found ? (
            <found.View key={path} {...props} />
          ) : (
            <Empty icon="search" title="Page not found">
              The item may have been deleted, or the link is incomplete. Press Ctrl-K to search.
            </Empty>
          )}
        </Boundary>
      </main>
      <InspectorSlot />
      {sections.map(({ id, Finder }) => Finder && <Finder key={id} workspace={workspace} />)}
    </div>
  );
}
