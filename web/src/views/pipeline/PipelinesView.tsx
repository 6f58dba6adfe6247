// All client intakes with their status.

import "../company/company.css";
import "../company/card.css";
import type { RunRow } from "@accord/client";
import { Page } from "../../app/Page.tsx";
import { Button } from "../../parts/Button.tsx";
import { Await, Empty } from "../../parts/states.tsx";
import { Status } from "../../parts/Status.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { plural, useNames, type Names } from "../company/names.ts";
import { useNew } from "../company/new.ts";
import { IntakeDialog } from "./IntakeDialog.tsx";
import { isIntake, STATES, useIntakes, usePipeline } from "./pipeline.ts";

export default function PipelinesView({ workspace, dir }: CompanyViewProps) {
  const names = useNames(dir);
  const query = useIntakes(dir);
  const [isAsking, setAsking] = useNew();
  const ask = (
    <Button kind="primary" icon="plus" onClick={() => setAsking(true)}>
      New client intake
    </Button>
  );
  return (
    <Page
      title="Client intakes"
      back={at.runs(workspace)}
      crumbs={[{ label: "Runs", to: at.live(workspace) }]}
      actions={ask}
    >
      <Await query={query}>
        {(runs) => {
          const intakes = runs.filter(isIntake);
          return intakes.length === 0 ? (
            <Empty icon="pipeline" title="No client intakes yet" action={ask}>
              Describe a client request. Accord creates a project with a plan for each department. After you approve the
              plan, tasks are assigned to workers.
            </Empty>
          ) : (
            <div className="wide-column">
              <div className="cards">
                {intakes.map((run) => (
                  <Card key={run.run_id} workspace={workspace} dir={dir} run={run} names={names} />
                ))}
              </div>
            </div>
          );
        }}
      </Await>
      {isAsking && names.isKnown && (
        <IntakeDialog workspace={workspace} dir={dir} names={names} onClose={() => setAsking(false)} />
      )}
    </Page>
  );
}

function Card({ workspace, dir, run, names }: { workspace: string; dir: string; run: RunRow; names: Names }) {
  const pipeline = usePipeline(dir, run, names);
  const state = pipeline && STATES[pipeline.state];
  const given = pipeline?.departments.flatMap(({ tasks }) => tasks).length ?? 0;
  return (
    <Link className="card" to={at.pipeline(workspace, run.project_id)}>
      <div className="card-title">
        <span>{names.project(run.project_id)}</span>
        <Time at={run.created_at} />
      </div>
      <div className="card-line">
        {state && <Status meaning={state.meaning}>{state.label}</Status>}
        {pipeline && <span>{plural(pipeline.departments.length, "department")}</span>}
        {given > 0 && <span>{plural(given, "task")} for workers</span>}
      </div>
    </Link>
  );
}
