// What the agents used: tokens and cost by day, provider and project; what providers reported apart from estimates.

import "../company/company.css";
import type { UsageRun } from "@accord/client";
import { useMemo, useState } from "react";
import { Page } from "../../app/Page.tsx";
import { count } from "../../parts/size.ts";
import { Await, Empty } from "../../parts/states.tsx";
import { at } from "../company/address.ts";
import { Choices } from "../company/Choices.tsx";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { plural, useNames } from "../company/names.ts";
import { ALL, ProjectChoice } from "../company/ProjectChoice.tsx";
import { useRead } from "../company/reads.ts";
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
  const query = useRead("usage.analytics", {
    workspace_dir: dir,
    limit: RUNS,
    ...(project === ALL ? {} : { project_id: project }),
  });
  const resources = useRead("resources.snapshot", { workspace_dir: dir }).data;
  return (
    <Page title="Usage">
      <div className="toolbar">
        <Choices label="What" options={MEASURES} value={measure} onChange={setMeasure} />
        <Choices label="How far back" options={SPANS} value={span} onChange={setSpan} />
        <ProjectChoice names={names} value={project} onChange={setProject} />
      </div>
      <Await query={query}>
        {(usage) => {
          const totals = totalsOfModels(usage);
          return totals.run_count === 0 ? (
            <Empty
              icon="usage"
              title="Nothing was used yet"
              action={<Button onClick={() => navigate(at.sessions(workspace))}>Go to the sessions</Button>}
            >
              When a session ends, what its provider reported shows here; what no provider counted is estimated and kept
              apart. Plain commands use no model and are not counted.
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
                    value: totals.priced_run_count > 0 ? `$${totals.total_cost_usd.toFixed(2)}` : "unknown",
                    note: `${plural(totals.unpriced_run_count, "run")} without a price`,
                  },
                  {
                    label: "Reported by providers",
                    value: count(totals.provider_reported_count),
                    note: "runs",
                  },
                  { label: "Estimated from text", value: count(totals.estimated_count), note: "runs" },
                  {
                    label: "Workers at work",
                    value: resources ? `${resources.totals.active_workers} of ${resources.totals.workers}` : "–",
                    note: resources ? `${resources.totals.agents} agents` : "",
                  },
                ]}
              />
              <Charts runs={usage.recent_runs} days={Number(span)} measure={measure} project={(id) => names.project(id)} />
              <Models models={resources?.models ?? []} />
              <p className="muted">
                Each number comes from a run; the newest are in <Link to={at.runs(workspace)}>Runs</Link>.
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
  const from = Date.now() - days * 86_400_000;
  const within = useMemo(() => ofModels(runs).filter(({ created_at }) => Date.parse(created_at) >= from), [runs, days]);
  const perDay = useMemo(() => byDay(within, days, measure), [within, days, measure]);
  const perProvider = useMemo(() => byKey(within, ({ provider }) => provider, measure), [within, measure]);
  const perProject = useMemo(
    () => byKey(within, ({ project_id }) => project(project_id), measure),
    [within, measure, project],
  );
  return (
    <>
      <Days title={measure === "tokens" ? "Tokens by day" : "Cost by day, USD"} rows={perDay} measure={measure} />
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
      <h2>Models the agents are meant for</h2>
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
