// The sections in the order of the rail.

import { companySections } from "../views/company/sections.ts";
import {
  AgentsDocView,
  FolderView,
  ThreadView,
  TrashView,
  TreeFinder,
  TreeSidebar,
  TreeView,
} from "../views/tree/views.ts";
import { FilesFinder } from "../views/artifact/FilesFinder.ts";
import { later } from "./later.tsx";
import type { Section } from "./section.ts";

const tree: Section = {
  id: "tree",
  title: "Threads",
  description: "Your own chats with a model; each follows the AGENTS.md of its folder.",
  icon: "tree",
  isInBar: true,
  path: "/tree",
  Sidebar: TreeSidebar,
  Finder: TreeFinder,
  views: [
    { path: "/tree", View: TreeView },
    { path: "/t/:thread", View: ThreadView },
    { path: "/f/:folder", View: FolderView },
    { path: "/trash", View: TrashView },
    { path: "/agents", View: AgentsDocView },
    { path: "/f/:folder/agents", View: AgentsDocView },
  ],
};

const files: Section = {
  id: "files",
  title: "Files",
  icon: "file",
  path: "/files",
  Sidebar: later(() => import("../views/artifact/FilesSidebar.tsx")),
  Finder: FilesFinder,
  views: [
    { path: "/files", View: later(() => import("../views/artifact/FilesView.tsx")) },
    { path: "/files/:artifact", View: later(() => import("../views/artifact/ArtifactView.tsx")) },
  ],
};

const settings: Section = {
  id: "settings",
  title: "Settings",
  icon: "settings",
  path: "/settings",
  views: [{ path: "/settings", View: later(() => import("../views/settings/SettingsView.tsx")) }],
};

export const sections: Section[] = [...companySections.before, tree, files, ...companySections.after, settings];
