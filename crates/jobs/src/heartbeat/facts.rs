//! Collects the facts that speak for waking each worker: new events, due tasks and stuck jobs. Each file is read at
//! most once per tick, and a log that did not grow is not read.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use company::{
    Company, Error,
    document::Agent,
    execution::{job, run},
    format::collation,
    layout,
    org::{self, project},
    planning::task::Tasks,
    unix_ms,
};
use protocol::company::{
    AgentRole, JobKind, ProjectId, RunStatus, TaskStatus,
    heartbeat::{HeartbeatConfig, HeartbeatState, HierarchyMode},
    job::JobStatus,
};
use serde::Deserialize;

use super::triage::{Counts, Worker};

/// Prefixes of event types that need no attention of a worker.
const HOUSEKEEPING: [&str; 4] = [
    "policy.",
    "context.plan.generated",
    "worker.",
    "memory.candidates.generated",
];

/// The position up to which this process has read each event log.
#[derive(Debug, Default)]
pub(crate) struct Logs(Mutex<BTreeMap<PathBuf, ReadPosition>>);

#[derive(Clone, Copy, Debug)]
struct ReadPosition {
    /// Offset in bytes, at the end of a line.
    bytes: u64,
    /// Number of lines up to the offset, without blank ones.
    seq: u64,
}

/// The facts on which a tick decides.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// All agents that can be woken, sorted by id.
    pub(crate) workers: Vec<Worker>,
    /// Roles of these agents, by agent id.
    pub(crate) roles: BTreeMap<String, AgentRole>,
    /// Number of events in the log of each run, by `<project>::<run>`.
    pub(crate) cursors: BTreeMap<String, u64>,
    /// The project of the newest run, else the newest project. `None` if the company has no project.
    pub(crate) default_project: Option<ProjectId>,
}

/// Reads the agents, jobs, tasks, runs and new events of a company.
pub(crate) fn gather(
    company: &Company,
    config: &HeartbeatConfig,
    state: &HeartbeatState,
    now_ms: i64,
    logs: &Logs,
) -> Result<Facts, Error> {
    let agents = org::agents(company)?;
    let pool = pool(&agents, config.hierarchy_mode);
    let mut workers: BTreeMap<String, Worker> = pool
        .iter()
        .map(|agent| {
            let worker = Worker {
                agent_id: agent.id.to_string(),
                kind: crate::job::kind_of(agent).as_str().to_owned(),
                team_id: agent.team_id.clone(),
                ..Worker::default()
            };
            (agent.id.to_string(), worker)
        })
        .collect();
    let projects = project::project_ids(company)?;
    let mut own_runs = BTreeSet::new();
    for project in &projects {
        for (_, record) in job::records(company, project)? {
            if record.job.job_kind == JobKind::Heartbeat {
                own_runs.extend(
                    record
                        .attempts
                        .iter()
                        .map(|attempt| attempt.run_id.to_string()),
                );
            }
            let failed = record
                .attempts
                .iter()
                .filter(|attempt| attempt.status == RunStatus::Failed)
                .count();
            let Some(last) = record.attempts.last() else {
                continue;
            };
            let age = unix_ms(&last.started_at).map(|at| (now_ms - at) / 60_000);
            let is_old = age.is_some_and(|age| age >= i64::from(config.stuck_job_running_minutes));
            let is_stuck = record.status == JobStatus::Running && (is_old || failed >= 2);
            let worker = workers.get_mut(last.worker_agent_id.as_str());
            if let Some(worker) = worker.filter(|_| is_stuck) {
                counts(worker, project).stuck_jobs += 1;
            }
        }
        count_due_tasks(company, project, config, now_ms, &mut workers)?;
    }
    let mut facts = Facts::default();
    let mut newest: Option<(String, ProjectId)> = None;
    let mut latest: BTreeMap<String, String> = BTreeMap::new();
    let mut events = Vec::new();
    for (project, run) in run::runs(company, None)? {
        let created = run.created_at.to_string();
        if newest.as_ref().is_none_or(|(at, _)| *at < created) {
            newest = Some((created.clone(), project.clone()));
        }
        if let Some(worker) = workers.get_mut(run.agent_id.as_str()) {
            let is_latest = latest
                .get(run.agent_id.as_str())
                .is_none_or(|at| *at < created);
            if is_latest {
                latest.insert(run.agent_id.to_string(), created);
                worker.latest_project = Some(project.to_string());
            }
        }
        let key = format!("{project}::{}", run.id);
        let known = state.run_event_cursors.get(&key).copied().unwrap_or(0);
        let log = format!("{}/runs/{}/events.jsonl", layout::project(&project), run.id);
        events.clear();
        let Some(seq) = logs.read(company, &log, known, &mut events) else {
            continue;
        };
        facts.cursors.insert(key.clone(), seq.max(known));
        if own_runs.contains(run.id.as_str()) {
            continue;
        }
        let mut signals: BTreeMap<&str, u64> = BTreeMap::new();
        let relevant: Vec<_> = events
            .iter()
            .filter(|event| event.needs_attention())
            .collect();
        if !relevant.is_empty() && workers.contains_key(run.agent_id.as_str()) {
            *signals.entry(run.agent_id.as_str()).or_default() += 1;
        }
        for event in &relevant {
            *signals.entry(event.actor.as_str()).or_default() += 1;
        }
        for (agent, count) in signals {
            if let Some(worker) = workers.get_mut(agent) {
                counts(worker, &project).new_signals += count;
                worker.cursors.insert(key.clone(), seq);
            }
        }
    }
    facts.default_project = match newest {
        Some((_, project)) => Some(project),
        None => {
            let mut all = project::projects(company)?;
            all.sort_by(|(_, left), (_, right)| left.created_at.cmp(&right.created_at));
            all.pop().map(|(project, _)| project)
        }
    };
    facts.roles = pool
        .iter()
        .map(|agent| (agent.id.to_string(), agent.role))
        .collect();
    facts.workers = workers.into_values().collect();
    facts
        .workers
        .sort_by(|left, right| collation::compare(&left.agent_id, &right.agent_id));
    Ok(facts)
}

fn counts<'a>(worker: &'a mut Worker, project: &ProjectId) -> &'a mut Counts {
    worker.by_project.entry(project.to_string()).or_default()
}

/// The agents that can be woken: workers, and depending on the mode either directors or managers of teams without
/// workers.
pub(super) fn pool(agents: &[std::sync::Arc<Agent>], mode: HierarchyMode) -> Vec<&Agent> {
    let teams: BTreeSet<&str> = agents
        .iter()
        .filter(|agent| agent.role == AgentRole::Worker)
        .filter_map(|agent| agent.team_id.as_deref())
        .collect();
    let is_in = |agent: &&Agent| match (mode, agent.role) {
        (_, AgentRole::Worker) | (HierarchyMode::EnterpriseV1, AgentRole::Director) => true,
        (HierarchyMode::Standard, AgentRole::Manager) => agent
            .team_id
            .as_deref()
            .is_none_or(|team| !teams.contains(team)),
        (HierarchyMode::Standard, AgentRole::Director)
        | (HierarchyMode::EnterpriseV1, AgentRole::Manager)
        | (_, AgentRole::Ceo) => false,
    };
    agents.iter().map(AsRef::as_ref).filter(is_in).collect()
}

/// Counts the due and overdue tasks of a project for their assignees, or for all workers of the task's team.
fn count_due_tasks(
    company: &Company,
    project: &ProjectId,
    config: &HeartbeatConfig,
    now_ms: i64,
    workers: &mut BTreeMap<String, Worker>,
) -> Result<(), Error> {
    let horizon_ms = now_ms + i64::from(config.due_horizon_minutes) * 60_000;
    let tasks = Tasks::read(company, project)?;
    for task in tasks.tasks() {
        let end = task
            .schedule
            .as_ref()
            .and_then(|schedule| schedule.planned_end.as_deref());
        let Some(end_ms) = end.and_then(unix_ms) else {
            continue;
        };
        if matches!(task.status, TaskStatus::Done | TaskStatus::Canceled) || end_ms > horizon_ms {
            continue;
        }
        let assignee = task
            .assignee_agent_id
            .as_deref()
            .filter(|id| workers.contains_key(*id));
        let targets: Vec<String> = match (assignee, task.team_id.as_deref()) {
            (Some(assignee), _) => vec![assignee.to_owned()],
            (None, Some(team)) => workers
                .values()
                .filter(|worker| worker.team_id.as_deref() == Some(team))
                .map(|worker| worker.agent_id.clone())
                .collect(),
            (None, None) => Vec::new(),
        };
        for target in targets {
            if let Some(worker) = workers.get_mut(&target) {
                let counts = counts(worker, project);
                if end_ms < now_ms {
                    counts.overdue_tasks += 1;
                } else {
                    counts.due_tasks += 1;
                }
            }
        }
    }
    Ok(())
}

/// The fields of an event that the heartbeat needs.
#[derive(Debug, Deserialize)]
struct LoggedEvent {
    r#type: String,
    actor: String,
}

impl LoggedEvent {
    fn needs_attention(&self) -> bool {
        !HOUSEKEEPING
            .iter()
            .any(|kind| self.r#type.starts_with(kind))
    }
}

impl Logs {
    /// Appends the events of a log after the first `known` ones to `events`, and returns the number of events in the
    /// log. `None` if the log cannot be read.
    fn read(
        &self,
        company: &Company,
        relative: &str,
        known: u64,
        events: &mut Vec<LoggedEvent>,
    ) -> Option<u64> {
        let path = company.path(relative);
        let length = company
            .dir()
            .ok()?
            .metadata(Path::new(relative))
            .ok()?
            .len();
        let position = {
            let positions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            positions.get(&path).copied()
        };
        // A log that is shorter than before was replaced, so it is read from its start.
        let position =
            position.filter(|position| position.bytes <= length && position.seq <= known);
        if let Some(position) =
            position.filter(|position| position.bytes == length && position.seq == known)
        {
            return Some(position.seq);
        }
        let mut position = position.unwrap_or(ReadPosition { bytes: 0, seq: 0 });
        let mut file = BufReader::with_capacity(64 << 10, company.open(relative).ok()?);
        file.seek(SeekFrom::Start(position.bytes)).ok()?;
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = file.read_until(b'\n', &mut line).ok()?;
            if !line.ends_with(b"\n") {
                break;
            }
            position.bytes += read as u64;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            position.seq += 1;
            if position.seq > known {
                events.extend(serde_json::from_slice::<LoggedEvent>(&line).ok());
            }
        }
        let mut positions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        positions.insert(path, position);
        Some(position.seq)
    }
}
