// An evidence file of a milestone report.

import "../company/company.css";
import { Inspector, InspectorPart, InspectorToggle } from "../../app/Inspector.tsx";
import { Page } from "../../app/Page.tsx";
import { Await } from "../../parts/states.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { useNames, words } from "../company/names.ts";
import { EvidenceContent, useEvidence } from "../inbox/Evidence.tsx";

export default function EvidenceView({ workspace, dir, params }: CompanyViewProps) {
  const project = params["project"] ?? "";
  const report = params["report"] ?? "";
  const id = params["evidence"] ?? "";
  const names = useNames(dir);
  const query = useEvidence({ dir, project, report, id });
  return (
    <Page
      title={id}
      back={at.project(workspace, project)}
      crumbs={[
        { label: names.project(project), to: at.project(workspace, project) },
        { label: "Milestone report", to: at.item(workspace, project, report) },
      ]}
      state={query.data && words(query.data.kind)}
      actions={<InspectorToggle />}
    >
      <Await query={query}>
        {(evidence) => (
          <div className="wide-column">
            <EvidenceContent evidence={evidence} />
            <Inspector title="Evidence">
              <InspectorPart title="Details">
                <dl className="facts">
                  <dt>File</dt>
                  <dd className="mono">{evidence.relpath}</dd>
                  <dt>Listed in</dt>
                  <dd>
                    <Link to={at.item(workspace, project, report)}>the milestone report</Link>
                  </dd>
                </dl>
              </InspectorPart>
            </Inspector>
          </div>
        )}
      </Await>
    </Page>
  );
}
