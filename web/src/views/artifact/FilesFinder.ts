// Adds the newest files to the palette, in every section.

import { address } from "../../address.ts";
import { callOptions, queries } from "../../data/calls.ts";
import { usePalette } from "../../palette/registry.ts";
import { bytes } from "../../parts/size.ts";
import { navigate } from "../../router.tsx";
import { iconOf } from "./artifact.ts";

export function FilesFinder({ workspace }: { workspace: string }): null {
  usePalette({
    group: "Files",
    find: async () => {
      const { items } = await queries.fetchQuery(callOptions("artifact/list", { workspace_id: workspace, limit: 200 }));
      return items.map(({ artifact }) => ({
        id: artifact.artifact_id,
        title: artifact.display_name,
        hint: bytes(artifact.size_bytes ?? 0),
        icon: iconOf(artifact),
        run: () => navigate(address.artifact(workspace, artifact.artifact_id)),
      }));
    },
  });
  return null;
}
