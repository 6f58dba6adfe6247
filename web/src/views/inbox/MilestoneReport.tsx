// A milestone report: the change that approval makes, and the evidence.

import { useEffect } from "react";
import { useCall } from "../../data/calls.ts";
import { Diff } from "../../parts/Diff.tsx";
import { Markdown } from "../../parts/Markdown.tsx";
import { Patch } from "../../parts/Patch.tsx";
import { Status } from "../../parts/Status.tsx";
import { Table } from "../../parts/Table.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import { withoutTitle } from "../company/Code.tsx";
import { shortId } from "../company/names.ts";
import { milestoneBefore, rememberMilestone } from "./decide.ts";
import type { ProposalProps } from "./document.ts";

export function MilestoneReport({ document, workspace, dir, isDecided }: ProposalProps) {
  const tasks = useCall("task.list", { workspace_dir: dir, project_id: document.project }).data;
  const task = tasks?.tasks.find(({ task_id }) => task_id === document.text("task_id"));
  const milestone = task?.frontmatter.milestones.find(({ id }) => id === document.text("milestone_id"));
  const status = milestone?.status;
  useEffect(() => {
    if (!isDecided && status && status !== "done") rememberMilestone(document.id, status);
  }, [isDecided, document.id, status]);
  // After approval the task contains `done`, and no document contains the previous status. Only a milestone that is not
  // done can be approved.
  const known = milestoneBefore(document.id) ?? (isDecided ? "not done" : "done");
  const was = milestone?.status === "done" ? known : milestone?.status;
  const evidence = [
    {
      name: "Patch",
      isNeeded: milestone?.evidence?.requires_patch ?? milestone?.kind === "coding",
      ids: document.list("evidence_artifacts"),
    },
    { name: "Tests", isNeeded: milestone?.evidence?.requires_tests ?? false, ids: document.list("tests_artifacts") },
  ];
  const patches = document.files("evidence").filter(({ relpath }) => relpath.endsWith(".patch"));
  return (
    <>
      <p className="proposal-lead">
        {isDecided ? "Milestone " : "Approving marks the milestone "}
        <strong>{milestone?.title ?? shortId(document.text("milestone_id"))}</strong>
        {isDecided ? " in " : " as done in "}
        <Link to={at.plan(workspace, document.project, document.text("task_id"))}>
          {task?.frontmatter.title ?? shortId(document.text("task_id"))}
        </Link>
      </p>
      {task && milestone && (
        <Diff
          before={task.frontmatter.milestones
            .map(({ id, title, status }) => `${title}: ${id === milestone.id ? was : status}`)
            .join("\n")}
          after={task.frontmatter.milestones
            .map(({ id, title, status }) => `${title}: ${id === milestone.id ? "done" : status}`)
            .join("\n")}
          label={`milestones of ${task.frontmatter.title}`}
        />
      )}
      <section className="block">
        <h2>Evidence</h2>
        <Table label="Evidence" columns={["Type", "Required", { title: "Provided", as: "wide" }]}>
          {evidence.map(({ name, isNeeded, ids }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{isNeeded ? "Yes" : "No"}</td>
              <td className="wide">
                {ids.length > 0 ? (
                  <ul className="plain-lines">
                    {ids.map((id) => (
                      <li key={id}>
                        <Link to={at.evidence(workspace, document.project, document.id, id)}>{id}</Link>
                      </li>
                    ))}
                  </ul>
                ) : (
                  <Status meaning={isNeeded ? "failed" : "idle"}>{isNeeded ? "Missing" : "None"}</Status>
                )}
              </td>
            </tr>
          ))}
        </Table>
        <div className="evidence">
          {patches.map(({ relpath, text, truncated }) => (
            <div key={relpath}>
              <Patch text={text ?? ""} />
              {truncated && <p className="muted">Only the first MiB of the file is shown.</p>}
            </div>
          ))}
        </div>
        {milestone && milestone.acceptance_criteria.length > 0 && (
          <>
            <h2 className="block-second">Acceptance criteria</h2>
            <Markdown text={milestone.acceptance_criteria.map((one) => `- ${one}`).join("\n")} />
          </>
        )}
      </section>
      <section className="block">
        <h2>Report</h2>
        <Markdown text={withoutTitle(document.markdown)} />
      </section>
    </>
  );
}
