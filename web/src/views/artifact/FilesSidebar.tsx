// The sidebar of the Files section: all files of the workspace, newest first.

import "./artifact.css";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { address } from "../../address.ts";
import type { ViewProps } from "../../app/section.ts";
import { call } from "../../data/calls.ts";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { List } from "../../parts/List.tsx";
import { bytes } from "../../parts/size.ts";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { Time } from "../../parts/Time.tsx";
import { iconOf } from "./artifact.ts";

export default function FilesSidebar({ workspace, params }: ViewProps) {
  const [withDeleted, setWithDeleted] = useState(false);
  const query = useInfiniteQuery({
    queryKey: ["artifact/list", { workspace_id: workspace, include_deleted: withDeleted }],
    queryFn: ({ pageParam, signal }) =>
      call(
        "artifact/list",
        {
          workspace_id: workspace,
          include_deleted: withDeleted,
          limit: 100,
          ...(pageParam ? { cursor: pageParam } : {}),
        },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const files = query.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <>
      <div className="sidebar-head">
        <h2>Files</h2>
        <IconButton
          label={withDeleted ? "Hide deleted files" : "Show deleted files"}
          icon="trash"
          aria-pressed={withDeleted}
          onClick={() => setWithDeleted(!withDeleted)}
        />
      </div>
      {query.isPending && <Loading />}
      {query.error && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && files.length === 0 && (
        <Empty icon="file" title="No files yet">
          Drop or paste a file into a thread to add it.
        </Empty>
      )}
      {files.length > 0 && (
        <List
          label="Files"
          items={files}
          keyOf={({ artifact }) => artifact.artifact_id}
          hrefOf={({ artifact }) => address.artifact(workspace, artifact.artifact_id)}
          selected={params["artifact"]}
          row={({ artifact, updated_at }) => (
            <div className="file-row">
              <Icon name={iconOf(artifact)} />
              <div>
                <div className="row-title">
                  <span>{artifact.display_name}</span>
                  <Time at={updated_at} />
                </div>
                <div className="row-note">
                  {artifact.status === "ready"
                    ? `${artifact.kind}, ${bytes(artifact.size_bytes ?? 0)}`
                    : artifact.status}
                </div>
              </div>
            </div>
          )}
        />
      )}
      {query.hasNextPage && (
        <Button kind="quiet" onClick={() => void query.fetchNextPage()}>
          Show older files
        </Button>
      )}
    </>
  );
}
