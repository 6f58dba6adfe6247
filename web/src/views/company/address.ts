// The addresses of the objects of a company, below those of its workspace.

const part = encodeURIComponent;
const base = (workspace: string) => `/w/${part(workspace)}`;

/** Stands for the company itself where an address could name a project. */
export const COMPANY = "company";

export const at = {
  home: (workspace: string) => `${base(workspace)}/home`,
  /** The same view as `home`, which a phone shows as the list of projects. */
  overview: (workspace: string) => `${base(workspace)}/overview`,
  open: (workspace: string) => `${base(workspace)}/open`,
  project: (workspace: string, project: string) => `${base(workspace)}/home/${part(project)}`,
  document: (workspace: string, project: string, artifact: string) =>
    `${base(workspace)}/home/${part(project)}/doc/${part(artifact)}`,
  /** A file that proves a milestone, named by the report that lists it. */
  evidence: (workspace: string, project: string, report: string, evidence: string) =>
    `${base(workspace)}/home/${part(project)}/evidence/${part(report)}/${part(evidence)}`,
  inbox: (workspace: string) => `${base(workspace)}/inbox`,
  item: (workspace: string, project: string, artifact: string) =>
    `${base(workspace)}/inbox/${part(project)}/${part(artifact)}`,
  /** A proposed change of an AGENTS.md. */
  proposal: (workspace: string, proposal: string) => `${base(workspace)}/inbox/agents/${part(proposal)}`,
  runs: (workspace: string) => `${base(workspace)}/runs`,
  /** A run, optionally at the place of one of its events. */
  run: (workspace: string, project: string, run: string, seq?: number | null) =>
    `${base(workspace)}/runs/${part(project)}/${part(run)}${seq ? `?event=${seq}` : ""}`,
  /** Everything a run printed. */
  output: (workspace: string, project: string, run: string) =>
    `${base(workspace)}/runs/${part(project)}/${part(run)}?show=output`,
  /** The same view as `runs`, which a phone shows as the list of runs. */
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
  /** The intake that made a project. */
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
