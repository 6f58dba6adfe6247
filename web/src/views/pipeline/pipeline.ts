// The status of a client intake, derived from its run, its tasks and its reviews.

import type { AgentRow, IndexedReview, RunRow, TaskRow } from "@accord/client";
import { useMemo } from "react";
import { useCall } from "../../data/calls.ts";
import type { Meaning } from "../../parts/Status.tsx";
import { readEvent } from "../company/events.ts";
import { ME } from "../company/me.ts";
import type { Names } from "../company/names.ts";

export type PipelineState = "decide" | "denied" | "assign" | "working" | "done";

export const STATES: Record<PipelineState, { meaning: Meaning; label: string }> = {
  decide: { meaning: "waiting", label: "Needs approval" },
  denied: { meaning: "failed", label: "Denied" },
  assign: { meaning: "waiting", label: "Ready to assign" },
  working: { meaning: "running", label: "In progress" },
  done: { meaning: "done", label: "Done" },
};

/** A department with its plan and its workers. */
export interface Department {
  key: string;
  label: string;
  director: string;
  /** The id of the document with its plan. */
  plan: string;
  /** The planning task of its director. */
  planning: TaskRow;
  workers: AgentRow[];
  /** The tasks assigned to its workers for the executive plan. */
  tasks: TaskRow[];
}

export interface Pipeline {
  brief: string | undefined;
  executivePlan: string | undefined;
  transcript: string | undefined;
  /** The id of the proposal to approve the executive plan. */
  proposal: string | undefined;
  /** The last decision on the proposal; undefined while it is pending. */
  decision: IndexedReview | undefined;
  departments: Department[];
  state: PipelineState;
}

// Prefixes of acceptance criteria that are followed by the id of a plan.
const DEPARTMENT_PLAN = "Department plan artifact exists: ";
const EXECUTIVE_PLAN = "Executive plan reference: ";

/** Reads all runs, newest first; `isIntake` selects those of client intakes. */
export function useIntakes(dir: string) {
  return useCall("run.list", { workspace_dir: dir });
}

export const isIntake = ({ provider }: RunRow) => provider === "pipeline";

/** Returns the state of an intake; undefined until everything is loaded. */
export function usePipeline(dir: string, { project_id, run_id }: RunRow, names: Names): Pipeline | undefined {
  const where = { workspace_dir: dir, project_id };
  const replay = useCall("run.replay", { ...where, run_id, mode: "raw", limit: 200 }).data;
  const tasks = useCall("task.list", where).data?.tasks;
  const reviews = useCall("index.list_reviews", { ...where, ...ME }).data;
  return useMemo(() => {
    if (!replay || !tasks || !reviews) return undefined;
    const produced = replay.events
      .map((event, i) => readEvent(event, i + 1))
      .filter(({ type }) => type === "artifact.produced")
      .map(({ payload }) => ({ id: String(payload["artifact_id"]), type: payload["artifact_type"] }));
    const first = (type: string) => produced.find((document) => document.type === type)?.id;
    const executivePlan = first("executive_plan");
    const proposal = first("heartbeat_action_proposal");
    const decision = reviews.find(({ subject_artifact_id }) => subject_artifact_id === proposal);
    const departments = tasks
      .flatMap((task) => departmentOf(task, tasks, executivePlan, names) ?? [])
      .sort((a, b) => a.label.localeCompare(b.label));
    return {
      brief: first("intake_brief"),
      executivePlan,
      transcript: first("meeting_transcript"),
      proposal,
      decision,
      departments,
      state: stateOf(decision, departments),
    };
  }, [replay, tasks, reviews, names]);
}

function departmentOf(
  planning: TaskRow,
  tasks: TaskRow[],
  executivePlan: string | undefined,
  names: Names,
): Department | undefined {
  const plan = criterion(planning, DEPARTMENT_PLAN);
  const { team_id, assignee_agent_id } = planning.frontmatter;
  const team = names.teams.find((one) => one.team_id === team_id);
  if (!plan || !team || !assignee_agent_id) return undefined;
  return {
    key: team.department_key ?? team.name.toLowerCase().replaceAll(" ", "_"),
    label: team.department_label ?? team.name,
    director: assignee_agent_id,
    plan,
    planning,
    workers: names.agents.filter((agent) => agent.team_id === team_id && agent.role === "worker"),
    tasks: tasks.filter(
      (task) => task.frontmatter.team_id === team_id && criterion(task, EXECUTIVE_PLAN) === executivePlan,
    ),
  };
}

/** Returns the rest of the acceptance criterion that starts with a prefix. */
function criterion({ frontmatter }: TaskRow, begins: string): string | undefined {
  const criteria = frontmatter.milestones.flatMap(({ acceptance_criteria }) => acceptance_criteria);
  return criteria.find((one) => one.startsWith(begins))?.slice(begins.length);
}

function stateOf(decision: IndexedReview | undefined, departments: Department[]): PipelineState {
  if (!decision) return "decide";
  if (decision.decision !== "approved") return "denied";
  if (departments.some(({ tasks, workers }) => tasks.length === 0 && workers.length > 0)) return "assign";
  const isOver = ({ frontmatter: { status } }: TaskRow) => status === "done" || status === "canceled";
  return departments.every(({ tasks }) => tasks.every(isOver)) ? "done" : "working";
}
