// A file: its preview, uses and versions.

import "./artifact.css";
import type { ArtifactSummary } from "@accord/client";
import { address } from "../../address.ts";
import { Inspector, InspectorPart, InspectorToggle } from "../../app/Inspector.tsx";
import { Page } from "../../app/Page.tsx";
import type { ViewProps } from "../../app/section.ts";
import { useCall } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { bytes } from "../../parts/size.ts";
import { Await } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link } from "../../router.tsx";
import { threadName } from "../tree/model.ts";
import { useTree } from "../tree/tree.ts";
import { restoreArtifact, saveCopy } from "./artifact.ts";
import { ArtifactMenu } from "./ArtifactMenu.tsx";
import { ArtifactPreview } from "./ArtifactPreview.tsx";

export default function ArtifactView({ workspace, params }: ViewProps) {
  const query = useCall("artifact/get", { workspace_id: workspace, artifact_id: params["artifact"] ?? "" });
  return <Await query={query}>{({ artifact }) => <Artifact workspace={workspace} summary={artifact} />}</Await>;
}

function Artifact({ workspace, summary }: { workspace: string; summary: ArtifactSummary }) {
  const { artifact } = summary;
  const isReady = artifact.status === "ready";
  return (
    <Page
      title={artifact.display_name}
      back={address.files(workspace)}
      state={isReady ? bytes(artifact.size_bytes ?? 0) : <Status meaning="failed">{artifact.status}</Status>}
      actions={
        <>
          {isReady && (
            <Button icon="download" onClick={() => void saveCopy(workspace, artifact)}>
              Download
            </Button>
          )}
          {artifact.status === "deleted" && (
            <Button icon="undo" onClick={() => void restoreArtifact(workspace, artifact.artifact_id)}>
              Restore
            </Button>
          )}
          <ArtifactMenu workspace={workspace} summary={summary} />
          <InspectorToggle />
        </>
      }
    >
      <div className="artifact-page">
        <ArtifactPreview workspace={workspace} artifact={artifact} />
      </div>
      <Inspector title="About this file">
        <InspectorPart title="File">
          <dl className="facts">
            <dt>Type</dt>
            <dd>{artifact.kind}</dd>
            <dt>MIME type</dt>
            <dd>{artifact.mime_type ?? "Unknown"}</dd>
            <dt>Created by</dt>
            <dd>{summary.created_by_kind}</dd>
            <dt>Created</dt>
            <dd>
              <Time at={summary.created_at} />
            </dd>
            <dt>SHA-256</dt>
            <dd className="mono" title={artifact.sha256 ?? ""}>
              {artifact.sha256?.slice(0, 16)}…
            </dd>
          </dl>
        </InspectorPart>
        <Uses workspace={workspace} summary={summary} />
        <Versions workspace={workspace} artifact={artifact.artifact_id} />
      </Inspector>
    </Page>
  );
}

function Uses({ workspace, summary }: { workspace: string; summary: ArtifactSummary }) {
  const { query } = useTree(workspace);
  const nameOf = (id: string) => {
    const thread = query.data?.threads.find((one) => one.id === id);
    return thread ? threadName(thread) : "a thread";
  };
  return (
    <InspectorPart title="Used in">
      {summary.bindings.length === 0 && <p className="muted">Not used yet.</p>}
      <ul>
        {summary.bindings.map(({ binding_id, binding_kind, thread_id, created_at }) => (
          <li key={binding_id} className="row-title">
            {thread_id ? (
              <span>
                {binding_kind.replaceAll("_", " ")} in{" "}
                <Link to={address.thread(workspace, thread_id)}>{nameOf(thread_id)}</Link>
              </span>
            ) : (
              <span>{binding_kind.replaceAll("_", " ")}</span>
            )}
            <Time at={created_at} />
          </li>
        ))}
      </ul>
    </InspectorPart>
  );
}

function Versions({ workspace, artifact }: { workspace: string; artifact: string }) {
  const query = useCall("artifact/versions/list", { workspace_id: workspace, artifact_id: artifact });
  return (
    <InspectorPart title="Versions">
      <Await query={query} lines={2}>
        {({ items }) => (
          <ul>
            {items.map(({ version_id, version_number, size_bytes, created_at }) => (
              <li key={version_id} className="row-title">
                <span>
                  {version_number} · {bytes(size_bytes)}
                </span>
                <Time at={created_at} />
              </li>
            ))}
          </ul>
        )}
      </Await>
    </InspectorPart>
  );
}
