// A file in a message.

import { useCall } from "../../data/calls.ts";
import { Icon } from "../../parts/Icon.tsx";
import { bytes } from "../../parts/size.ts";
import { iconOf } from "./artifact.ts";

export function ArtifactChip({
  workspace,
  artifact,
  onOpen,
}: {
  workspace: string;
  artifact: string;
  onOpen: () => void;
}) {
  const { data } = useCall("artifact/get", { workspace_id: workspace, artifact_id: artifact });
  const found = data?.artifact.artifact;
  return (
    <button type="button" className="chip" onClick={onOpen}>
      <Icon name={found ? iconOf(found) : "file"} />
      <span className="chip-name">{found?.display_name ?? "File"}</span>
      <span className="chip-note">{found?.status === "deleted" ? "deleted" : bytes(found?.size_bytes ?? 0)}</span>
    </button>
  );
}
