//! `monitor.snapshot`: the newest runs with their sessions and activity.

use std::{cmp::Reverse, collections::BTreeSet};

use company::{
    Company, policy,
    policy::{Action, Actor, Resource},
};
use protocol::company::{
    RunStatus,
    monitor::{
        MonitorEvent, MonitorJobs, MonitorRow, MonitorSnapshotParams, MonitorSnapshotResponse,
        MonitorTokenUsage,
    },
};
use rusqlite::{Connection, params};

use super::{DEFAULT_LIMIT, LiveSessions, People};
use crate::{
    Error, Freshness, IndexRefresh, Indexes, events::EventSummary, lists::word, search::may_see,
};

impl Indexes {
    /// Lists the newest runs with their activity.
    pub fn monitor(
        &self,
        company: &Company,
        wanted: &MonitorSnapshotParams,
        live: &LiveSessions,
        actor: Option<&Actor>,
    ) -> Result<MonitorSnapshotResponse, Error> {
        let freshness = Freshness::of(wanted.refresh_index, wanted.sync_index);
        let state = self.freshen(company, freshness)?;
        let people = People::of(company)?;
        let wanted = MonitorQuery {
            project: wanted.project_id.as_deref(),
            limit: wanted.limit.unwrap_or(DEFAULT_LIMIT),
            live,
            actor: actor.map(|actor| (actor, &people)),
        };
        self.read(company, |db| snapshot(company, db, &wanted, state))
    }
}

/// Parameters of a monitor view.
pub(super) struct MonitorQuery<'a> {
    pub(super) project: Option<&'a str>,
    pub(super) limit: u32,
    pub(super) live: &'a LiveSessions,
    /// Returns only what this actor may read; `None` for an unrestricted caller.
    pub(super) actor: Option<(&'a Actor, &'a People)>,
}

pub(super) fn snapshot(
    company: &Company,
    db: &Connection,
    wanted: &MonitorQuery<'_>,
    state: IndexRefresh,
) -> Result<MonitorSnapshotResponse, Error> {
    let mut rows = newest(db, wanted)?;
    let shown: BTreeSet<String> = rows.iter().map(|row| row.run_id.clone()).collect();
    let others = wanted.live.iter().filter(|(run, session)| {
        let is_wanted = wanted
            .project
            .is_none_or(|project| session.project_id == project);
        // The agent of a run that is not indexed yet is unknown, so only managers see it.
        let is_for_them = wanted.actor.is_none_or(|(actor, _)| actor.is_manager());
        is_wanted && is_for_them && !shown.contains(*run)
    });
    rows.extend(others.map(|(run, session)| MonitorRow {
        live: Some(session.session.clone()),
        ..without_run(&session.project_id, run)
    }));
    rows.sort_by(|left, right| {
        let key = |row: &MonitorRow| {
            let is_live = row
                .live
                .as_ref()
                .is_some_and(|live| live.live_status == RunStatus::Running);
            (is_live, row.created_at.clone())
        };
        let newest_first = Reverse(key(left)).cmp(&Reverse(key(right)));
        newest_first.then_with(|| left.run_id.cmp(&right.run_id))
    });
    rows.truncate(wanted.limit as usize);
    let mut projects: BTreeSet<&str> = rows.iter().map(|row| row.project_id.as_str()).collect();
    projects.extend(wanted.project);
    let jobs = if projects.is_empty() {
        None
    } else {
        Some(jobs(db, &projects)?)
    };
    let shown = rows.iter();
    let shown = shown.map(|row| (row.project_id.as_str(), row.run_id.as_str()));
    let mut goals = company::execution::run::goals(company, shown);
    for row in &mut rows {
        row.goal = goals.remove(&row.run_id);
    }
    Ok(MonitorSnapshotResponse {
        workspace_dir: company.given().to_owned(),
        generated_at: company.sources().now_text(),
        index_rebuilt: state.rebuilt,
        index_synced: state.synced,
        jobs,
        rows,
    })
}

fn without_run(project: &str, run: &str) -> MonitorRow {
    MonitorRow {
        project_id: project.to_owned(),
        run_id: run.to_owned(),
        created_at: None,
        run_status: None,
        provider: None,
        agent_id: None,
        context_pack_id: None,
        goal: None,
        live: None,
        last_event: None,
        parse_error_count: 0,
        policy_decision_count: 0,
        policy_denied_count: 0,
        budget_decision_count: 0,
        budget_alert_count: 0,
        budget_exceeded_count: 0,
        latest_policy_decision: None,
        latest_policy_denied: None,
        latest_budget_decision: None,
        token_usage: None,
    }
}

fn newest(db: &Connection, wanted: &MonitorQuery<'_>) -> Result<Vec<MonitorRow>, Error> {
    let of_project = if wanted.project.is_some() {
        "runs.project_id = ?1"
    } else {
        "?1 IS NULL"
    };
    let mut statement = db.prepare_cached(&format!(
        "SELECT runs.project_id, runs.run_id, created_at, status, provider, agent_id, context_pack_id,
             usage_source, usage_confidence, usage_total_tokens, usage_input_tokens, usage_output_tokens,
             usage_cost_usd,
             last_event_json, parse_error_count, policy_decision_count, policy_denied_count,
             budget_decision_count, budget_alert_count, budget_exceeded_count,
             latest_policy_decision_json, latest_policy_denied_json, latest_budget_decision_json
         FROM runs LEFT JOIN run_activity
             ON run_activity.project_id = runs.project_id AND run_activity.run_id = runs.run_id
         WHERE {of_project} ORDER BY created_at DESC, runs.run_id DESC LIMIT ?2"
    ))?;
    // Rows that the caller may not read are skipped below, so the limit is applied after that.
    let limit = wanted.actor.map_or(wanted.limit, |_| u32::MAX);
    let mut found = statement.query(params![wanted.project, limit])?;
    let mut rows = Vec::new();
    while rows.len() < wanted.limit as usize
        && let Some(row) = found.next()?
    {
        let (project, run): (String, String) = (row.get(0)?, row.get(1)?);
        let agent: String = row.get(5)?;
        if let Some((actor, people)) = wanted.actor {
            let run = Resource::run(&agent, people.team_of(&agent));
            if !policy::decide(actor, Action::Read, &run).allowed {
                continue;
            }
        }
        let kept = EventSummary::of_row(row, 13)?;
        let activity = match wanted.actor {
            Some((actor, people)) => seen_by(db, actor, people, &project, &run, &agent, kept)?,
            None => kept,
        };
        let source: Option<String> = row.get(7)?;
        let token_usage = match source {
            Some(source) => Some(MonitorTokenUsage {
                source,
                confidence: row.get::<_, Option<String>>(8)?.unwrap_or_default(),
                total_tokens: row.get::<_, Option<u64>>(9)?.unwrap_or_default(),
                input_tokens: row.get(10)?,
                output_tokens: row.get(11)?,
                cost_usd: row.get(12)?,
            }),
            None => None,
        };
        rows.push(MonitorRow {
            created_at: row.get(2)?,
            run_status: Some(word(row, 3)?),
            provider: row.get(4)?,
            agent_id: Some(agent),
            context_pack_id: row.get(6)?,
            live: wanted.live.get(&run).map(|live| live.session.clone()),
            last_event: activity.last_event,
            parse_error_count: activity.parse_errors,
            policy_decision_count: activity.policy_decisions,
            policy_denied_count: activity.policy_denied,
            budget_decision_count: activity.budget_decisions,
            budget_alert_count: activity.budget_alerts,
            budget_exceeded_count: activity.budget_exceeded,
            latest_policy_decision: activity.latest_policy_decision,
            latest_policy_denied: activity.latest_policy_denied,
            latest_budget_decision: activity.latest_budget_decision,
            token_usage,
            ..without_run(&project, &run)
        });
    }
    Ok(rows)
}

/// The activity of a run, restricted to the events an actor may read. It reads the events themselves, because the
/// stored summary covers all of them.
fn seen_by(
    db: &Connection,
    actor: &Actor,
    people: &People,
    project: &str,
    run: &str,
    agent: &str,
    kept: EventSummary,
) -> Result<EventSummary, Error> {
    let sees = |visibility: Option<&str>, author: Option<&str>| {
        let team = people.team_of_event(author, Some(agent));
        may_see(actor, visibility, author, team)
    };
    let last_event = match kept.last_event {
        Some(event) if !sees(event.visibility.as_deref(), event.actor.as_deref()) => {
            let mut statement = db.prepare_cached(
                "SELECT seq, type, ts_wallclock, actor, visibility FROM events
                 WHERE project_id = ?1 AND run_id = ?2 ORDER BY seq DESC",
            )?;
            let events = statement.query_map([project, run], |row| {
                Ok(MonitorEvent {
                    seq: row.get(0)?,
                    r#type: row.get(1)?,
                    ts_wallclock: row.get(2)?,
                    actor: row.get(3)?,
                    visibility: row.get(4)?,
                })
            })?;
            let mut visible = events.filter(|event| {
                let event = event.as_ref();
                event.map_or(true, |event| {
                    sees(event.visibility.as_deref(), event.actor.as_deref())
                })
            });
            visible.next().transpose()?
        }
        other => other,
    };
    let mut activity = EventSummary {
        last_event,
        parse_errors: kept.parse_errors,
        ..EventSummary::default()
    };
    let decisions = kept.policy_decisions
        + kept.policy_denied
        + kept.budget_decisions
        + kept.budget_alerts
        + kept.budget_exceeded;
    if decisions > 0 {
        let mut statement = db.prepare_cached(
            "SELECT type, payload_json, visibility, actor FROM events
             WHERE project_id = ?1 AND run_id = ?2 AND type IN
                 ('policy.decision', 'policy.denied', 'budget.decision', 'budget.alert', 'budget.exceeded')
             ORDER BY seq",
        )?;
        let mut rows = statement.query([project, run])?;
        while let Some(row) = rows.next()? {
            let (visibility, author): (Option<String>, Option<String>) = (row.get(2)?, row.get(3)?);
            if sees(visibility.as_deref(), author.as_deref()) {
                let (kind, payload): (String, String) = (row.get(0)?, row.get(1)?);
                activity.see_decision(&kind, &payload);
            }
        }
    }
    Ok(activity)
}

fn jobs(db: &Connection, projects: &BTreeSet<&str>) -> Result<MonitorJobs, Error> {
    let mut jobs = MonitorJobs::default();
    let mut statement = db.prepare_cached(
        "SELECT status, count(*) FROM jobs WHERE project_id = ?1 GROUP BY status",
    )?;
    for project in projects {
        let mut rows = statement.query([project])?;
        while let Some(row) = rows.next()? {
            let (status, count): (String, u64) = (row.get(0)?, row.get(1)?);
            match status.as_str() {
                "queued" => jobs.queued += count,
                "running" => jobs.running += count,
                "completed" => jobs.completed += count,
                _ => jobs.canceled += count,
            }
        }
    }
    Ok(jobs)
}
