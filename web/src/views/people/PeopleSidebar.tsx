// The sidebar of the People section: the agents by team.

import "../company/company.css";
import "../company/side.css";
import { useMemo } from "react";
import type { AgentRow } from "@accord/client";
import { usePalette } from "../../palette/registry.ts";
import { Icon } from "../../parts/Icon.tsx";
import { Link, navigate, usePath } from "../../router.tsx";
import { useKeys } from "../../keys/keys.ts";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { useNames, type Names } from "../company/names.ts";

const RANK = { ceo: 0, director: 1, manager: 2, worker: 3 } as const;

/** Returns the teams with their agents, leaders first. Agents without a team come first. */
export function byTeam({ agents, teams }: Names): { id: string; title: string; charter: string; agents: AgentRow[] }[] {
  const of = (team: string | undefined) =>
    agents
      .filter(({ team_id }) => (team_id ?? undefined) === team)
      .sort((a, b) => RANK[a.role] - RANK[b.role] || a.name.localeCompare(b.name));
  return [
    { id: "", title: "Company", charter: "Leads the company and keeps its records.", agents: of(undefined) },
    ...teams.map(({ team_id, name, charter }) => ({
      id: team_id,
      title: name,
      charter: charter ?? "",
      agents: of(team_id),
    })),
  ].filter(({ agents }) => agents.length > 0);
}

export default function PeopleSidebar({ workspace, dir, params }: CompanyViewProps) {
  const names = useNames(dir);
  const path = usePath();
  const groups = useMemo(() => byTeam(names), [names]);
  const all = groups.flatMap(({ agents }) => agents);
  const step = (by: number) => {
    const index = all.findIndex(({ agent_id }) => agent_id === params["agent"]);
    const next = all[Math.min(all.length - 1, Math.max(0, index + by))];
    if (next) navigate(at.agent(workspace, next.agent_id));
  };
  useKeys("People", [
    { key: "j", label: "Next agent", run: () => step(1) },
    { key: "k", label: "Previous agent", run: () => step(-1) },
  ]);
  usePalette({
    group: "People",
    find: () =>
      all.map(({ agent_id, name, role }) => ({
        id: agent_id,
        title: name,
        hint: role,
        icon: "people",
        run: () => navigate(at.agent(workspace, agent_id)),
      })),
  });
  return (
    <>
      <div className="side-links">
        <Link
          className="side-link"
          to={at.teams(workspace)}
          aria-current={path === at.people(workspace) || path === at.teams(workspace) ? "page" : undefined}
        >
          <Icon name="people" />
          <span>Teams</span>
        </Link>
        <Link
          className="side-link"
          to={at.heartbeat(workspace)}
          aria-current={path === at.heartbeat(workspace) ? "page" : undefined}
        >
          <Icon name="history" />
          <span>Heartbeat</span>
        </Link>
      </div>
      <div className="side-scroll">
        {groups.map(({ id, title, agents }) => (
          <section key={id}>
            <h3 className="side-heading">{title}</h3>
            <div className="side-links">
              {agents.map(({ agent_id, name, role }) => (
                <Link
                  key={agent_id}
                  className="side-link"
                  to={at.agent(workspace, agent_id)}
                  aria-current={agent_id === params["agent"] ? "page" : undefined}
                >
                  <span>{name}</span>
                  <span className="side-note">{role}</span>
                </Link>
              ))}
            </div>
          </section>
        ))}
      </div>
    </>
  );
}
