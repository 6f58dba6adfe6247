//! Usage totals of runs, aggregated per agent (`agent_counters`) and per project and provider (`run_totals`).

use std::collections::BTreeSet;

use protocol::company::index::IndexSyncResponse;
use rusqlite::Connection;

/// SQL that recomputes `agent_counters`, for all agents or for the agent that `?1` names. It writes only rows whose
/// values change.
fn statement(wanted: &str) -> String {
    format!(
        "INSERT INTO agent_counters
         WITH used AS (
             SELECT agent_id, min(provider) AS provider, count(*) AS total_runs,
                 sum(status = 'running') AS running_runs, sum(status = 'ended') AS ended_runs,
                 sum(status = 'failed') AS failed_runs, sum(status = 'stopped') AS stopped_runs,
                 sum(coalesce(usage_total_tokens, 0)) AS total_tokens,
                 round(sum(coalesce(usage_cost_usd, 0.0)), 6) AS total_cost_usd,
                 sum(CASE WHEN context_cycles_source = 'provider_signal' THEN context_cycles_count ELSE 0 END) AS cycles,
                 coalesce(sum(context_cycles_source = 'provider_signal'), 0) AS known_runs,
                 coalesce(sum(context_cycles_source <> 'provider_signal'), 0) AS unknown_runs
             FROM runs {wanted} GROUP BY agent_id),
         who AS (SELECT agent_id FROM agents {wanted} UNION SELECT agent_id FROM used)
         SELECT who.agent_id, coalesce(agents.name, who.agent_id), coalesce(agents.role, 'worker'),
             coalesce(agents.provider, used.provider), agents.model_hint, agents.team_id,
             coalesce(total_runs, 0), coalesce(running_runs, 0), coalesce(ended_runs, 0), coalesce(failed_runs, 0),
             coalesce(stopped_runs, 0), coalesce(total_tokens, 0), coalesce(total_cost_usd, 0.0), coalesce(cycles, 0),
             coalesce(known_runs, 0), coalesce(unknown_runs, 0)
         FROM who LEFT JOIN agents ON agents.agent_id = who.agent_id LEFT JOIN used ON used.agent_id = who.agent_id
         WHERE true
         ON CONFLICT (agent_id) DO UPDATE SET
             name = excluded.name, role = excluded.role, provider = excluded.provider,
             model_hint = excluded.model_hint, team_id = excluded.team_id, total_runs = excluded.total_runs,
             running_runs = excluded.running_runs, ended_runs = excluded.ended_runs,
             failed_runs = excluded.failed_runs, stopped_runs = excluded.stopped_runs,
             total_tokens = excluded.total_tokens, total_cost_usd = excluded.total_cost_usd,
             context_cycles_count = excluded.context_cycles_count,
             context_cycles_known_runs = excluded.context_cycles_known_runs,
             context_cycles_unknown_runs = excluded.context_cycles_unknown_runs
         WHERE (name, role, provider, model_hint, team_id, total_runs, running_runs, ended_runs, failed_runs,
                stopped_runs, total_tokens, total_cost_usd, context_cycles_count, context_cycles_known_runs,
                context_cycles_unknown_runs)
             IS NOT (excluded.name, excluded.role, excluded.provider, excluded.model_hint, excluded.team_id,
                excluded.total_runs, excluded.running_runs, excluded.ended_runs, excluded.failed_runs,
                excluded.stopped_runs, excluded.total_tokens, excluded.total_cost_usd, excluded.context_cycles_count,
                excluded.context_cycles_known_runs, excluded.context_cycles_unknown_runs)"
    )
}

/// The columns of one run that `run_totals` adds up.
const OF_RUN: &str = "project_id, provider, 1, coalesce(usage_total_tokens, 0), coalesce(usage_cost_usd, 0.0),
    usage_cost_usd IS NOT NULL, coalesce(usage_source = 'provider_reported', 0),
    coalesce(usage_source = 'estimated_chars', 0),
    CASE WHEN context_cycles_source = 'provider_signal' THEN coalesce(context_cycles_count, 0) ELSE 0 END,
    coalesce(context_cycles_source = 'provider_signal', 0), coalesce(context_cycles_source <> 'provider_signal', 0)";

/// Adds a run to `run_totals`. Call it after the row of the run is written.
pub(crate) fn count_in(db: &Connection, project: &str, run: &str) -> rusqlite::Result<()> {
    db.prepare_cached(&format!(
        "INSERT INTO run_totals SELECT {OF_RUN} FROM runs WHERE project_id = ?1 AND run_id = ?2
         ON CONFLICT (project_id, provider) DO UPDATE SET
             run_count = run_count + 1, total_tokens = total_tokens + excluded.total_tokens,
             total_cost_usd = total_cost_usd + excluded.total_cost_usd,
             priced_runs = priced_runs + excluded.priced_runs,
             reported_runs = reported_runs + excluded.reported_runs,
             estimated_runs = estimated_runs + excluded.estimated_runs,
             context_cycles_count = context_cycles_count + excluded.context_cycles_count,
             context_cycles_known_runs = context_cycles_known_runs + excluded.context_cycles_known_runs,
             context_cycles_unknown_runs = context_cycles_unknown_runs + excluded.context_cycles_unknown_runs"
    ))?
    .execute([project, run])
    .map(drop)
}

/// Subtracts a run from `run_totals`. Call it before the row of the run is changed or deleted; a missing row is a
/// no-op.
pub(crate) fn count_out(db: &Connection, project: &str, run: &str) -> rusqlite::Result<()> {
    let counted = db
        .prepare_cached(&format!(
            "INSERT INTO run_totals SELECT {OF_RUN} FROM runs WHERE project_id = ?1 AND run_id = ?2
             ON CONFLICT (project_id, provider) DO UPDATE SET
                 run_count = run_count - 1, total_tokens = total_tokens - excluded.total_tokens,
                 total_cost_usd = total_cost_usd - excluded.total_cost_usd,
                 priced_runs = priced_runs - excluded.priced_runs,
                 reported_runs = reported_runs - excluded.reported_runs,
                 estimated_runs = estimated_runs - excluded.estimated_runs,
                 context_cycles_count = context_cycles_count - excluded.context_cycles_count,
                 context_cycles_known_runs = context_cycles_known_runs - excluded.context_cycles_known_runs,
                 context_cycles_unknown_runs = context_cycles_unknown_runs - excluded.context_cycles_unknown_runs"
        ))?
        .execute([project, run])?;
    if counted > 0 {
        db.prepare_cached("DELETE FROM run_totals WHERE project_id = ?1 AND run_count <= 0")?
            .execute([project])?;
    }
    Ok(())
}

/// Recomputes the counters of every agent.
pub(crate) fn recount_all(db: &Connection, counts: &mut IndexSyncResponse) -> rusqlite::Result<()> {
    counts.agent_counters_upserted += db.prepare(&statement(""))?.execute([])? as u64;
    Ok(())
}

/// Recomputes the counters of agents whose document or runs changed, and deletes those of agents that have neither.
pub(crate) fn recount(
    db: &Connection,
    agents: &BTreeSet<String>,
    counts: &mut IndexSyncResponse,
) -> rusqlite::Result<()> {
    if agents.is_empty() {
        return Ok(());
    }
    let mut recount = db.prepare_cached(&statement("WHERE agent_id = ?1"))?;
    let mut delete = db.prepare_cached(
        "DELETE FROM agent_counters WHERE agent_id = ?1
         AND NOT EXISTS (SELECT 1 FROM agents WHERE agent_id = ?1)
         AND NOT EXISTS (SELECT 1 FROM runs WHERE agent_id = ?1)",
    )?;
    for agent in agents {
        counts.agent_counters_upserted += recount.execute([agent])? as u64;
        counts.agent_counters_deleted += delete.execute([agent])? as u64;
    }
    Ok(())
}
