// What a document in the inbox would change, by its type.

import type { CompanyArtifactReadResponse } from "@accord/client";
import { Diff } from "../../parts/Diff.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Markdown } from "../../parts/Markdown.tsx";
import { Status } from "../../parts/Status.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import { isRecord } from "../company/events.ts";
import { meaningOf } from "../company/meaning.ts";
import { shortId, words, type Names } from "../company/names.ts";
import { body, Code, firstCode, withoutTitle } from "../company/Code.tsx";
import { useRead } from "../company/reads.ts";

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

interface Props {
  document: ProposedDocument;
  workspace: string;
  dir: string;
  names: Names;
  isDecided: boolean;
}

export function Proposal(props: Props) {
  if (props.document.type === "memory_delta") return <MemoryDelta {...props} />;
  if (props.document.type === "milestone_report") return <MilestoneReport {...props} />;
  if (props.document.type === "heartbeat_action_proposal") return <ActionProposal {...props} />;
  return <Markdown text={props.document.markdown} />;
}

/** The line of the heading and the lines that go below it, as the document says them. */
function insertion(markdown: string): { heading: string; lines: string } {
  const heading = /inserted_under:\s*`?([^`\n]+)`?/.exec(markdown)?.[1]?.trim() ?? "";
  return { heading, lines: firstCode(markdown) };
}

function MemoryDelta({ document, workspace, names, isDecided }: Props) {
  const { heading, lines } = insertion(document.markdown);
  const target = document.text("target_file");
  const isGuidance = document.text("scope_kind") === "agent_guidance";
  return (
    <>
      <p className="proposal-lead">
        {names.actor(document.text("produced_by"))} {isDecided ? "wanted" : "wants"} to add to{" "}
        {isGuidance ? (
          <>
            the guidance of{" "}
            <Link to={at.agent(workspace, document.text("scope_ref"))}>{names.actor(document.text("scope_ref"))}</Link>
          </>
        ) : (
          <>
            the memory of <Link to={at.project(workspace, document.project)}>{names.project(document.project)}</Link>
          </>
        )}
        {document.text("rationale") && <>, because: {document.text("rationale")}</>}
      </p>
      <Diff before={heading} after={`${heading}\n${lines}`} label={target} />
      <Evidence document={document} workspace={workspace} />
    </>
  );
}

function Evidence({ document, workspace }: { document: ProposedDocument; workspace: string }) {
  const evidence = document.list("evidence");
  if (evidence.length === 0) return null;
  return (
    <section className="block">
      <h2>Evidence</h2>
      <ul className="plain-lines">
        {evidence.map((one) => (
          <li key={one}>
            {one.startsWith("run:") ? (
              <Link to={at.run(workspace, document.project, one.slice(4))}>Run {shortId(one.slice(4))}</Link>
            ) : one.startsWith("job:") ? (
              <Link to={at.job(workspace, document.project, one.slice(4))}>Job {shortId(one.slice(4))}</Link>
            ) : (
              <Link to={at.document(workspace, document.project, one)}>Document {shortId(one)}</Link>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function MilestoneReport({ document, workspace, dir, isDecided }: Props) {
  const tasks = useRead("task.list", { workspace_dir: dir, project_id: document.project }).data;
  const task = tasks?.tasks.find(({ task_id }) => task_id === document.text("task_id"));
  const milestone = task?.frontmatter.milestones.find(({ id }) => id === document.text("milestone_id"));
  const evidence = [
    {
      name: "A patch",
      isNeeded: milestone?.evidence?.requires_patch ?? milestone?.kind === "coding",
      ids: document.list("evidence_artifacts"),
    },
    { name: "Tests", isNeeded: milestone?.evidence?.requires_tests ?? false, ids: document.list("tests_artifacts") },
  ];
  return (
    <>
      <p className="proposal-lead">
        {isDecided ? "The decision was about the milestone " : "Approving marks the milestone "}
        <strong>{milestone?.title ?? shortId(document.text("milestone_id"))}</strong>
        {isDecided ? " of " : " as done in "}
        <Link to={at.plan(workspace, document.project, document.text("task_id"))}>
          {task?.frontmatter.title ?? shortId(document.text("task_id"))}
        </Link>
      </p>
      {task && milestone && (
        <Diff
          before={task.frontmatter.milestones.map(({ title, status }) => `${title}: ${status}`).join("\n")}
          after={task.frontmatter.milestones
            .map(({ id, title, status }) => `${title}: ${id === milestone.id ? "done" : status}`)
            .join("\n")}
          label={`milestones of ${task.frontmatter.title}`}
        />
      )}
      <section className="block">
        <h2>Evidence</h2>
        <table className="table">
          <thead>
            <tr>
              <th>What</th>
              <th>Needed</th>
              <th className="wide">Given</th>
            </tr>
          </thead>
          <tbody>
            {evidence.map(({ name, isNeeded, ids }) => (
              <tr key={name}>
                <td>{name}</td>
                <td>{isNeeded ? "yes" : "no"}</td>
                <td className="wide">
                  {ids.length > 0 ? (
                    <Status meaning="done">{ids.map(shortId).join(", ")}</Status>
                  ) : (
                    <Status meaning={isNeeded ? "failed" : "idle"}>{isNeeded ? "missing" : "none"}</Status>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {milestone && milestone.acceptance_criteria.length > 0 && (
          <>
            <h2 className="block-second">It is good when</h2>
            <Markdown text={milestone.acceptance_criteria.map((one) => `- ${one}`).join("\n")} />
          </>
        )}
      </section>
      <section className="block">
        <h2>The report</h2>
        <Markdown text={withoutTitle(document.markdown)} />
      </section>
    </>
  );
}

function ActionProposal({ document, names, isDecided }: Props) {
  const action = isRecord(document.front["proposed_action"]) ? document.front["proposed_action"] : {};
  const value = (name: string) => (typeof action[name] === "string" ? action[name] : "");
  const risk = value("risk");
  const isJob = value("kind") === "launch_job";
  return (
    <>
      <p className="proposal-lead">
        {isDecided ? "The decision was about an action: " : "Approving does this at once: "}
        <strong>{words(value("kind"))}</strong>
        {document.text("rationale") && <>, because: {document.text("rationale")}</>}
      </p>
      <div className={risk === "high" ? "notice failed" : "notice"}>
        <Icon name={risk === "high" ? "alert" : "info"} />
        <span>Risk: {risk || "unknown"}</span>
      </div>
      <dl className="facts">
        {isJob && (
          <>
            <dt>Goal</dt>
            <dd>{value("goal")}</dd>
            <dt>Worker</dt>
            <dd>
              {value("worker_agent_id") ? names.actor(value("worker_agent_id")) : "chosen when it starts"}
              {value("worker_kind") && ` on ${value("worker_kind")}`}
            </dd>
            <dt>May</dt>
            <dd>
              <Status meaning={value("permission_level") === "run-commands" ? "waiting" : meaningOf("ready")}>
                {words(value("permission_level") || "read-only")}
              </Status>
            </dd>
          </>
        )}
        {value("body") && (
          <>
            <dt>Says</dt>
            <dd>{value("body")}</dd>
          </>
        )}
      </dl>
      <section className="block">
        <h2>The exact action</h2>
        <Code text={JSON.stringify(action, null, 2)} label="The exact action" />
      </section>
      <section className="block">
        <h2>The proposal</h2>
        <Markdown
          text={withoutTitle(document.markdown).replace(/^## Proposed Action\n[\s\S]*?(?=^## |$(?![\s\S]))/m, "")}
        />
      </section>
    </>
  );
}
