// An agent: its profile, runs and guidance.

import "../company/company.css";
import { Inspector, InspectorPart, InspectorToggle } from "../../app/Inspector.tsx";
import { Page } from "../../app/Page.tsx";
import { attempt, call, useCall } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { count, dollars } from "../../parts/size.ts";
import { Await } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link, navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import { Avatar } from "../company/Avatar.tsx";
import { Comments } from "../company/Comments.tsx";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";
import { useJobsOf } from "../company/jobs.ts";
import { meaningOf } from "../company/meaning.ts";
import { plural, runName, useNames, words } from "../company/names.ts";
import { RunStatus } from "../company/RunStatus.tsx";
import { Stats } from "../company/Stats.tsx";

export default function AgentView({ workspace, dir, params }: CompanyViewProps) {
  const agent_id = params["agent"] ?? "";
  const names = useNames(dir);
  const query = useCall("agent.profile.snapshot", { workspace_dir: dir, agent_id });
  const runs = useCall("monitor.snapshot", { workspace_dir: dir, limit: 1000 }).data?.rows.filter(
    (row) => row.agent_id === agent_id,
  );
  const jobOf = useJobsOf(dir, runs?.slice(0, 20));
  const deltas = useCall("memory.list_deltas", { workspace_dir: dir, ...ME, limit: 1000 }).data?.items;
  const taught = deltas?.filter(
    ({ scope_kind, scope_ref }) => scope_kind === "agent_guidance" && scope_ref === agent_id,
  );
  const project = runs?.[0]?.project_id ?? names.projects[0]?.project_id;
  const talk = () =>
    attempt("Opening the conversation", async () => {
      const { id } = await call("conversation.create_dm", {
        workspace_dir: dir,
        scope: "workspace",
        created_by: ME.actor_id,
        peer_agent_id: agent_id,
      });
      navigate(at.conversation(workspace, null, id));
    });
  return (
    <Page
      title={names.actor(agent_id)}
      back={at.people(workspace)}
      crumbs={[{ label: "Teams", to: at.teams(workspace) }]}
      actions={
        <>
          <Button icon="chat" onClick={() => void talk()}>
            Message
          </Button>
          <InspectorToggle />
        </>
      }
    >
      <Await query={query}>
        {({ agent, metrics }) => {
          // The gateway reports a total of 0 for runs without a price.
          const hasPrice = metrics.total_cost_usd > 0 || metrics.total_runs === 0;
          return (
            <div className="wide-column">
              <header className="agent-head">
                <Avatar name={agent.name} large />
                <div>
                  <p>
                    <strong>{agent.display_title ?? words(agent.role)}</strong>
                    {agent.team_id && <> in {names.team(agent.team_id)}</>}
                  </p>
                  <p className="muted">
                    {[
                      `Runs on ${agent.provider}`,
                      agent.model_hint,
                      agent.tenure_days === 0 ? "created today" : `created ${plural(agent.tenure_days, "day")} ago`,
                    ]
                      .filter(Boolean)
                      .join(" · ")}
                  </p>
                </div>
              </header>
              <Stats
                list={[
                  { label: "Runs", value: count(metrics.total_runs), note: `${count(metrics.running_runs)} active` },
                  {
                    label: "Completed",
                    value: count(metrics.ended_runs),
                    note: `${count(metrics.failed_runs)} failed, ${count(metrics.stopped_runs)} stopped`,
                  },
                  { label: "Tokens", value: count(metrics.total_tokens) },
                  {
                    label: "Cost",
                    value: hasPrice ? dollars(metrics.total_cost_usd) : "Unknown",
                    note: hasPrice ? "" : "no price set",
                  },
                  {
                    label: "Context resets",
                    value: metrics.context_cycles_count ?? "–",
                    note: metrics.context_cycles_count == null ? "not reported" : "",
                  },
                ]}
              />
              <section className="block">
                <h2>Runs</h2>
                {runs?.length === 0 && <p className="muted">No runs yet.</p>}
                <ul className="lines">
                  {runs?.slice(0, 20).map((run) => (
                    <li key={run.run_id}>
                      <Link className="line" to={at.run(workspace, run.project_id, run.run_id)}>
                        <RunStatus row={run} jobOf={jobOf} />
                        <span className="line-text">{runName(run, names)}</span>
                        <span className="muted">
                          {names.project(run.project_id)} · {run.provider}
                        </span>
                        {run.created_at && <Time at={run.created_at} />}
                      </Link>
                    </li>
                  ))}
                </ul>
              </section>
              <section className="block">
                <h2>Guidance</h2>
                {taught?.length === 0 && <p className="muted">No guidance proposed yet.</p>}
                <ul className="lines">
                  {taught?.map((delta) => (
                    <li key={delta.artifact_id}>
                      <Link className="line" to={at.item(workspace, delta.project_id, delta.artifact_id)}>
                        <Status meaning={meaningOf(delta.status)}>{words(delta.status)}</Status>
                        <span className="line-text">{delta.title}</span>
                        <Time at={delta.created_at} />
                      </Link>
                    </li>
                  ))}
                </ul>
              </section>
              <Inspector title="Agent">
                <InspectorPart title="Details">
                  <dl className="facts">
                    <dt>Id</dt>
                    <dd className="mono">{agent.agent_id}</dd>
                    <dt>Role</dt>
                    <dd>{words(agent.role)}</dd>
                    <dt>Created</dt>
                    <dd>
                      <Time at={agent.created_at} />
                    </dd>
                  </dl>
                </InspectorPart>
                {project && (
                  <InspectorPart title={`Comments in ${names.project(project)}`}>
                    <Comments dir={dir} project={project} target={{ target_agent_id: agent_id }} names={names} />
                  </InspectorPart>
                )}
              </Inspector>
            </div>
          );
        }}
      </Await>
    </Page>
  );
}
