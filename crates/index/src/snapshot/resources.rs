//! `resources.snapshot`.

use std::collections::{BTreeMap, BTreeSet};

use company::Company;
use protocol::company::{
    RunStatus,
    resources::{
        ResourceModel, ResourceProvider, ResourceTotals, ResourcesSnapshotParams,
        ResourcesSnapshotResponse,
    },
};
use rusqlite::{Connection, OptionalExtension as _};

use super::{Live, usd};
use crate::{Error, Freshness, Indexes};

impl Indexes {
    /// Who there is and what they used.
    pub fn resources(
        &self,
        company: &Company,
        wanted: &ResourcesSnapshotParams,
        live: &Live,
    ) -> Result<ResourcesSnapshotResponse, Error> {
        self.freshen(company, Freshness::of(None, wanted.sync_index))?;
        let project = wanted.project_id.as_deref();
        self.read(company, |db| {
            Ok(ResourcesSnapshotResponse {
                workspace_dir: company.given().to_owned(),
                generated_at: company.sources().now_text(),
                project_id: project.map(ToOwned::to_owned),
                totals: totals(db, project, live)?,
                providers: providers(db, project)?,
                models: models(db)?,
            })
        })
    }
}

fn totals(db: &Connection, project: Option<&str>, live: &Live) -> Result<ResourceTotals, Error> {
    let (agents, workers) = db
        .prepare_cached("SELECT count(*), coalesce(sum(role = 'worker'), 0) FROM agent_counters")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let of_project = if project.is_some() {
        "project_id = ?1"
    } else {
        "?1 IS NULL"
    };
    let used = db
        .prepare_cached(&format!(
            "SELECT coalesce(sum(run_count), 0), coalesce(sum(total_tokens), 0), coalesce(sum(total_cost_usd), 0.0),
                 coalesce(sum(context_cycles_count), 0), coalesce(sum(context_cycles_known_runs), 0),
                 coalesce(sum(context_cycles_unknown_runs), 0)
             FROM run_totals WHERE {of_project}"
        ))?
        .query_row([project], |row| {
            Ok(ResourceTotals {
                agents,
                workers,
                active_workers: 0,
                runs_indexed: row.get(0)?,
                total_tokens: row.get(1)?,
                total_cost_usd: usd(row.get(2)?),
                context_cycles_total: row.get(3)?,
                context_cycles_known_runs: row.get(4)?,
                context_cycles_unknown_runs: row.get(5)?,
            })
        })?;
    Ok(ResourceTotals {
        active_workers: active_workers(db, project, live)?,
        ..used
    })
}

/// Workers with a run that is not over, as its document or its session says.
fn active_workers(db: &Connection, project: Option<&str>, live: &Live) -> Result<u64, Error> {
    let of_project = if project.is_some() {
        "runs.project_id = ?1"
    } else {
        "?1 IS NULL"
    };
    let mut active: BTreeSet<String> = db
        .prepare_cached(&format!(
            "SELECT DISTINCT runs.agent_id FROM agent_counters JOIN runs ON runs.agent_id = agent_counters.agent_id
             WHERE role = 'worker' AND status = 'running' AND {of_project}"
        ))?
        .query_map([project], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut agent = db.prepare_cached(
        "SELECT runs.agent_id FROM runs JOIN agent_counters ON agent_counters.agent_id = runs.agent_id
         WHERE role = 'worker' AND project_id = ?1 AND run_id = ?2",
    )?;
    for (run, live) in live {
        let is_wanted = project.is_none_or(|project| project == live.project_id);
        if is_wanted && live.session.live_status == RunStatus::Running {
            let worker = agent.query_row([&live.project_id, run], |row| row.get(0));
            active.extend(worker.optional()?);
        }
    }
    Ok(active.len() as u64)
}

fn providers(db: &Connection, project: Option<&str>) -> Result<Vec<ResourceProvider>, Error> {
    let of_project = if project.is_some() {
        "project_id = ?1"
    } else {
        "?1 IS NULL"
    };
    let mut statement = db.prepare_cached(&format!(
        "SELECT provider, sum(run_count), sum(total_tokens) AS tokens, sum(total_cost_usd)
         FROM run_totals WHERE {of_project} GROUP BY provider ORDER BY tokens DESC, provider"
    ))?;
    let rows = statement.query_map([project], |row| {
        Ok(ResourceProvider {
            provider: row.get(0)?,
            run_count: row.get(1)?,
            total_tokens: row.get(2)?,
            total_cost_usd: usd(row.get(3)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn models(db: &Connection) -> Result<Vec<ResourceModel>, Error> {
    let mut statement = db.prepare_cached("SELECT provider, model_hint FROM agent_counters")?;
    let mut rows = statement.query([])?;
    let mut counted: BTreeMap<String, u64> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let model = match row.get::<_, Option<String>>(1)? {
            Some(model) => model,
            None => format!("{} (default)", row.get::<_, String>(0)?),
        };
        *counted.entry(model).or_default() += 1;
    }
    let mut models: Vec<_> = counted
        .into_iter()
        .map(|(model, agent_count)| ResourceModel { model, agent_count })
        .collect();
    // Sorted by name already.
    models.sort_by_key(|model| std::cmp::Reverse(model.agent_count));
    Ok(models)
}
