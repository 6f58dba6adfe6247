//! `usage.analytics`: token usage and cost of runs.

use std::collections::BTreeMap;

use company::{Company, execution::resources::usd};
use protocol::company::usage::{
    UsageAnalyticsParams, UsageAnalyticsResponse, UsageByProvider, UsageRun, UsageTotals,
};
use rusqlite::{Connection, params};

use super::DEFAULT_LIMIT;
use crate::{Error, Freshness, IndexRefresh, Indexes, lists::word};

impl Indexes {
    /// Adds up the usage of the newest runs and of all runs.
    pub fn usage(
        &self,
        company: &Company,
        wanted: &UsageAnalyticsParams,
    ) -> Result<UsageAnalyticsResponse, Error> {
        let freshness = Freshness::of(wanted.refresh_index, wanted.sync_index);
        let state = self.freshen(company, freshness)?;
        let limit = wanted.limit.unwrap_or(DEFAULT_LIMIT);
        self.read(company, |db| {
            snapshot(company, db, wanted.project_id.as_deref(), limit, state)
        })
    }
}

pub(super) fn snapshot(
    company: &Company,
    db: &Connection,
    project: Option<&str>,
    limit: u32,
    state: IndexRefresh,
) -> Result<UsageAnalyticsResponse, Error> {
    let recent_runs = newest(db, project, limit)?;
    let mut totals = UsageTotals::default();
    let mut providers: BTreeMap<&str, UsageByProvider> = BTreeMap::new();
    for run in &recent_runs {
        let has_errors = u64::from(run.parse_error_count > 0);
        let cost = run.cost_usd.unwrap_or(0.0);
        totals.run_count += 1;
        totals.total_tokens += run.total_tokens;
        totals.total_cost_usd += cost;
        totals.priced_run_count += u64::from(run.cost_usd.is_some());
        totals.unpriced_run_count += u64::from(run.cost_usd.is_none());
        totals.provider_reported_count +=
            u64::from(run.usage_source.as_deref() == Some("provider_reported"));
        totals.estimated_count += u64::from(run.usage_source.as_deref() == Some("estimated_chars"));
        totals.parse_error_run_count += has_errors;
        let provider = providers
            .entry(&run.provider)
            .or_insert_with(|| UsageByProvider {
                provider: run.provider.clone(),
                run_count: 0,
                total_tokens: 0,
                total_cost_usd: 0.0,
                average_tokens_per_run: 0,
                average_cost_usd_per_run: 0.0,
                parse_error_runs: 0,
            });
        provider.run_count += 1;
        provider.total_tokens += run.total_tokens;
        provider.total_cost_usd += cost;
        provider.parse_error_runs += has_errors;
    }
    totals.total_cost_usd = usd(totals.total_cost_usd);
    let mut by_provider: Vec<_> = providers.into_values().collect();
    for provider in &mut by_provider {
        let runs = provider.run_count as f64;
        provider.average_tokens_per_run = (provider.total_tokens as f64 / runs).round() as u64;
        provider.average_cost_usd_per_run = usd(provider.total_cost_usd / runs);
        provider.total_cost_usd = usd(provider.total_cost_usd);
    }
    by_provider.sort_by(|left, right| {
        let most_first = right.total_tokens.cmp(&left.total_tokens);
        most_first.then_with(|| left.provider.cmp(&right.provider))
    });
    Ok(UsageAnalyticsResponse {
        workspace_dir: company.given().to_owned(),
        generated_at: company.sources().now_text(),
        index_rebuilt: state.rebuilt,
        index_synced: state.synced,
        totals,
        all_time_totals: all_time(db, project)?,
        by_provider,
        recent_runs,
    })
}

fn newest(db: &Connection, project: Option<&str>, limit: u32) -> Result<Vec<UsageRun>, Error> {
    let of_project = if project.is_some() {
        "runs.project_id = ?1"
    } else {
        "?1 IS NULL"
    };
    let mut statement = db.prepare_cached(&format!(
        "SELECT runs.project_id, runs.run_id, provider, status, created_at, usage_source, usage_confidence,
             coalesce(usage_total_tokens, 0), usage_cost_usd, coalesce(parse_error_count, 0)
         FROM runs LEFT JOIN run_activity
             ON run_activity.project_id = runs.project_id AND run_activity.run_id = runs.run_id
         WHERE {of_project} ORDER BY created_at DESC, runs.run_id DESC LIMIT ?2"
    ))?;
    let rows = statement.query_map(params![project, limit], |row| {
        Ok(UsageRun {
            project_id: row.get(0)?,
            run_id: row.get(1)?,
            provider: row.get(2)?,
            status: word(row, 3)?,
            created_at: row.get(4)?,
            usage_source: row.get(5)?,
            usage_confidence: row.get(6)?,
            total_tokens: row.get(7)?,
            cost_usd: row.get(8)?,
            parse_error_count: row.get(9)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn all_time(db: &Connection, project: Option<&str>) -> Result<UsageTotals, Error> {
    let of_project = if project.is_some() {
        "project_id = ?1"
    } else {
        "?1 IS NULL"
    };
    let totals = db
        .prepare_cached(&format!(
            "SELECT coalesce(sum(run_count), 0), coalesce(sum(total_tokens), 0), coalesce(sum(total_cost_usd), 0.0),
                 coalesce(sum(priced_runs), 0), coalesce(sum(reported_runs), 0), coalesce(sum(estimated_runs), 0),
                 (SELECT count(*) FROM (SELECT DISTINCT project_id, run_id FROM event_parse_errors WHERE {of_project}))
             FROM run_totals WHERE {of_project}"
        ))?
        .query_row([project], |row| {
            let (run_count, priced): (u64, u64) = (row.get(0)?, row.get(3)?);
            Ok(UsageTotals {
                run_count,
                total_tokens: row.get(1)?,
                total_cost_usd: usd(row.get(2)?),
                priced_run_count: priced,
                unpriced_run_count: run_count.saturating_sub(priced),
                provider_reported_count: row.get(4)?,
                estimated_count: row.get(5)?,
                parse_error_run_count: row.get(6)?,
            })
        })?;
    Ok(totals)
}
