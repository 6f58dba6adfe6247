// A client intake, step by step: brief, plans, decision and tasks.

import "../company/company.css";
import "./pipeline.css";
import type { RunRow } from "@accord/client";
import type { ReactNode } from "react";
import { Page } from "../../app/Page.tsx";
import { useCall } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Await, Empty, Loading } from "../../parts/states.tsx";
import { Status, StatusDot, type Meaning } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link, navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";
import { meaningOf } from "../company/meaning.ts";
import { useNames, words, type Names } from "../company/names.ts";
import { decide } from "../inbox/decide.ts";
import { DepartmentTasks } from "./DepartmentTasks.tsx";
import { isIntake, STATES, useIntakes, usePipeline, type Pipeline } from "./pipeline.ts";

export default function PipelineView({ workspace, dir, params }: CompanyViewProps) {
  const project = params["project"] ?? "";
  const names = useNames(dir);
  const query = useIntakes(dir);
  return (
    <Await query={query}>
      {(runs) => {
        const run = runs.find((one) => one.project_id === project && isIntake(one));
        return run ? (
          <Shown workspace={workspace} dir={dir} run={run} names={names} />
        ) : (
          <Empty icon="pipeline" title="This project has no client intake">
            Its plan and its tasks are in <Link to={at.plan(workspace, project)}>Plan</Link>.
          </Empty>
        );
      }}
    </Await>
  );
}

interface Props {
  workspace: string;
  dir: string;
  run: RunRow;
  names: Names;
}

function Shown({ workspace, dir, run, names }: Props) {
  const pipeline = usePipeline(dir, run, names);
  const project = run.project_id;
  return (
    <Page
      title={names.project(project)}
      back={at.pipelines(workspace)}
      crumbs={[
        { label: "Runs", to: at.live(workspace) },
        { label: "Client intakes", to: at.pipelines(workspace) },
      ]}
      state={pipeline && <Status meaning={STATES[pipeline.state].meaning}>{STATES[pipeline.state].label}</Status>}
      actions={
        <Button icon="plan" onClick={() => navigate(at.plan(workspace, project))}>
          Plan
        </Button>
      }
    >
      {pipeline ? (
        <div className="page-column">
          <Steps workspace={workspace} dir={dir} run={run} names={names} pipeline={pipeline} />
        </div>
      ) : (
        <Loading />
      )}
    </Page>
  );
}

function Steps({ workspace, dir, run, names, pipeline }: Props & { pipeline: Pipeline }) {
  const project = run.project_id;
  const { brief, executivePlan, transcript, departments, decision, state } = pipeline;
  const document = (id: string | undefined, label: string) =>
    id ? (
      <Link to={at.document(workspace, project, id)}>{label}</Link>
    ) : (
      <span className="muted">{label} was deleted</span>
    );
  const isApproved = decision?.decision === "approved";
  return (
    <ol className="steps" aria-label="Steps">
      <Step meaning="done" title="Client request">
        <p>
          {document(brief, "The brief")}, led by{" "}
          <Link to={at.agent(workspace, run.agent_id)}>{names.actor(run.agent_id)}</Link>{" "}
          <span className="muted">
            · <Time at={run.created_at} />
          </span>
        </p>
      </Step>
      <Step meaning="done" title="Department plans">
        {departments.length === 0 && <p className="muted">No department plans: no department has a director.</p>}
        <ul className="plain-lines">
          {departments.map(({ key, label, director, plan, planning }) => (
            <li key={key}>
              {document(plan, label)}
              <span className="muted">{names.actor(director)}</span>
              <Status meaning={meaningOf(planning.frontmatter.status)}>
                <Link to={at.plan(workspace, project, planning.task_id)}>
                  Planning: {words(planning.frontmatter.status).toLowerCase()}
                </Link>
              </Status>
            </li>
          ))}
        </ul>
      </Step>
      <Step meaning="done" title="Executive plan">
        <p>
          {document(executivePlan, "The executive plan")}, {document(transcript, "the meeting transcript")} and{" "}
          <Link to={at.conversation(workspace, project, `conv_${project}_planning_council`)}>
            the planning conversation
          </Link>
        </p>
      </Step>
      <Step meaning={decision ? (isApproved ? "done" : "failed") : "waiting"} title="Your decision">
        <Decision workspace={workspace} dir={dir} project={project} pipeline={pipeline} names={names} />
      </Step>
      <Step
        meaning={state === "done" ? "done" : state === "working" ? "running" : isApproved ? "waiting" : "idle"}
        title="Worker tasks"
      >
        {isApproved && executivePlan ? (
          departments.map((department) => (
            <DepartmentTasks
              key={department.key}
              workspace={workspace}
              dir={dir}
              project={project}
              executivePlan={executivePlan}
              department={department}
              names={names}
            />
          ))
        ) : (
          <p className="muted">
            {decision
              ? "The plan was denied. No tasks are assigned."
              : "Tasks can be assigned after you approve the plan."}
          </p>
        )}
      </Step>
    </ol>
  );
}

function Step({ meaning, title, children }: { meaning: Meaning; title: string; children: ReactNode }) {
  return (
    <li className="step">
      <StatusDot meaning={meaning} />
      <div>
        <h2>{title}</h2>
        {children}
      </div>
    </li>
  );
}

function Decision({
  workspace,
  dir,
  project,
  pipeline: { proposal, decision },
  names,
}: {
  workspace: string;
  dir: string;
  project: string;
  pipeline: Pipeline;
  names: Names;
}) {
  const shown = useCall(
    "inbox.read",
    { workspace_dir: dir, project_id: project, artifact_id: proposal ?? "", ...ME },
    { enabled: proposal !== undefined && !decision },
  ).data;
  if (!proposal)
    return <p className="muted">The proposal was deleted, so the plan can no longer be approved or denied.</p>;
  const item = { project_id: project, artifact_id: proposal, title: `Plan for ${names.project(project)}` };
  if (decision) {
    return (
      <p>
        <Link to={at.item(workspace, project, proposal)}>{words(decision.decision)}</Link> by{" "}
        {names.actor(decision.actor_id)} <Time at={decision.created_at} />
        {decision.notes && <>: {decision.notes}</>}
      </p>
    );
  }
  return (
    <>
      <p>
        After approval, departments can assign tasks for the executive plan. To add a note,{" "}
        <Link to={at.item(workspace, project, proposal)}>decide in the inbox</Link>.
      </p>
      <div className="step-actions">
        <Button
          kind="primary"
          disabled={!shown}
          onClick={() => shown && void decide(dir, item, "approved", shown.sha256)}
        >
          Approve plan
        </Button>
        <Button kind="danger" disabled={!shown} onClick={() => shown && void decide(dir, item, "denied", shown.sha256)}>
          Deny
        </Button>
      </div>
    </>
  );
}
