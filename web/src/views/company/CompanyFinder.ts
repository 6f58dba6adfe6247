// Adds the objects of a company folder to the palette in every section, and subscribes to the events of the folder.

import type { SearchHit } from "@accord/client";
import { useEffect } from "react";
import { call, callOptions, queries } from "../../data/calls.ts";
import { usePalette } from "../../palette/registry.ts";
import type { IconName } from "../../parts/Icon.tsx";
import { navigate } from "../../router.tsx";
import { at } from "./address.ts";
import { useCompany } from "./folder.ts";
import { followCompany } from "./live.ts";
import { ME } from "./me.ts";
import { firstLine, jobName } from "./names.ts";

const ICONS: Record<SearchHit["kind"], IconName> = {
  artifact: "doc",
  message: "chat",
  comment: "chat",
  task: "plan",
  event: "run",
};
const KINDS: Record<SearchHit["kind"], string> = {
  artifact: "Document",
  message: "Message",
  comment: "Comment",
  task: "Task",
  event: "Event",
};

/** The views of a company that are not sections. */
const PLACES: { id: string; title: string; icon: IconName; to: (workspace: string) => string }[] = [
  { id: "live", title: "Run activity", icon: "history", to: at.live },
  { id: "sessions", title: "Run processes", icon: "run", to: at.sessions },
  { id: "jobs", title: "Jobs", icon: "doc", to: at.jobs },
  { id: "pipelines", title: "Client intakes", icon: "pipeline", to: at.pipelines },
  { id: "teams", title: "Teams", icon: "people", to: at.teams },
  { id: "heartbeat", title: "Heartbeat", icon: "history", to: at.heartbeat },
];

/** The dialogs that create something. */
const DIALOGS: typeof PLACES = [
  { id: "launch", title: "Start a run…", icon: "play", to: at.sessions },
  { id: "new-job", title: "New job…", icon: "plus", to: at.jobs },
  { id: "intake", title: "New client intake…", icon: "plus", to: at.pipelines },
  { id: "new-conversation", title: "New conversation…", icon: "chat", to: at.conversations },
];

export function CompanyFinder({ workspace }: { workspace: string }) {
  const { dir } = useCompany(workspace);
  useEffect(() => {
    if (dir) followCompany(dir);
  }, [dir]);
  usePalette({
    subject: dir,
    group: "Company",
    filters: true,
    find: async (query, signal) => {
      if (!dir || query.length < 2) return [];
      const { items } = await call(
        "index.search",
        { workspace_dir: dir, query: words(query), limit: 20, ...ME },
        { signal },
      );
      return items.map((hit) => ({
        id: `${hit.kind}-${hit.id}`,
        title: [hit.title, plain(hit.snippet)].filter(Boolean).join(" · "),
        hint: KINDS[hit.kind],
        icon: ICONS[hit.kind],
        run: () => navigate(addressOf(workspace, hit)),
      }));
    },
  });
  usePalette({
    subject: dir,
    group: "Go to",
    find: () => (dir ? PLACES.map(({ to, ...rest }) => ({ ...rest, run: () => navigate(to(workspace)) })) : []),
  });
  usePalette({
    subject: dir,
    group: "Projects",
    find: async () => {
      if (!dir) return [];
      const { projects } = await queries.ensureQueryData(
        callOptions("workspace.projects.list", { workspace_dir: dir }),
      );
      return projects.flatMap(({ project_id, name }) => [
        {
          id: project_id,
          title: name,
          hint: "Project",
          icon: "home",
          run: () => navigate(at.project(workspace, project_id)),
        },
        {
          id: `plan-${project_id}`,
          title: `Plan for ${name}`,
          hint: "Plan",
          icon: "plan",
          run: () => navigate(at.plan(workspace, project_id)),
        },
      ]);
    },
  });
  usePalette({
    subject: dir,
    group: "Runs",
    find: async (query) => {
      if (!dir || query.length < 2) return [];
      const runs = await queries.fetchQuery(callOptions("run.list", { workspace_dir: dir }));
      return runs.flatMap(({ run_id, project_id, goal }) => {
        const title = firstLine(goal);
        const run = () => navigate(at.run(workspace, project_id, run_id));
        return title ? [{ id: run_id, title, hint: "Run", icon: "run" as const, run }] : [];
      });
    },
  });
  usePalette({
    subject: dir,
    group: "Jobs",
    find: async (query) => {
      if (!dir || query.length < 2) return [];
      const { projects } = await queries.ensureQueryData(
        callOptions("workspace.projects.list", { workspace_dir: dir }),
      );
      const lists = await Promise.all(
        projects.map(({ project_id }) =>
          queries.fetchQuery(callOptions("job.list", { workspace_dir: dir, project_id })),
        ),
      );
      return lists.flat().map((job) => ({
        id: job.job_id,
        title: jobName(job),
        hint: "Job",
        icon: "doc" as const,
        run: () => navigate(at.job(workspace, job.project_id, job.job_id)),
      }));
    },
  });
  usePalette({
    subject: dir,
    group: "People",
    find: async () => {
      if (!dir) return [];
      const agents = await queries.ensureQueryData(callOptions("workspace.agents.list", { workspace_dir: dir }));
      return agents.map(({ agent_id, name, role }) => ({
        id: agent_id,
        title: name,
        hint: role,
        icon: "people",
        run: () => navigate(at.agent(workspace, agent_id)),
      }));
    },
  });
  usePalette({
    subject: dir,
    group: "Actions",
    find: () => [
      ...(dir ? DIALOGS.map(({ to, ...rest }) => ({ ...rest, run: () => navigate(`${to(workspace)}?new`) })) : []),
      {
        id: "open-company",
        title: "Open or create a company…",
        icon: "folder",
        run: () => navigate(at.open(workspace)),
      },
    ],
  });
  return null;
}

/** Turns every word into a prefix, so that the search matches while typing. */
function words(query: string): string {
  return query
    .replace(/["*]/g, " ")
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => `${word}*`)
    .join(" ");
}

const plain = (snippet: string) => snippet.replace(/\s+/g, " ").trim();

function addressOf(workspace: string, { kind, id, project_id, conversation_id, run_id, seq }: SearchHit): string {
  if (kind === "message" && conversation_id) return at.conversation(workspace, project_id, conversation_id);
  if (kind === "event" && run_id) return at.run(workspace, project_id ?? "", run_id, seq);
  if (kind === "task") return at.plan(workspace, project_id ?? "", id);
  if (kind === "comment" && run_id) return at.run(workspace, project_id ?? "", run_id);
  if (kind === "artifact") return at.document(workspace, project_id ?? "", id);
  return project_id ? at.project(workspace, project_id) : at.home(workspace);
}
