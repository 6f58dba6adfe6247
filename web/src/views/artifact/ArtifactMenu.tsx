// The menu of a file.

import type { ArtifactSummary } from "@accord/client";
import { useState } from "react";
import { address } from "../../address.ts";
import { IconButton } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { TextField } from "../../parts/Field.tsx";
import { List } from "../../parts/List.tsx";
import { Menu, type MenuItem } from "../../parts/Menu.tsx";
import { navigate } from "../../router.tsx";
import { threadName } from "../tree/model.ts";
import { useTree } from "../tree/tree.ts";
import { bindToThread, deleteArtifact, restoreArtifact, saveCopy } from "./artifact.ts";

export function ArtifactMenu({ workspace, summary }: { workspace: string; summary: ArtifactSummary }) {
  const [isBinding, setBinding] = useState(false);
  const { artifact } = summary;
  const isDeleted = artifact.status === "deleted";
  const list: MenuItem[] = [
    { label: "Open", icon: "file", run: () => navigate(address.artifact(workspace, artifact.artifact_id)) },
    { label: "Download", icon: "download", disabled: isDeleted, run: () => void saveCopy(workspace, artifact) },
    { label: "Add to a thread…", icon: "link", disabled: isDeleted, run: () => setBinding(true) },
    isDeleted
      ? {
          label: "Restore",
          icon: "undo",
          separated: true,
          run: () => void restoreArtifact(workspace, artifact.artifact_id),
        }
      : {
          label: "Delete",
          icon: "trash",
          danger: true,
          separated: true,
          run: () => void deleteArtifact(workspace, artifact),
        },
  ];
  return (
    <>
      <Menu list={list}>
        <IconButton label={`Menu of ${artifact.display_name}`} icon="more" />
      </Menu>
      <Dialog title={`Add “${artifact.display_name}” to a thread`} open={isBinding} onClose={() => setBinding(false)}>
        <Threads
          workspace={workspace}
          onChoose={(thread) => {
            setBinding(false);
            void bindToThread(workspace, artifact, thread);
          }}
        />
      </Dialog>
    </>
  );
}

function Threads({ workspace, onChoose }: { workspace: string; onChoose: (thread: string) => void }) {
  const { query } = useTree(workspace);
  const [filter, setFilter] = useState("");
  const threads = (query.data?.threads ?? []).filter((one) =>
    threadName(one).toLowerCase().includes(filter.toLowerCase()),
  );
  return (
    <>
      <TextField
        label="Thread"
        placeholder="Filter"
        autoFocus
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
      />
      <div className="move-targets">
        <List
          label="Threads"
          items={threads}
          keyOf={({ id }) => id}
          rowHeight={32}
          onOpen={({ id }) => onChoose(id)}
          row={(thread) => threadName(thread)}
        />
      </div>
    </>
  );
}
