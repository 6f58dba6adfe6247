// The pending proposals for an AGENTS.md.

import { InspectorPart } from "../../app/Inspector.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import { useAuthor } from "./author.ts";
import { isPending, useProposals } from "./proposals.ts";

export function ScopeProposals({ workspace, folder }: { workspace: string; folder: string | undefined }) {
  const waiting = useProposals(workspace).filter(
    (proposal) => isPending(proposal) && (proposal.folder_id ?? undefined) === folder,
  );
  const nameOf = useAuthor(workspace);
  if (waiting.length === 0) return null;
  return (
    <InspectorPart title="Proposals">
      <ul className="proposals">
        {waiting.map(({ id, author, rationale, is_stale, created_at }) => (
          <li key={id}>
            <Link to={at.proposal(workspace, id)}>{rationale}</Link>
            <span className="muted">
              {nameOf(author)} · <Time at={created_at} />
            </span>
            {is_stale && <Status meaning="waiting">Outdated</Status>}
          </li>
        ))}
      </ul>
    </InspectorPart>
  );
}
