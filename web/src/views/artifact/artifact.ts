// Artifacts: icons, filters and actions.

import {
  contentRequest,
  downloadBlob,
  type ArtifactKind,
  type ArtifactRef,
  type ArtifactSummary,
} from "@accord/client";
import { attempt, call } from "../../data/calls.ts";
import { client } from "../../data/client.ts";
import { handOver } from "../../data/hand-over.ts";
import type { IconName } from "../../parts/Icon.tsx";
import { toast } from "../../parts/toast.tsx";

const IMAGES: ArtifactKind[] = ["image", "generated_image", "screenshot"];

export const isImage = ({ kind }: ArtifactRef) => IMAGES.includes(kind);

export function iconOf(artifact: ArtifactRef): IconName {
  if (isImage(artifact)) return "image";
  return artifact.kind === "text" || artifact.kind === "pdf" || artifact.kind === "json" ? "doc" : "file";
}

/** Fetches an image. An `<img>` element does not send the page key. */
export async function fetchPicture(
  workspace_id: string,
  { artifact_id, version_id }: ArtifactRef,
  signal: AbortSignal,
): Promise<Blob> {
  const { url, headers } = contentRequest(client, { workspace_id, artifact_id, version_id: version_id ?? null });
  const answer = await fetch(url, { headers, signal });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.blob();
}

export const FILTERS = ["all", "uploaded", "generated", "task outputs", "images", "documents"] as const;
export type Filter = (typeof FILTERS)[number];

export function passes(filter: Filter, { artifact, bindings, created_by_kind }: ArtifactSummary): boolean {
  switch (filter) {
    case "all":
      return true;
    case "uploaded":
      return created_by_kind === "user" || created_by_kind === "import";
    case "generated":
      return ["agent", "tool", "external_agent"].includes(created_by_kind);
    case "task outputs":
      return created_by_kind === "task" || bindings.some(({ binding_kind }) => binding_kind === "task_result");
    case "images":
      return isImage(artifact);
    case "documents":
      return ["text", "pdf", "spreadsheet", "json"].includes(artifact.kind);
  }
}

/** Downloads a file, verifies its hashes, and saves it through the browser. */
export async function saveCopy(workspace_id: string, artifact: ArtifactRef): Promise<void> {
  await attempt("Downloading", async () => {
    const { artifact_id, version_id } = artifact;
    const blob = await downloadBlob(client, { workspace_id, artifact_id, version_id: version_id ?? null });
    handOver(blob, artifact.display_name);
  });
}

export async function deleteArtifact(workspace_id: string, { artifact_id, display_name }: ArtifactRef): Promise<void> {
  await attempt("Deleting the file", async () => {
    await call("artifact/delete", { workspace_id, artifact_id }, { retry: true });
    toast({
      text: `“${display_name}” deleted`,
      action: { label: "Undo", run: () => void restoreArtifact(workspace_id, artifact_id) },
    });
  });
}

export async function restoreArtifact(workspace_id: string, artifact_id: string): Promise<void> {
  await attempt("Restoring the file", () => call("artifact/restore", { workspace_id, artifact_id }, { retry: true }));
}

export async function bindToThread(
  workspace_id: string,
  { artifact_id, version_id }: ArtifactRef,
  thread_id: string,
): Promise<void> {
  await attempt("Attaching the file", async () => {
    await call(
      "artifact/bind",
      {
        workspace_id,
        artifact_id,
        version_id: version_id ?? null,
        thread_id,
        binding_kind: "manual_attach",
        direction: "context",
        role: "user",
      },
      { retry: true },
    );
    toast({ text: "File added to the thread" });
  });
}
