// A document in the inbox as views use it.

import type { CompanyArtifactReadResponse } from "@accord/client";
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
  /** A text of the front matter; blank if it is none. */
  text: (name: string) => string;
  /** A list of texts of the front matter. */
  list: (name: string) => string[];
}

export function readDocument({
  artifact_id,
  artifact_relpath,
  frontmatter,
  markdown,
}: CompanyArtifactReadResponse): ProposedDocument {
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
    type: text("type"),
    title: text("title") || shortId(artifact_id),
    relpath: artifact_relpath,
    project: text("project_id"),
    markdown: body(markdown),
    front: frontmatter,
    text,
    list,
  };
}

/** What the view of a proposal is given. */
export interface ProposalProps {
  document: ProposedDocument;
  workspace: string;
  dir: string;
  names: Names;
  isDecided: boolean;
}
