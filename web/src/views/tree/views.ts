// The views of the thread tree; all but the sidebar and the finder are loaded when they are first shown.

import { lazy } from "react";

export { TreeFinder } from "./TreeFinder.ts";
export { TreeSidebar } from "./TreeSidebar.tsx";

export const TreeView = lazy(() => import("./TreeView.tsx"));
export const FolderView = lazy(() => import("./FolderView.tsx"));
export const ThreadView = lazy(() => import("../thread/ThreadView.tsx"));
export const AgentsDocView = lazy(() => import("../agents-doc/AgentsDocView.tsx"));
