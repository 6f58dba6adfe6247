// Adds threads, folders and AGENTS.md files to the palette, in every section.

import { address } from "../../address.ts";
import { queries } from "../../data/calls.ts";
import { usePalette } from "../../palette/registry.ts";
import { navigate } from "../../router.tsx";
import { Places, threadName, type FolderId } from "./model.ts";
import { treeOptions } from "./tree.ts";

export function TreeFinder({ workspace }: { workspace: string }): null {
  const read = async () => {
    const tree = await queries.ensureQueryData(treeOptions(workspace));
    const places = new Places(tree);
    const path = (folder: FolderId) =>
      places
        .pathOf(folder)
        .map(({ name }) => name)
        .join(" / ");
    return { tree, places, path };
  };
  usePalette({
    group: "Threads",
    find: async () => {
      const { tree, places, path } = await read();
      return tree.threads.map((thread) => ({
        id: thread.id,
        title: threadName(thread),
        hint: path(places.folderOf(thread.id)),
        icon: "thread",
        run: () => navigate(address.thread(workspace, thread.id)),
      }));
    },
  });
  usePalette({
    group: "Folders",
    find: async () => {
      const { places, path } = await read();
      return places.allFolders().map(({ id, name }) => ({
        id,
        title: name,
        hint: path(places.parentOf(id)),
        icon: "folder",
        run: () => navigate(address.folder(workspace, id)),
      }));
    },
  });
  usePalette({
    group: "Instructions",
    find: async () => {
      const { tree, path } = await read();
      return tree.agents_docs.map(({ id, folder_id }) => ({
        id,
        title: "AGENTS.md",
        hint: path(folder_id ?? null) || "Root",
        icon: "doc",
        run: () => navigate(address.agentsDoc(workspace, folder_id)),
      }));
    },
  });
  return null;
}
