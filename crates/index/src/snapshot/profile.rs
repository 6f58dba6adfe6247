//! `agent.profile.snapshot`: an agent with its usage metrics.

use company::{Company, DAY_MS, document::Agent, execution::resources::usd, layout, unix_ms};
use protocol::company::{
    AgentId,
    agent::{
        AgentCyclesSource, AgentMetrics, AgentProfile, AgentProfileSnapshotParams,
        AgentProfileSnapshotResponse,
    },
};
use rusqlite::{Connection, params};

use crate::{Error, Freshness, Indexes};

impl Indexes {
    /// Reads the profile of an agent and the metrics of its runs.
    pub fn profile(
        &self,
        company: &Company,
        wanted: &AgentProfileSnapshotParams,
    ) -> Result<AgentProfileSnapshotResponse, Error> {
        let agent = profile(company, &wanted.agent_id)?;
        self.freshen(company, Freshness::of(None, wanted.sync_index))?;
        let metrics = self.read(company, |db| {
            metrics(db, &agent.agent_id, wanted.project_id.as_deref())
        })?;
        Ok(AgentProfileSnapshotResponse {
            workspace_dir: company.given().to_owned(),
            generated_at: company.sources().now_text(),
            agent,
            metrics,
        })
    }
}

fn profile(company: &Company, id: &AgentId) -> Result<AgentProfile, company::Error> {
    let agent = company.read::<Agent>(&format!("{}/agent.yaml", layout::agent(id)));
    let agent = agent.map_err(|error| error.or_not_found("Agent", id.as_str()))?;
    let text = |text: &Option<protocol::company::Text>| text.as_deref().map(ToOwned::to_owned);
    let age_ms = company.sources().now_ms() - unix_ms(&agent.created_at).unwrap_or(i64::MAX);
    Ok(AgentProfile {
        agent_id: agent.id.to_string(),
        name: agent.name.to_string(),
        display_title: text(&agent.display_title),
        avatar: text(&agent.avatar),
        role: agent.role,
        provider: agent.provider.to_string(),
        model_hint: text(&agent.model_hint),
        team_id: agent.team_id.clone(),
        created_at: agent.created_at.to_string(),
        tenure_days: u64::try_from(age_ms / DAY_MS).unwrap_or(0),
    })
}

fn metrics(db: &Connection, agent: &str, project: Option<&str>) -> Result<AgentMetrics, Error> {
    let of_project = if project.is_some() {
        "project_id = ?2"
    } else {
        "?2 IS NULL"
    };
    let metrics = db
        .prepare_cached(&format!(
            "SELECT count(*), coalesce(sum(status = 'running'), 0), coalesce(sum(status = 'ended'), 0),
                 coalesce(sum(status = 'failed'), 0), coalesce(sum(status = 'stopped'), 0),
                 coalesce(sum(usage_total_tokens), 0), coalesce(sum(usage_cost_usd), 0.0),
                 sum(CASE WHEN context_cycles_source = 'provider_signal' THEN context_cycles_count END)
             FROM runs WHERE agent_id = ?1 AND {of_project}"
        ))?
        .query_row(params![agent, project], |row| {
            let cycles: Option<u64> = row.get(7)?;
            Ok(AgentMetrics {
                total_runs: row.get(0)?,
                running_runs: row.get(1)?,
                ended_runs: row.get(2)?,
                failed_runs: row.get(3)?,
                stopped_runs: row.get(4)?,
                total_tokens: row.get(5)?,
                total_cost_usd: usd(row.get(6)?),
                context_cycles_count: cycles,
                context_cycles_source: match cycles {
                    Some(_) => AgentCyclesSource::ProviderSignal,
                    None => AgentCyclesSource::Unknown,
                },
            })
        })?;
    Ok(metrics)
}
