// A document of the inbox.

import type { InboxFile, InboxFileRole, InboxReadResponse } from "@accord/client";
import { body } from "../company/Code.tsx";
import { shortId, type Names } from "../company/names.ts";

export interface ProposedDocument {
  id: string;
  type: string;
  title: string;
  relpath: string;
  project: string;
  markdown: string;
  front: Record<string, unknown>;
  /** Returns a text of the front matter; blank if it is absent. */
  text: (name: string) => string;
  /** Returns a list of texts of the front matter; empty if it is absent. */
  list: (name: string) => string[];
  /** Returns the other files that the decision is based on. */
  files: (role: InboxFileRole) => InboxFile[];
}

export function readDocument({
  project_id,
  artifact_id,
  artifact_type,
  frontmatter,
  files,
}: InboxReadResponse): ProposedDocument {
  const file = files.find(({ role }) => role === "document");
  const text = (name: string) => {
    const value = frontmatter[name];
    return typeof value === "string" ? value : "";
  };
  const list = (name: string) => {
    const value = frontmatter[name];
    return Array.isArray(value) ? value.map(String) : [];
  };
  return {
    id: artifact_id,
    type: artifact_type,
    title: text("title") || shortId(artifact_id),
    relpath: file?.relpath ?? "",
    project: project_id,
    markdown: body(file?.text ?? ""),
    front: frontmatter,
    text,
    list,
    files: (role) => files.filter((one) => one.role === role),
  };
}

/** The props of the views of proposals. */
export interface ProposalProps {
  document: ProposedDocument;
  workspace: string;
  dir: string;
  names: Names;
  isDecided: boolean;
}
