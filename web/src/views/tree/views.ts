// The views of the thread tree; all but the sidebar are loaded when they are first shown.

import { lazy } from "react";

export { TreeSidebar } from "./TreeSidebar.tsx";

export const TreeView = lazy(() => import("./TreeView.tsx"));
export const FolderView = lazy(() => import("./FolderView.tsx"));
export const ThreadView = lazy(() => import("../thread/ThreadView.tsx"));
export const AgentsDocView = lazy(() => import("../agents-doc/AgentsDocView.tsx"));
