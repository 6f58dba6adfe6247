//! Creates, lists and reads runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    thread,
};

use protocol::{
    ArtifactId, Id as _,
    company::{
        AgentId, ContextPackId, DocumentId, Issue, ProjectId, RunId, RunStatus, Text, Visibility,
        run::RunRow,
    },
};
use serde_json::{Map, json};

use crate::{
    Company, DAY_MS, Error,
    document::{ContextPack, PolicySnapshot, Run, RunSpec, RunTag},
    event_log::{self, Event, Payload},
    execution::job,
    files,
    format::yaml,
    layout,
    org::{iso, project, text},
    secret, unix_ms,
};

/// A run that [`create`] has written.
#[derive(Clone, Debug, PartialEq)]
pub struct CreatedRun {
    /// Id of the run.
    pub run_id: RunId,
    /// Id of its context pack.
    pub context_pack_id: ContextPackId,
    /// Its folder, relative to the company folder.
    pub relpath: String,
}

/// A run that has not been written yet.
pub(crate) struct NewRun {
    /// Document of the run.
    pub(crate) run: Run,
    /// First event of its log.
    pub(crate) started: Event,
    /// Id of the run.
    pub(crate) run_id: RunId,
    /// Id of its context pack.
    pub(crate) context_pack_id: ContextPackId,
    manifest: ContextPack,
    snapshot: PolicySnapshot,
}

impl NewRun {
    /// Prepares a run of an agent in a project, with an empty context pack.
    pub(crate) fn new(
        company: &Company,
        project: &ProjectId,
        agent: &AgentId,
        provider: &str,
    ) -> Result<Self, Error> {
        let sources = company.sources();
        let run_id: RunId = sources.id();
        let context_pack_id: ContextPackId = sources.id();
        let now = sources.now_text();
        let created_at = iso(now.clone());
        let manifest = ContextPack::empty(
            text(&context_pack_id),
            created_at.clone(),
            text(&run_id),
            text(project),
            text(agent),
        );
        let snapshot_id: DocumentId = sources.id();
        let snapshot = PolicySnapshot::empty(text(snapshot_id), created_at.clone(), text(&run_id));
        let run = Run {
            schema_version: 1,
            r#type: RunTag::It,
            id: text(&run_id),
            project_id: text(project),
            agent_id: text(agent),
            provider: text(provider),
            created_at,
            status: RunStatus::Running,
            context_pack_id: text(&context_pack_id),
            events_relpath: text(format!("runs/{run_id}/events.jsonl")),
            ended_at: None,
            usage: None,
            context_cycles: None,
            spec: None,
            events_tail: None,
            goal: None,
            rest: Map::new(),
        };
        let session_ref = format!("local_{run_id}");
        let started = Event {
            event_id: sources.id(),
            ts_wallclock: now,
            ts_monotonic_ms: company.uptime_ms(),
            run_id: run_id.clone(),
            session_ref: session_ref.clone(),
            actor: "system".to_owned(),
            visibility: Visibility::Org,
            event_type: "run.started".to_owned(),
            payload: Payload::new(&json!({
                "project_id": project,
                "agent_id": agent,
                "provider": provider,
                "context_pack_id": context_pack_id,
            }))?,
            correlation_id: Some(session_ref),
            causation_id: None,
        };
        Ok(Self {
            run,
            started,
            run_id,
            context_pack_id,
            manifest,
            snapshot,
        })
    }

    /// The files of its context pack, as paths relative to the pack's folder with their contents.
    pub(crate) fn pack_files(&self) -> Result<[(&'static str, String); 2], Error> {
        Ok([
            ("manifest.yaml", yaml::print(&self.manifest)?),
            ("policy_snapshot.yaml", yaml::print(&self.snapshot)?),
        ])
    }
}

/// Creates a run with its context pack, its folder and its first event; each folder appears complete or not at all.
/// Both folders are built and synced before the lock is acquired, so that a run costs three syncs, two of them under
/// the lock.
pub fn create(
    company: &Company,
    project: &ProjectId,
    agent: &AgentId,
    provider: &str,
) -> Result<CreatedRun, Error> {
    project::project(company, project)?;
    make(
        company,
        project,
        NewRun::new(company, project, agent, provider)?,
    )
}

/// Creates a run with a goal, which lists show.
pub fn create_for(
    company: &Company,
    project: &ProjectId,
    agent: &AgentId,
    provider: &str,
    goal: &Text,
) -> Result<CreatedRun, Error> {
    const MAX_CHARS: usize = 500;
    let length = goal.chars().count();
    if length > MAX_CHARS {
        return Err(Error::Params(vec![Issue::custom(
            "goal",
            format!("expected at most {MAX_CHARS} characters, found {length}"),
        )]));
    }
    secret::refuse("goal", goal)?;
    project::project(company, project)?;
    let mut new = NewRun::new(company, project, agent, provider)?;
    new.run.goal = Some(goal.clone());
    make(company, project, new)
}

/// Returns the document of a run as [`create`] would write it, without writing anything.
pub fn unmade(
    company: &Company,
    project: &ProjectId,
    run_id: &RunId,
    agent: &AgentId,
    provider: &str,
) -> Result<Run, Error> {
    project::project(company, project)?;
    let new = NewRun::new(company, project, agent, provider)?;
    Ok(Run {
        id: text(run_id),
        ..new.run
    })
}

fn make(company: &Company, project: &ProjectId, new: NewRun) -> Result<CreatedRun, Error> {
    let relpath = layout::run(project, &new.run_id);
    let pack_relpath = layout::context_pack(project, &new.context_pack_id);
    let staged = [
        company.stage(&pack_relpath, &["bundle"], &new.pack_files()?)?,
        company.stage(
            &relpath,
            &["outputs"],
            &[
                ("run.yaml", yaml::print(&new.run)?),
                ("events.jsonl", event_log::first_line(&new.started)),
            ],
        )?,
    ];
    files::sync_staged(&staged)?;
    let [pack, run] = staged;
    company.write(|writer| {
        writer.put_in_place(&pack_relpath, pack)?;
        writer.put_in_place(&relpath, run)
    })?;
    company.events_appended(&format!("{relpath}/events.jsonl"), 0);
    Ok(CreatedRun {
        run_id: new.run_id,
        context_pack_id: new.context_pack_id,
        relpath,
    })
}

/// Activity of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activity {
    /// The run has a live session, or was started within the last day.
    Active,
    /// The run was created but never started.
    Idle,
    /// The run was started more than a day ago and has no live session.
    Stale,
    /// The run has ended, failed or was stopped.
    Over,
}

/// Ids of the runs with a live session. The component that runs sessions supplies them.
pub type LiveRuns = BTreeSet<String>;

/// Determines the activity of a run.
pub fn activity(run: &Run, live: &LiveRuns, now_ms: i64) -> Activity {
    match run.status {
        RunStatus::Ended | RunStatus::Failed | RunStatus::Stopped => Activity::Over,
        RunStatus::Running if live.contains(run.id.as_str()) => Activity::Active,
        RunStatus::Running if run.spec.is_none() => Activity::Idle,
        RunStatus::Running if is_recent(run, now_ms) => Activity::Active,
        RunStatus::Running => Activity::Stale,
    }
}

/// Returns whether a run was never launched: its status is `running`, but it has no process.
pub fn is_unstarted(run: &Run) -> bool {
    run.status == RunStatus::Running && run.spec.is_none()
}

/// Returns whether a run was created within the last day.
pub(crate) fn is_recent(run: &Run, now_ms: i64) -> bool {
    unix_ms(&run.created_at).is_some_and(|created_ms| now_ms - created_ms <= DAY_MS)
}

/// Returns every readable run of one project or of all projects, with the project id from the folder name.
pub fn runs(
    company: &Company,
    only: Option<&ProjectId>,
) -> Result<Vec<(ProjectId, Arc<Run>)>, Error> {
    let projects = match only {
        Some(project) => vec![project.clone()],
        None => project::project_ids(company)?,
    };
    let mut found = Vec::new();
    for project in projects {
        let folder = format!("{}/runs", layout::project(&project));
        let names = company.names(&folder)?;
        let runs = readable(company, &folder, &names).into_iter();
        found.extend(runs.map(|run| (project.clone(), run)));
    }
    Ok(found)
}

/// Returns the readable runs in folder order. Two threads read large folders.
fn readable(company: &Company, folder: &str, names: &[String]) -> Vec<Arc<Run>> {
    const TWO_THREADS_FROM: usize = 500;
    // `workspace.validate` reports unreadable files; lists skip them.
    let read = |names: &[String]| -> Vec<Arc<Run>> {
        let runs = names
            .iter()
            .map(|name| company.read(&format!("{folder}/{name}/run.yaml")));
        runs.filter_map(Result::ok).collect()
    };
    if names.len() < TWO_THREADS_FROM {
        return read(names);
    }
    let (first, second) = names.split_at(names.len() / 2);
    thread::scope(|scope| {
        let second = scope.spawn(|| read(second));
        let mut runs = read(first);
        runs.extend(second.join().unwrap_or_default());
        runs
    })
}

/// Returns the rows of `run.list`, newest first.
pub fn list(company: &Company, only: Option<&ProjectId>) -> Result<Vec<RunRow>, Error> {
    let mut rows: Vec<_> = runs(company, only)?
        .into_iter()
        .map(|(project, run)| RunRow {
            project_id: project.into(),
            run_id: run.id.to_string(),
            created_at: run.created_at.to_string(),
            status: run.status,
            provider: run.provider.to_string(),
            agent_id: run.agent_id.to_string(),
            goal: own_goal(&run),
            warnings: Vec::new(),
            not_started: is_unstarted(&run).then_some(true),
        })
        .collect();
    let projects: BTreeSet<_> = rows
        .iter()
        .filter(|row| row.goal.is_none())
        .map(|row| row.project_id.clone())
        .collect();
    let of_jobs = job_goals(company, projects.iter().map(String::as_str));
    for row in rows.iter_mut().filter(|row| row.goal.is_none()) {
        row.goal = of_jobs.get(&row.run_id).cloned();
    }
    rows.sort_by(|left, right| {
        (&right.created_at, &right.run_id).cmp(&(&left.created_at, &left.run_id))
    });
    Ok(rows)
}

/// Returns the goals of the given runs by run id, as [`list`] shows them. `wanted` yields pairs of project id and run
/// id.
pub fn goals<'a>(
    company: &Company,
    wanted: impl Iterator<Item = (&'a str, &'a str)>,
) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut projects = BTreeSet::new();
    for (project, run) in wanted {
        let (Ok(project), Ok(run)) = (ProjectId::parse(project), RunId::parse(run)) else {
            continue;
        };
        let path = format!("{}/run.yaml", layout::run(&project, &run));
        match company
            .read::<Run>(&path)
            .ok()
            .and_then(|run| own_goal(&run))
        {
            Some(goal) => {
                found.insert(run.to_string(), goal);
            }
            None => {
                projects.insert(project.to_string());
            }
        }
    }
    for (run, goal) in job_goals(company, projects.iter().map(String::as_str)) {
        found.entry(run).or_insert(goal);
    }
    found
}

/// The goal that a run's own document states, or the command it ran.
fn own_goal(run: &Run) -> Option<String> {
    if let Some(goal) = &run.goal {
        return Some(goal.to_string());
    }
    match &run.spec {
        Some(RunSpec::Command { argv, .. }) => match argv.as_slice() {
            [shell, flag, script] if flag == "-c" && shell.ends_with("sh") => Some(script.clone()),
            argv if run.provider.as_str() == "cmd" => Some(argv.join(" ")),
            // The command line of a worker program does not state its goal.
            _ => None,
        },
        Some(RunSpec::CodexAppServer { .. }) | None => None,
    }
}

/// Returns the goals of the jobs of the given projects, keyed by the run of each attempt. Unreadable jobs are skipped.
fn job_goals<'a>(
    company: &Company,
    projects: impl Iterator<Item = &'a str>,
) -> BTreeMap<String, String> {
    let mut goals = BTreeMap::new();
    for project in projects {
        let Ok(project) = ProjectId::parse(project) else {
            continue;
        };
        for (_, record) in job::records(company, &project).unwrap_or_default() {
            let goal = record.job.goal.as_str();
            let attempts = record.attempts.iter();
            goals.extend(attempts.map(|attempt| (attempt.run_id.to_string(), goal.to_owned())));
        }
    }
    goals
}

/// Writes the bytes of an artifact into the inputs of a run. Returns the path relative to the company folder.
pub fn give(
    company: &Company,
    (project, run): (&ProjectId, &RunId),
    artifact: &ArtifactId,
    display_name: &str,
    bytes: &[u8],
) -> Result<String, Error> {
    let folder = layout::run_inputs(project, run);
    let relpath = format!("{folder}/{artifact}{}", extension(display_name));
    company.write(|writer| {
        writer.make_dir(&folder)?;
        writer.put_bytes(&relpath, bytes)
    })?;
    Ok(relpath)
}

/// The extension of a file name with its dot; empty unless it has 1 to 8 ASCII letters and digits.
fn extension(name: &str) -> String {
    let found = name.rsplit_once('.').map(|(_, extension)| extension);
    let is_plain = |extension: &&str| {
        (1..=8).contains(&extension.len()) && extension.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let found = found.filter(is_plain);
    found.map_or_else(String::new, |extension| format!(".{extension}"))
}
