// A folder: its contents, and the AGENTS.md that its threads use.

import { address } from "../../address.ts";
import { Page } from "../../app/Page.tsx";
import type { ViewProps } from "../../app/section.ts";
import { useCall } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { count } from "../../parts/size.ts";
import { Await, Empty } from "../../parts/states.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link, navigate } from "../../router.tsx";
import { threadName, type Places } from "./model.ts";
import { createThread, useTree } from "./tree.ts";

export default function FolderView({ workspace, params }: ViewProps) {
  const { query, places } = useTree(workspace);
  const id = params["folder"] ?? "";
  return (
    <Await query={query}>
      {() =>
        places?.folder(id) ? (
          <Folder workspace={workspace} id={id} places={places} />
        ) : (
          <Empty icon="folder" title="Folder not found">
            The folder was deleted. Its contents moved one level up.
          </Empty>
        )
      }
    </Await>
  );
}

function Folder({ workspace, id, places }: { workspace: string; id: string; places: Places }) {
  const { data } = useCall("thread/agents_doc/get", { workspace_id: workspace, folder_id: id });
  const folders = places.foldersIn(id);
  const inside = places.threadsIn(id);
  const source = data?.effective;
  const sourceName = source?.inherited ? source.source_path.join(" / ") || "the root" : "this folder";
  return (
    <Page
      title={places.folder(id)?.name ?? ""}
      crumbs={places
        .pathOf(id)
        .slice(0, -1)
        .map((folder) => ({ label: folder.name, to: address.folder(workspace, folder.id) }))}
      back={address.tree(workspace)}
      actions={
        <Button kind="primary" icon="plus" onClick={() => void createThread(workspace, id)}>
          New thread
        </Button>
      }
    >
      <div className="page-column">
        <div className="folder-doc">
          <Icon name="doc" />
          <p>
            {source
              ? `Threads here use the AGENTS.md of ${sourceName}, version ${source.doc.version}.`
              : "No AGENTS.md applies to threads in this folder."}
          </p>
          <Button onClick={() => navigate(address.agentsDoc(workspace, id))}>
            {data?.explicit ? "Edit AGENTS.md" : "Create AGENTS.md"}
          </Button>
        </div>
        {folders.length + inside.length === 0 && (
          <Empty icon="thread" title="This folder is empty">
            Create a thread here, or drag threads from the tree.
          </Empty>
        )}
        <div className="folder-cards">
          {folders.map((folder) => (
            <Link key={folder.id} className="folder-line" to={address.folder(workspace, folder.id)}>
              <Icon name="folder" />
              <span>{folder.name}</span>
              <span>{threads(places.threadCount(folder.id))}</span>
            </Link>
          ))}
          {inside.slice(0, 200).map((thread) => (
            <Link key={thread.id} className="folder-line" to={address.thread(workspace, thread.id)}>
              <Icon name="thread" />
              <span>{threadName(thread)}</span>
              <Time at={thread.updated_at} />
            </Link>
          ))}
        </div>
        {inside.length > 200 && <p className="muted">{threads(inside.length - 200)} more in the tree.</p>}
      </div>
    </Page>
  );
}

const threads = (number: number) => (number === 1 ? "1 thread" : `${count(number)} threads`);
