// A document of a project with its metadata and comments.

import "../company/company.css";
import { Page } from "../../app/Page.tsx";
import { Inspector, InspectorPart, InspectorToggle } from "../../app/Inspector.tsx";
import { useCall } from "../../data/calls.ts";
import { Markdown } from "../../parts/Markdown.tsx";
import { Await } from "../../parts/states.tsx";
import { Time } from "../../parts/Time.tsx";
import { at } from "../company/address.ts";
import { Comments } from "../company/Comments.tsx";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";
import { audience, shortId, useNames, words } from "../company/names.ts";
import { RunLink } from "../company/RunLink.tsx";
import { body } from "../company/Code.tsx";

export default function DocumentView({ workspace, dir, params }: CompanyViewProps) {
  const project = params["project"] ?? "";
  const artifact = params["artifact"] ?? "";
  const names = useNames(dir);
  const query = useCall("artifact.read", { workspace_dir: dir, project_id: project, artifact_id: artifact, ...ME });
  const front = query.data?.frontmatter ?? {};
  const text = (name: string) => (typeof front[name] === "string" ? front[name] : "");
  return (
    <Page
      title={text("title") || shortId(artifact)}
      back={at.project(workspace, project)}
      crumbs={[{ label: names.project(project), to: at.project(workspace, project) }]}
      state={words(text("type"))}
      actions={<InspectorToggle />}
    >
      <Await query={query}>
        {({ markdown, artifact_relpath }) => (
          <div className="page-column">
            <Markdown text={body(markdown)} />
            <Inspector title="Document">
              <InspectorPart title="Details">
                <dl className="facts">
                  <dt>File</dt>
                  <dd className="mono">{artifact_relpath}</dd>
                  <dt>Author</dt>
                  <dd>{names.actor(text("produced_by"))}</dd>
                  <dt>Created</dt>
                  <dd>{text("created_at") && <Time at={text("created_at")} />}</dd>
                  <dt>Visible to</dt>
                  <dd>{audience(text("visibility"))}</dd>
                  {text("run_id") && (
                    <>
                      <dt>Run</dt>
                      <dd>
                        <RunLink workspace={workspace} dir={dir} project={project} run={text("run_id")} />
                      </dd>
                    </>
                  )}
                </dl>
              </InspectorPart>
              <InspectorPart title="Comments">
                <Comments dir={dir} project={project} target={{ target_artifact_id: artifact }} names={names} />
              </InspectorPart>
            </Inspector>
          </div>
        )}
      </Await>
    </Page>
  );
}
