// The preview of a file: an image, text, JSON, or the text of a PDF.

import type { ArtifactProjectionKind, ArtifactRef } from "@accord/client";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useCall } from "../../data/calls.ts";
import { Loading } from "../../parts/states.tsx";
import { fetchPicture, isImage } from "./artifact.ts";

/** The maximum size of a text preview in bytes. */
const TEXT = 128 * 1024;

export function ArtifactPreview({ workspace, artifact }: { workspace: string; artifact: ArtifactRef }) {
  if (artifact.status !== "ready") return <p className="preview-none">No preview: the file is {artifact.status}.</p>;
  if (isImage(artifact)) return <Picture workspace={workspace} artifact={artifact} />;
  switch (artifact.kind) {
    case "pdf":
      return <Text workspace={workspace} artifact={artifact} projection="pdf_text" />;
    case "json":
    case "text":
    case "workspace_file":
    case "directory_manifest":
      return <Text workspace={workspace} artifact={artifact} />;
    default:
      return isTextual(artifact) ? (
        <Text workspace={workspace} artifact={artifact} />
      ) : (
        <p className="preview-none">No preview for this file type. Download the file to open it.</p>
      );
  }
}

function Picture({ workspace, artifact }: { workspace: string; artifact: ArtifactRef }) {
  const { data, error } = useQuery({
    queryKey: ["picture", workspace, artifact.artifact_id, artifact.version_id],
    queryFn: ({ signal }) => fetchPicture(workspace, artifact, signal),
    // A version of an artifact never changes.
    staleTime: Infinity,
    // Images may be large, and the browser caches them as well.
    gcTime: 0,
  });
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!data) return;
    const made = URL.createObjectURL(data);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  if (error) return <p className="preview-none">{error.message}</p>;
  if (!url) return <Loading lines={4} />;
  return <img className="preview-image" src={url} alt={artifact.display_name} />;
}

const isTextual = ({ mime_type }: ArtifactRef) => /^text\/|json|xml|yaml|toml|javascript/.test(mime_type ?? "");

function Text({
  workspace,
  artifact,
  projection,
}: {
  workspace: string;
  artifact: ArtifactRef;
  projection?: ArtifactProjectionKind;
}) {
  const { data, error } = useCall("artifact/read", {
    workspace_id: workspace,
    artifact_id: artifact.artifact_id,
    version_id: artifact.version_id ?? null,
    max_bytes: TEXT,
    ...(projection ? { projection_kind: projection } : {}),
  });
  if (error) {
    return (
      <p className="preview-none">
        {projection ? "The text of this file is not available yet." : String(error.message)}
      </p>
    );
  }
  if (!data) return <Loading lines={4} />;
  const text = decode(data.content_base64);
  const isWholeJson = artifact.kind === "json" && !data.truncated;
  return (
    <>
      <pre className="preview-text" tabIndex={0} aria-label={`Contents of ${artifact.display_name}`}>
        {isWholeJson ? indented(text) : text}
      </pre>
      {data.truncated && (
        <p className="muted small">Only the beginning is shown. Download the file to see all of it.</p>
      )}
    </>
  );
}

function decode(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
