//! `ui.snapshot`: the other views combined, all read from one consistent snapshot.

use std::{cmp::Reverse, collections::BTreeMap};

use company::{Company, document::Document, format::collation, layout, policy::Actor};
use protocol::company::{
    AgentRole, RunStatus,
    comment::Comment,
    inbox::InboxSnapshotResponse,
    index::IndexSyncWorkerStatusResponse,
    monitor::{MonitorRow, MonitorSnapshotResponse},
    ui::{
        UiColleague, UiColleagueStatus, UiHeartbeat, UiHeartbeatStats, UiSnapshotParams,
        UiSnapshotResponse,
    },
};
use rusqlite::{Connection, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DEFAULT_LIMIT, LiveSessions, People, inbox, monitor, usage};
use crate::{Error, Freshness, Indexes, search::may_see};

/// Maximum number of comments.
const COMMENTS: u32 = 300;
/// File in which the heartbeat records its state.
const HEARTBEAT_STATE: &str = ".local/heartbeat/state.yaml";

impl Indexes {
    /// Reads everything the desktop shows at once.
    pub fn ui(
        &self,
        company: &Company,
        wanted: &UiSnapshotParams,
        live: &LiveSessions,
        actor: Option<&Actor>,
        worker: &IndexSyncWorkerStatusResponse,
    ) -> Result<UiSnapshotResponse, Error> {
        let freshness = Freshness::of(wanted.refresh_index, wanted.sync_index);
        let state = self.freshen(company, freshness)?;
        let people = People::of(company)?;
        let project = wanted.project_id.as_deref();
        let actor = actor.map(|actor| (actor, &people));
        let limit = wanted.monitor_limit.unwrap_or(DEFAULT_LIMIT);
        let of_monitor = monitor::MonitorQuery {
            project,
            limit,
            live,
            actor,
        };
        let of_inbox = inbox::InboxQuery {
            project,
            pending: wanted.pending_limit.unwrap_or(DEFAULT_LIMIT),
            decisions: wanted.decisions_limit.unwrap_or(DEFAULT_LIMIT),
            actor,
        };
        self.read(company, |db| {
            let monitor = monitor::snapshot(company, db, &of_monitor, state)?;
            let review_inbox = inbox::snapshot(company, db, &of_inbox, state)?;
            let usage_analytics = usage::snapshot(company, db, project, limit, state)?;
            let comments = match project {
                Some(project) => comments(company, db, project, actor)?,
                None => Vec::new(),
            };
            Ok(UiSnapshotResponse {
                workspace_dir: company.given().to_owned(),
                generated_at: company.sources().now_text(),
                index_sync_worker: worker.clone(),
                heartbeat: heartbeat(company),
                colleagues: colleagues(db, &people, &monitor, &review_inbox)?,
                monitor,
                review_inbox,
                usage_analytics,
                comments,
            })
        })
    }
}

fn comments(
    company: &Company,
    db: &Connection,
    project: &str,
    actor: Option<(&Actor, &People)>,
) -> Result<Vec<Comment>, Error> {
    let mut statement = db.prepare_cached(
        "SELECT relpath FROM comments WHERE project_id = ?1 ORDER BY created_at DESC, comment_id DESC LIMIT ?2",
    )?;
    let paths = statement.query_map(params![project, COMMENTS], |row| row.get::<_, String>(0))?;
    let mut found = Vec::new();
    for path in paths {
        let Ok(comment) = company.read::<Comment>(&path?) else {
            continue;
        };
        let visibility = Some(comment.visibility.as_str());
        let author = comment.author_id.as_str();
        let is_visible = actor.is_none_or(|(actor, people)| {
            may_see(actor, visibility, Some(author), people.team_of(author))
        });
        if is_visible {
            found.push(Comment::clone(&comment));
        }
    }
    Ok(found)
}

/// Counters of one agent.
#[derive(Default)]
struct AgentActivity {
    active_runs: u64,
    total_runs: u64,
    pending_reviews: u64,
    recent_decisions: u64,
    last_seen_at: Option<String>,
}

impl AgentActivity {
    fn saw_at(&mut self, time: Option<&str>) {
        if time > self.last_seen_at.as_deref() {
            self.last_seen_at = time.map(ToOwned::to_owned);
        }
    }
}

fn is_active(row: &MonitorRow) -> bool {
    let live = row.live.as_ref().map(|live| live.live_status);
    live == Some(RunStatus::Running) || row.run_status == Some(RunStatus::Running)
}

fn colleagues(
    db: &Connection,
    people: &People,
    monitor: &MonitorSnapshotResponse,
    inbox: &InboxSnapshotResponse,
) -> Result<Vec<UiColleague>, Error> {
    let mut seen: BTreeMap<&str, AgentActivity> = BTreeMap::new();
    for row in &monitor.rows {
        let Some(agent) = row.agent_id.as_deref() else {
            continue;
        };
        let seen = seen.entry(agent).or_default();
        seen.total_runs += 1;
        seen.active_runs += u64::from(is_active(row));
        let event = row
            .last_event
            .as_ref()
            .and_then(|event| event.ts_wallclock.as_deref());
        seen.saw_at(event.or(row.created_at.as_deref()));
    }
    for item in &inbox.pending {
        if let Some(producer) = item.produced_by.as_deref() {
            let seen = seen.entry(producer).or_default();
            seen.pending_reviews += 1;
            seen.saw_at(item.created_at.as_deref());
        }
    }
    for item in &inbox.recent_decisions {
        let seen = seen.entry(&item.actor_id).or_default();
        seen.recent_decisions += 1;
        seen.saw_at(Some(&item.created_at));
    }
    let mut all_runs =
        db.prepare_cached("SELECT total_runs FROM agent_counters WHERE agent_id = ?1")?;
    let mut colleagues = Vec::with_capacity(people.agents.len());
    for agent in &people.agents {
        let seen = seen.remove(agent.id.as_str()).unwrap_or_default();
        let team_name = agent
            .team_id
            .as_ref()
            .and_then(|team| people.team_names.get(team));
        colleagues.push(UiColleague {
            agent_id: agent.id.to_string(),
            name: agent.name.to_string(),
            role: agent.role,
            provider: agent.provider.to_string(),
            team_id: agent.team_id.clone(),
            team_name: team_name.cloned(),
            active_runs: seen.active_runs,
            total_runs: seen.total_runs,
            all_runs: all_runs
                .query_row([agent.id.as_str()], |row| row.get(0))
                .unwrap_or(0),
            pending_reviews: seen.pending_reviews,
            recent_decisions: seen.recent_decisions,
            last_seen_at: seen.last_seen_at,
            status: match (seen.active_runs, seen.pending_reviews) {
                (1.., _) => UiColleagueStatus::Active,
                (0, 1..) => UiColleagueStatus::NeedsReview,
                (0, 0) => UiColleagueStatus::Idle,
            },
        });
    }
    colleagues.sort_by(|left, right| {
        let rank = |role: AgentRole| match role {
            AgentRole::Ceo => 0,
            AgentRole::Director => 1,
            AgentRole::Manager => 2,
            AgentRole::Worker => 3,
        };
        let key = |one: &UiColleague| {
            let busiest = Reverse((
                one.active_runs,
                one.pending_reviews,
                one.last_seen_at.clone(),
            ));
            (busiest, rank(one.role))
        };
        key(left)
            .cmp(&key(right))
            .then_with(|| collation::compare(&left.name, &right.name))
    });
    Ok(colleagues)
}

/// The part of the heartbeat configuration that the view shows.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct HeartbeatConfig {
    #[serde(default)]
    enabled: Option<bool>,
    #[serde(default)]
    tick_interval_minutes: Option<u64>,
    #[serde(default)]
    top_k_workers: Option<u64>,
    #[serde(default)]
    min_wake_score: Option<u64>,
    #[serde(default)]
    hierarchy_mode: Option<String>,
    #[serde(default)]
    executive_manager_agent_id: Option<String>,
    #[serde(default)]
    allow_director_to_spawn_workers: Option<bool>,
}

impl Document for HeartbeatConfig {}

/// The part of the heartbeat state that the view shows.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct HeartbeatState {
    #[serde(default)]
    running: Option<bool>,
    #[serde(default)]
    last_tick_at: Option<String>,
    #[serde(default)]
    next_tick_at: Option<String>,
    #[serde(default)]
    stats: Option<UiHeartbeatStats>,
}

impl Document for HeartbeatState {}

fn heartbeat(company: &Company) -> UiHeartbeat {
    let config = company.read_if_there::<HeartbeatConfig>(layout::HEARTBEAT_CONFIG);
    // A configuration that cannot be read must not enable the heartbeat.
    let usually_enabled = config.is_ok();
    let config = config.ok().flatten();
    let config = config.as_deref();
    let state = company
        .read_if_there::<HeartbeatState>(HEARTBEAT_STATE)
        .ok()
        .flatten();
    let state = state.map_or_else(HeartbeatState::default, |state| {
        HeartbeatState::clone(&state)
    });
    UiHeartbeat {
        enabled: config
            .and_then(|config| config.enabled)
            .unwrap_or(usually_enabled),
        running: state.running.unwrap_or(false),
        tick_interval_minutes: config
            .and_then(|config| config.tick_interval_minutes)
            .unwrap_or(20),
        top_k_workers: config.and_then(|config| config.top_k_workers).unwrap_or(2),
        min_wake_score: config.and_then(|config| config.min_wake_score).unwrap_or(3),
        hierarchy_mode: config
            .and_then(|config| config.hierarchy_mode.clone())
            .unwrap_or_else(|| "standard".to_owned()),
        executive_manager_agent_id: config
            .and_then(|config| config.executive_manager_agent_id.clone()),
        allow_director_to_spawn_workers: config
            .and_then(|config| config.allow_director_to_spawn_workers)
            .unwrap_or(false),
        last_tick_at: state.last_tick_at,
        next_tick_at: state.next_tick_at,
        stats: state.stats.unwrap_or_default(),
    }
}
