//! What each agent did, added up: `agent_counters`.

use std::collections::BTreeSet;

use protocol::company::index::IndexSyncResponse;
use rusqlite::Connection;

/// Adds up for all agents, or for the one that `?1` names. Only rows that come out different are written.
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

/// Adds up for every agent.
pub(crate) fn recount_all(db: &Connection, counts: &mut IndexSyncResponse) -> rusqlite::Result<()> {
    counts.agent_counters_upserted += db.prepare(&statement(""))?.execute([])? as u64;
    Ok(())
}

/// Adds up again for agents whose document or runs changed.
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
