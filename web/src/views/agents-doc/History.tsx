// The versions of an AGENTS.md: shows their changes and restores them.

import type { ThreadAgentsDocPayload, ThreadAgentsDocRevisionSummary } from "@accord/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { InspectorPart } from "../../app/Inspector.tsx";
import { attempt, call, useCall } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog, DialogActions } from "../../parts/Dialog.tsx";
import { Diff } from "../../parts/Diff.tsx";
import { Await } from "../../parts/states.tsx";
import { Time } from "../../parts/Time.tsx";
import { toast } from "../../parts/toast.tsx";
import type { DocSession } from "./session.ts";

const REASONS: Record<string, string> = {
  manual: "saved",
  autosave: "edited",
  restore: "restored",
  archive: "deleted",
  proposal: "approved",
};

export function History({ workspace, session }: { workspace: string; session: DocSession }) {
  const { doc } = session;
  return (
    <InspectorPart title="History">
      {doc ? <Versions workspace={workspace} doc={doc} session={session} /> : <p className="muted">No versions yet.</p>}
    </InspectorPart>
  );
}

function Versions({
  workspace,
  doc,
  session,
}: {
  workspace: string;
  doc: ThreadAgentsDocPayload;
  session: DocSession;
}) {
  const [shown, setShown] = useState<ThreadAgentsDocRevisionSummary>();
  const query = useInfiniteQuery({
    queryKey: ["thread/agents_doc/revisions", { workspace_id: workspace, doc_id: doc.id }],
    queryFn: ({ pageParam, signal }) =>
      call(
        "thread/agents_doc/revisions",
        { workspace_id: workspace, doc_id: doc.id, limit: 30, ...(pageParam ? { cursor: pageParam } : {}) },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const versions = query.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <>
      <ol className="versions">
        {versions.map((one) => (
          <li key={one.version}>
            <button type="button" className="version" onClick={() => setShown(one)}>
              <span className="mono">v{one.version}</span>
              <span>
                {REASONS[one.save_reason] ?? one.save_reason}
                {one.saved_by && ` by ${one.saved_by === "owner" ? "you" : one.saved_by}`}
              </span>
              <Time at={one.saved_at} />
            </button>
          </li>
        ))}
      </ol>
      {query.hasNextPage && (
        <Button kind="quiet" onClick={() => void query.fetchNextPage()}>
          Show older versions
        </Button>
      )}
      <Dialog
        title={`Version ${shown?.version ?? ""}`}
        description="Changes from the previous version."
        open={shown !== undefined}
        onClose={() => setShown(undefined)}
        wide
      >
        {shown && (
          <Version
            workspace={workspace}
            doc={doc}
            version={shown.version}
            before={versions[versions.indexOf(shown) + 1]?.version}
            onRestored={(restored) => {
              setShown(undefined);
              session.replace(restored);
            }}
          />
        )}
      </Dialog>
    </>
  );
}

function Version({
  workspace,
  doc,
  version,
  before,
  onRestored,
}: {
  workspace: string;
  doc: ThreadAgentsDocPayload;
  version: number;
  before: number | undefined;
  onRestored: (doc: ThreadAgentsDocPayload) => void;
}) {
  const params = { workspace_id: workspace, doc_id: doc.id };
  const [isAgainstNow, setAgainstNow] = useState(false);
  const query = useCall("thread/agents_doc/revision_get", { ...params, version });
  const older = useCall(
    "thread/agents_doc/revision_get",
    { ...params, version: before ?? version },
    { enabled: before !== undefined },
  );
  const olderText = before === undefined ? "" : older.data?.revision.content;
  const restore = () =>
    attempt("Restoring", async () => {
      const restored = await call("thread/agents_doc/restore", { ...params, version, expected_version: doc.version });
      onRestored(restored.doc);
      toast({ text: `Version ${version} restored as version ${restored.doc.version}` });
    });
  return (
    <Await query={query}>
      {({ revision }) => (
        <>
          {isAgainstNow ? (
            <Diff before={revision.content} after={doc.content} label={`version ${version} to current`} />
          ) : (
            olderText !== undefined && (
              <Diff before={olderText} after={revision.content} label={`to version ${version}`} />
            )
          )}
          <DialogActions>
            <Button kind="quiet" onClick={() => setAgainstNow(!isAgainstNow)}>
              {isAgainstNow ? "Compare with previous version" : "Compare with current version"}
            </Button>
            <Button
              kind="primary"
              icon="undo"
              disabled={revision.content === doc.content}
              onClick={() => void restore()}
            >
              Restore this version
            </Button>
          </DialogActions>
        </>
      )}
    </Await>
  );
}
