// An evidence file of a milestone: a patch as a diff, other files as text.

import type { MilestoneEvidenceReadResponse } from "@accord/client";
import { useCall } from "../../data/calls.ts";
import { Markdown } from "../../parts/Markdown.tsx";
import { Patch } from "../../parts/Patch.tsx";
import { body, Code } from "../company/Code.tsx";
import { ME } from "../company/me.ts";

export interface EvidenceProps {
  dir: string;
  project: string;
  /** The milestone report that lists the file. */
  report: string;
  id: string;
}

export function useEvidence({ dir, project, report, id }: EvidenceProps) {
  return useCall("milestone.evidence.read", {
    workspace_dir: dir,
    project_id: project,
    report_artifact_id: report,
    evidence_artifact_id: id,
    ...ME,
  });
}

export function EvidenceContent({ evidence }: { evidence: MilestoneEvidenceReadResponse }) {
  const { kind, text, truncated, evidence_artifact_id: id } = evidence;
  return (
    <>
      {kind === "patch" && <Patch text={text} />}
      {kind === "document" && <Markdown text={body(text)} />}
      {(kind === "text" || kind === "json") && <Code text={text} label={`Contents of ${id}`} />}
      {truncated && <p className="muted">Only the first MiB of the file is shown.</p>}
    </>
  );
}
