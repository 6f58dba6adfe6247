// Builds the addresses of the objects of a company, below that of its workspace.

const part = encodeURIComponent;
const base = (workspace: string) => `/w/${part(workspace)}`;

/** The company itself, in the place of a project id. */
export const COMPANY = "company";

export const at = {
  home: (workspace: string) => `${base(workspace)}/home`,
  /** The same view as `home`; on a phone, `home` shows the list of projects. */
  overview: (workspace: string) => `${base(workspace)}/overview`,
  open: (workspace: string) => `${base(workspace)}/open`,
  project: (workspace: string, project: string) => `${base(workspace)}/home/${part(project)}`,
  document: (workspace: string, project: string, artifact: string) =>
    `${base(workspace)}/home/${part(project)}/doc/${part(artifact)}`,
  /** An evidence file of a milestone report. */
  evidence: (workspace: string, project: string, report: string, evidence: string) =>
    `${base(workspace)}/home/${part(project)}/evidence/${part(report)}/${part(evidence)}`,
  inbox: (workspace: string) => `${base(workspace)}/inbox`,
  item: (workspace: string, project: string, artifact: string) =>
    `${base(workspace)}/inbox/${part(project)}/${part(artifact)}`,
  /** A proposed change of an AGENTS.md. */
  proposal: (workspace: string, proposal: string) => `${base(workspace)}/inbox/agents/${part(proposal)}`,
  runs: (workspace: string) => `${base(workspace)}/runs`,
  /** A run, optionally with one of its events selected. */
  run: (workspace: string, project: string, run: string, seq?: number | null) =>
    `${base(workspace)}/runs/${part(project)}/${part(run)}${seq ? `?event=${seq}` : ""}`,
  /** The output of a run. */
  output: (workspace: string, project: string, run: string) =>
    `${base(workspace)}/runs/${part(project)}/${part(run)}?show=output`,
  /** The same view as `runs`; on a phone, `runs` shows the list of runs. */
  live: (workspace: string) => `${base(workspace)}/live`,
  sessions: (workspace: string) => `${base(workspace)}/sessions`,
  jobs: (workspace: string) => `${base(workspace)}/jobs`,
  job: (workspace: string, project: string, job: string) => `${base(workspace)}/jobs/${part(project)}/${part(job)}`,
  plans: (workspace: string) => `${base(workspace)}/plan`,
  allPlans: (workspace: string) => `${base(workspace)}/plans`,
  /** The plan of a project, optionally with one of its tasks open. */
  plan: (workspace: string, project: string, task?: string | null) =>
    `${base(workspace)}/plan/${part(project)}${task ? `?task=${part(task)}` : ""}`,
  pipelines: (workspace: string) => `${base(workspace)}/pipelines`,
  /** The client intake that created a project. */
  pipeline: (workspace: string, project: string) => `${base(workspace)}/pipelines/${part(project)}`,
  conversations: (workspace: string) => `${base(workspace)}/chat`,
  conversation: (workspace: string, project: string | null | undefined, conversation: string) =>
    `${base(workspace)}/chat/${part(project ?? COMPANY)}/${part(conversation)}`,
  usage: (workspace: string) => `${base(workspace)}/usage`,
  people: (workspace: string) => `${base(workspace)}/people`,
  teams: (workspace: string) => `${base(workspace)}/teams`,
  agent: (workspace: string, agent: string) => `${base(workspace)}/people/${part(agent)}`,
  heartbeat: (workspace: string) => `${base(workspace)}/heartbeat`,
};
