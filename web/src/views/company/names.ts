// What people call agents, teams and projects, whose ids are long.

import type { AgentRow, ProjectRow, TeamRow } from "@accord/client";
import { useMemo } from "react";
import { useRead } from "./reads.ts";

export interface Names {
  /** Whether the gateway has answered. */
  isKnown: boolean;
  agents: AgentRow[];
  teams: TeamRow[];
  projects: ProjectRow[];
  /** The name of whoever acted: an agent, a person, the company itself. */
  actor: (id: string | null | undefined) => string;
  team: (id: string | null | undefined) => string;
  project: (id: string | null | undefined) => string;
}

const KNOWN: Record<string, string> = { human: "You", human_ceo: "You", system: "Accord" };

export function useNames(dir: string): Names {
  const agents = useRead("workspace.agents.list", { workspace_dir: dir }).data;
  const teams = useRead("workspace.teams.list", { workspace_dir: dir }).data;
  const projects = useRead("workspace.projects.list", { workspace_dir: dir }).data;
  return useMemo(() => {
    const teamNames = new Map(teams?.map(({ team_id, name }) => [team_id, name]));
    const projectNames = new Map(projects?.projects.map(({ project_id, name }) => [project_id, name]));
    const named = (agents ?? []).map((agent) => ({ ...agent, name: nameOf(agent, projectNames) }));
    const agentNames = new Map(named.map(({ agent_id, name }) => [agent_id, name]));
    return {
      isKnown: agents !== undefined && teams !== undefined && projects !== undefined,
      agents: named,
      teams: teams ?? [],
      projects: projects?.projects ?? [],
      actor: (id) => (id ? (KNOWN[id] ?? agentNames.get(id) ?? shortId(id)) : "nobody"),
      team: (id) => (id ? (teamNames.get(id) ?? shortId(id)) : "no team"),
      project: (id) => (id ? (projectNames.get(id) ?? shortId(id)) : "no project"),
    };
  }, [agents, teams, projects]);
}

/** The secretary of a project is called after its id, which nobody can read. */
function nameOf({ agent_id, name }: AgentRow, projects: Map<string, string>): string {
  const project = projects.get(agent_id.replace(/^agent_secretary_/, ""));
  return project ? `Secretary of ${project}` : name;
}

/** The name of a run: the first line of its goal, or whose run it is. */
export function runName(
  run: { goal?: string | null | undefined; agent_id?: string | null | undefined } | undefined,
  names: Names,
): string {
  return firstLine(run?.goal) || `Run of ${names.actor(run?.agent_id)}`;
}

/** The name of a job: the first line of its goal, or its id. */
export function jobName({ goal, job_id }: { goal?: string | null | undefined; job_id: string }): string {
  return firstLine(goal) || shortId(job_id);
}

/** The first line of a goal; blank without one. */
export function firstLine(text: string | null | undefined): string {
  return text?.trim().split("\n")[0]?.trim() ?? "";
}

/** An id short enough for a line: its kind and its end, which is what differs. */
export function shortId(id: string): string {
  const [kind, ...rest] = id.split("_");
  const end = rest.join("_");
  return end.length > 10 ? `${kind}_…${end.slice(-5)}` : id;
}

/** `3 runs`, `1 run`. */
export function plural(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

const TYPES: Record<string, string> = {
  memory_delta: "Memory",
  milestone_report: "Milestone",
  milestone: "Milestone",
  heartbeat_action_proposal: "Action",
  heartbeat_action: "Action",
};

/** What a document in the inbox is about, in a word. */
export function subjectWord(type: string): string {
  return TYPES[type] ?? words(type);
}

const AUDIENCES: Record<string, string> = {
  org: "everybody in the company",
  managers: "managers",
  team: "its team",
  private_agent: "the agent alone",
};

/** Who may see something that has this visibility. */
export function audience(visibility: string): string {
  return AUDIENCES[visibility] ?? words(visibility);
}

/** `in_progress` as people write it. */
export function words(term: string): string {
  const text = term.replace(/[_.]/g, " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
