// The files of a thread: a paged list with filters and previews.

import "./artifact.css";
import type { ArtifactRef, ArtifactSummary } from "@accord/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { bytes } from "../../parts/size.ts";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { Time } from "../../parts/Time.tsx";
import { FILTERS, iconOf, passes, saveCopy, type Filter } from "./artifact.ts";
import { ArtifactMenu } from "./ArtifactMenu.tsx";
import { ArtifactPreview } from "./ArtifactPreview.tsx";

/** The number of files per request. */
const PAGE = 50;

export function ArtifactPanel({
  workspace,
  thread,
  selected,
  onSelect,
  onAttach,
}: {
  workspace: string;
  thread: string;
  selected: string | undefined;
  onSelect: (artifact: string | undefined) => void;
  onAttach: (artifact: ArtifactRef) => void;
}) {
  const [filter, setFilter] = useState<Filter>("all");
  const [withDeleted, setWithDeleted] = useState(false);
  const scope = { workspace_id: workspace, thread_id: thread, include_deleted: withDeleted };
  const query = useInfiniteQuery({
    queryKey: ["artifact/list/thread", scope],
    queryFn: ({ pageParam, signal }) =>
      call("artifact/list/thread", { ...scope, limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const shown = items.filter((item) => passes(filter, item));
  return (
    <>
      <div className="artifact-filters">
        <select
          className="input"
          aria-label="Filter files"
          value={filter}
          onChange={(event) => setFilter(event.target.value as Filter)}
        >
          {FILTERS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <label>
          <input type="checkbox" checked={withDeleted} onChange={(event) => setWithDeleted(event.target.checked)} />{" "}
          Deleted
        </label>
      </div>
      {query.isPending && <Loading />}
      {query.error && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && shown.length === 0 && !query.hasNextPage && (
        <Empty icon="file" title={items.length === 0 ? "No files yet" : "No matching files"}>
          {items.length === 0 ? "Drop files on the thread, or paste them into the message." : "Choose another filter."}
        </Empty>
      )}
      {shown.length > 0 && (
        <ul className="artifacts">
          {shown.map((summary) => (
            <ArtifactRow
              key={summary.artifact.artifact_id}
              workspace={workspace}
              summary={summary}
              isOpen={summary.artifact.artifact_id === selected}
              onToggle={() =>
                onSelect(summary.artifact.artifact_id === selected ? undefined : summary.artifact.artifact_id)
              }
              onAttach={onAttach}
            />
          ))}
        </ul>
      )}
      {query.hasNextPage && (
        <Button kind="quiet" onClick={() => void query.fetchNextPage()}>
          Show older files
        </Button>
      )}
    </>
  );
}

function ArtifactRow({
  workspace,
  summary,
  isOpen,
  onToggle,
  onAttach,
}: {
  workspace: string;
  summary: ArtifactSummary;
  isOpen: boolean;
  onToggle: () => void;
  onAttach: (artifact: ArtifactRef) => void;
}) {
  const { artifact } = summary;
  return (
    <li className="artifact" data-status={artifact.status}>
      <div className="artifact-row">
        <button type="button" className="artifact-name" aria-expanded={isOpen} onClick={onToggle}>
          <Icon name={iconOf(artifact)} />
          <span>{artifact.display_name}</span>
          <span className="artifact-note">
            {artifact.status === "ready" ? bytes(artifact.size_bytes ?? 0) : artifact.status} ·{" "}
            <Time at={summary.updated_at} />
          </span>
        </button>
        <ArtifactMenu workspace={workspace} summary={summary} />
      </div>
      {isOpen && (
        <div className="artifact-open">
          <ArtifactPreview workspace={workspace} artifact={artifact} />
          {artifact.status === "ready" && (
            <div className="artifact-actions">
              <Button icon="download" onClick={() => void saveCopy(workspace, artifact)}>
                Download
              </Button>
              <Button icon="clip" onClick={() => onAttach(artifact)}>
                Attach to message
              </Button>
            </div>
          )}
        </div>
      )}
    </li>
  );
}
