// Maps notifications to the queries they invalidate. Views that stream listen to notifications themselves.

import { useEffect } from "react";
import { invalidate, queries } from "./calls.ts";
import { client } from "./client.ts";

/** Milliseconds within which several changes of the tree cause one refetch. */
const TREE_PAUSE = 200;

let isReadingTree = false;
let isTreeStale = false;

/** Refetches the tree. Changes that arrive during a refetch cause one more afterwards, so that the tree is never starved. */
async function treeChanged(): Promise<void> {
  isTreeStale = true;
  if (isReadingTree) return;
  isReadingTree = true;
  while (isTreeStale) {
    await new Promise((resolve) => setTimeout(resolve, TREE_PAUSE));
    isTreeStale = false;
    await Promise.all(["thread/tree", "trash/list"].map((method) => queries.invalidateQueries({ queryKey: [method] })));
  }
  isReadingTree = false;
}

/** Starts to invalidate queries on notifications. */
export function listen(): void {
  client.on("thread/tree/changed", () => void treeChanged());
  client.onState((state) => {
    if (state !== "open") return;
    void treeChanged();
    invalidate(["workspace/list"]);
  });
  client.on("workspace/changed", () => invalidate(["workspace/list"]));
  client.on("thread/agents_doc/changed", ({ workspace_id }) => {
    // A change of a document also changes what the folders below it inherit.
    invalidate(
      [
        "thread/agents_doc/get",
        "thread/agents_doc/revisions",
        "thread/agents_doc/preview",
        "thread/agents_doc/resolve_for_thread",
        // Proposals may be based on an old version now.
        "thread/agents_doc/proposal/list",
        "thread/agents_doc/proposal/get",
      ],
      { workspace_id },
    );
  });
  client.on("thread/agents_doc/proposal/changed", ({ workspace_id }) =>
    invalidate(["thread/agents_doc/proposal/list", "thread/agents_doc/proposal/get"], { workspace_id }),
  );
  const turnEnded = ({ thread_id }: { thread_id: string }) => {
    invalidate(["turn/get", "turn/explain"], { thread_id });
    invalidate(["hook/runs/list"]);
  };
  client.on("turn/completed", turnEnded);
  client.on("turn/failed", turnEnded);
  const artifactsChanged = ({ workspace_id }: { workspace_id: string }) =>
    invalidate(["artifact/list", "artifact/list/thread", "artifact/get", "artifact/usage"], { workspace_id });
  client.on("artifact/created", artifactsChanged);
  client.on("artifact/updated", artifactsChanged);
  client.on("artifact/deleted", artifactsChanged);
  client.on("thread/artifacts/changed", artifactsChanged);
  client.on("artifact/projection/updated", ({ workspace_id, artifact_id }) => {
    invalidate(["artifact/list", "artifact/list/thread", "artifact/get"], { workspace_id });
    invalidate(["artifact/read"], { artifact_id });
  });
  client.onGap(() => void queries.invalidateQueries());
}

/** Subscribes to the notifications of a workspace, also after reconnecting. */
export function useFollow(workspace: string): void {
  useEffect(() => {
    // It fails only with the connection, which the banner shows.
    client.follow(workspace).catch(() => {});
  }, [workspace]);
}
