// Tokens and cost by day, provider and project. Reported and estimated amounts are separate.

import "../company/company.css";
import type { UsageRun } from "@accord/client";
import { useMemo, useState } from "react";
import { Page } from "../../app/Page.tsx";
import { useCall } from "../../data/calls.ts";
import { count, dollars } from "../../parts/size.ts";
import { Await, Empty } from "../../parts/states.tsx";
import { at } from "../company/address.ts";
import { Choices } from "../company/Choices.tsx";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { plural, useNames } from "../company/names.ts";
import { ALL, ProjectChoice } from "../company/ProjectChoice.tsx";
import { Stats } from "../company/Stats.tsx";
import { Button } from "../../parts/Button.tsx";
import { Link, navigate } from "../../router.tsx";
import { Bars } from "./Bars.tsx";
import { Days } from "./Days.tsx";
import { byDay, byKey, ofModels, RUNS, totalsOfModels, type Measure } from "./sums.ts";

const MEASURES = [
  { id: "tokens", label: "Tokens" },
  { id: "cost", label: "Cost" },
] as const;
const SPANS = [
  { id: "14", label: "14 days" },
  { id: "30", label: "30 days" },
  { id: "90", label: "90 days" },
] as const;

export default function UsageView({ workspace, dir }: CompanyViewProps) {
  const names = useNames(dir);
  const [measure, setMeasure] = useState<Measure>("tokens");
  const [span, setSpan] = useState<(typeof SPANS)[number]["id"]>("14");
  const [project, setProject] = useState(ALL);
  const query = useCall("usage.analytics", {
    workspace_dir: dir,
    limit: RUNS,
    ...(project === ALL ? {} : { project_id: project }),
  });
  const resources = useCall("resources.snapshot", { workspace_dir: dir }).data;
  return (
    <Page title="Usage">
      <div className="toolbar">
        <Choices label="Measure" options={MEASURES} value={measure} onChange={setMeasure} />
        <Choices label="Period" options={SPANS} value={span} onChange={setSpan} />
        <ProjectChoice names={names} value={project} onChange={setProject} />
      </div>
      <Await query={query}>
        {(usage) => {
          const totals = totalsOfModels(usage);
          return totals.run_count === 0 ? (
            <Empty
              icon="usage"
              title="No usage yet"
              action={<Button onClick={() => navigate(at.live(workspace))}>Go to runs</Button>}
            >
              Tokens and cost appear here when a run ends. Values that a provider did not report are estimated and
              listed separately. Shell commands use no model and are not counted.
            </Empty>
          ) : (
            <div className="wide-column">
              <Stats
                list={[
                  {
                    label: "Tokens, all time",
                    value: count(totals.total_tokens),
                    note: plural(totals.run_count, "run"),
                  },
                  {
                    label: "Cost, all time",
                    value: totals.priced_run_count > 0 ? dollars(totals.total_cost_usd) : "Unknown",
                    note: `no price set for ${plural(totals.unpriced_run_count, "run")}`,
                  },
                  {
                    label: "Reported by providers",
                    value: count(totals.provider_reported_count),
                    note: "runs",
                  },
                  { label: "Estimated from text", value: count(totals.estimated_count), note: "runs" },
                  {
                    label: "Active workers",
                    value: resources ? `${resources.totals.active_workers} of ${resources.totals.workers}` : "–",
                    note: resources ? plural(resources.totals.agents, "agent") : "",
                  },
                ]}
              />
              <Charts
                runs={usage.recent_runs}
                days={Number(span)}
                measure={measure}
                project={(id) => names.project(id)}
              />
              <Models models={resources?.models ?? []} />
              <p className="muted">
                See <Link to={at.runs(workspace)}>Runs</Link> for the usage of each run.
              </p>
            </div>
          );
        }}
      </Await>
    </Page>
  );
}

function Charts({
  runs,
  days,
  measure,
  project,
}: {
  runs: UsageRun[];
  days: number;
  measure: Measure;
  project: (id: string) => string;
}) {
  const within = useMemo(() => {
    const from = Date.now() - days * 86_400_000;
    return ofModels(runs).filter(({ created_at }) => Date.parse(created_at) >= from);
  }, [runs, days]);
  const perDay = useMemo(() => byDay(within, days, measure), [within, days, measure]);
  const perProvider = useMemo(() => byKey(within, ({ provider }) => provider, measure), [within, measure]);
  const perProject = useMemo(
    () => byKey(within, ({ project_id }) => project(project_id), measure),
    [within, measure, project],
  );
  const isUnpriced = measure === "cost" && within.length > 0 && within.every(({ cost_usd }) => cost_usd == null);
  return (
    <>
      {isUnpriced && <p className="notice">Cost unknown (no price set)</p>}
      <Days title={measure === "tokens" ? "Tokens by day" : "Cost by day (USD)"} rows={perDay} measure={measure} />
      <div className="home-columns">
        <Bars title="By provider" rows={perProvider} measure={measure} />
        <Bars title="By project" rows={perProject} measure={measure} />
      </div>
    </>
  );
}

function Models({ models }: { models: { model: string; agent_count: number }[] }) {
  if (models.length === 0) return null;
  return (
    <section className="block">
      <h2>Models assigned to agents</h2>
      <div className="tags">
        {models.map(({ model, agent_count }) => (
          <span key={model} className="tag">
            {model} · {plural(agent_count, "agent")}
          </span>
        ))}
      </div>
    </section>
  );
}
