// Names of agents, teams and projects.

import type { AgentRow, ProjectRow, TeamRow } from "@accord/client";
import { useMemo } from "react";
import { useCall } from "../../data/calls.ts";
import { count } from "../../parts/size.ts";

export interface Names {
  /** Whether agents, teams and projects are loaded. */
  isKnown: boolean;
  agents: AgentRow[];
  teams: TeamRow[];
  projects: ProjectRow[];
  /** Returns the name of an actor: an agent, a person or Accord. */
  actor: (id: string | null | undefined) => string;
  team: (id: string | null | undefined) => string;
  project: (id: string | null | undefined) => string;
}

const KNOWN: Record<string, string> = { human: "You", human_ceo: "You", system: "Accord" };

export function useNames(dir: string): Names {
  const agents = useCall("workspace.agents.list", { workspace_dir: dir }).data;
  const teams = useCall("workspace.teams.list", { workspace_dir: dir }).data;
  const projects = useCall("workspace.projects.list", { workspace_dir: dir }).data;
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
      actor: (id) => (id ? (KNOWN[id] ?? agentNames.get(id) ?? shortId(id)) : "Unassigned"),
      team: (id) => (id ? (teamNames.get(id) ?? shortId(id)) : "No team"),
      project: (id) => (id ? (projectNames.get(id) ?? shortId(id)) : "No project"),
    };
  }, [agents, teams, projects]);
}

/** Returns the name of an agent. The stored name of a secretary contains the project id, so it is replaced. */
function nameOf({ agent_id, name }: AgentRow, projects: Map<string, string>): string {
  const project = projects.get(agent_id.replace(/^agent_secretary_/, ""));
  return project ? `${project} secretary` : name;
}

/** Returns the name of a run: the first line of its goal, or its agent. */
export function runName(
  run: { goal?: string | null | undefined; agent_id?: string | null | undefined } | undefined,
  names: Names,
): string {
  return firstLine(run?.goal) || `Run by ${names.actor(run?.agent_id)}`;
}

/** Returns the name of a job: the first line of its goal, or its id. */
export function jobName({ goal, job_id }: { goal?: string | null | undefined; job_id: string }): string {
  return firstLine(goal) || shortId(job_id);
}

/** Returns the first line of a goal; blank without a goal. */
export function firstLine(text: string | null | undefined): string {
  return text?.trim().split("\n")[0]?.trim() ?? "";
}

/** Shortens an id to its prefix and its end, the part that differs. */
export function shortId(id: string): string {
  const [kind, ...rest] = id.split("_");
  const end = rest.join("_");
  return end.length > 10 ? `${kind}_…${end.slice(-5)}` : id;
}

/** `3 runs`, `1 run`. */
export function plural(number: number, thing: string): string {
  return `${count(number)} ${thing}${number === 1 ? "" : "s"}`;
}

const TYPES: Record<string, string> = {
  memory_delta: "Memory",
  milestone_report: "Milestone",
  milestone: "Milestone",
  heartbeat_action_proposal: "Action",
  heartbeat_action: "Action",
};

/** Returns the type of an inbox item in one word. */
export function subjectWord(type: string): string {
  return TYPES[type] ?? words(type);
}

const AUDIENCES: Record<string, string> = {
  org: "Everyone in the company",
  managers: "Managers",
  team: "The team",
  private_agent: "Only the agent",
};

/** Returns the audience of a visibility. */
export function audience(visibility: string): string {
  return AUDIENCES[visibility] ?? words(visibility);
}

/** Formats an identifier as text: `in_progress` becomes `In progress`. */
export function words(term: string): string {
  const text = term.replace(/[_.]/g, " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
