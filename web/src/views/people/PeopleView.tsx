// The teams of the company with their charters and members.

import "../company/card.css";
import "../company/company.css";
import { Page } from "../../app/Page.tsx";
import { useCall } from "../../data/calls.ts";
import { Button } from "../../parts/Button.tsx";
import { Empty, Loading } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Link, navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import { Avatar } from "../company/Avatar.tsx";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { statusOf } from "../company/meaning.ts";
import { plural, useNames } from "../company/names.ts";
import { byTeam } from "./PeopleSidebar.tsx";

export default function PeopleView({ workspace, dir }: CompanyViewProps) {
  const names = useNames(dir);
  const rows = useCall("monitor.snapshot", { workspace_dir: dir, limit: 1000 }).data?.rows;
  const isAtWork = (agent: string) => rows?.some((row) => row.agent_id === agent && statusOf(row) === "running");
  if (!names.isKnown) return <Loading />;
  if (names.agents.length === 0) {
    return (
      <Page title="Teams" back={at.people(workspace)}>
        <Empty
          icon="people"
          title="No agents yet"
          action={<Button onClick={() => navigate(at.open(workspace))}>Create a company with departments</Button>}
        >
          This folder has no agents. A company that Accord creates with departments includes directors and workers.
        </Empty>
      </Page>
    );
  }
  return (
    <Page
      title="Teams"
      back={at.people(workspace)}
      state={`${plural(names.agents.length, "agent")}, ${plural(names.teams.length, "team")}`}
    >
      <div className="wide-column">
        <div className="cards">
          {byTeam(names).map(({ id, title, charter, agents }) => (
            <section key={id} className="card">
              <h2 className="card-title">{title}</h2>
              <p className="card-line">{charter}</p>
              <ul className="members-lines">
                {agents.map(({ agent_id, name, role, provider }) => (
                  <li key={agent_id}>
                    <Avatar name={name} />
                    <Link to={at.agent(workspace, agent_id)}>{name}</Link>
                    <span className="side-note">
                      {isAtWork(agent_id) ? <Status meaning="running">Running</Status> : `${role}, ${provider}`}
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
      </div>
    </Page>
  );
}
