// The views of the thread tree. All but the sidebar and the finder are loaded on demand.

import { later } from "../../app/later.tsx";

export { TreeFinder } from "./TreeFinder.ts";
export { TreeSidebar } from "./TreeSidebar.tsx";

export const TreeView = later(() => import("./TreeView.tsx"));
export const FolderView = later(() => import("./FolderView.tsx"));
export const TrashView = later(() => import("./TrashView.tsx"));
export const ThreadView = later(() => import("../thread/ThreadView.tsx"));
export const AgentsDocView = later(() => import("../agents-doc/AgentsDocView.tsx"));
