//! Runs: made, listed, found.

use std::{collections::BTreeSet, sync::Arc, thread};

use protocol::{
    ArtifactId,
    company::{
        AgentId, ContextPackId, DocumentId, ProjectId, RunId, RunStatus, Visibility, run::RunRow,
    },
};
use serde_json::{Map, json};

use crate::{
    Company, Error, Writer,
    document::{ContextPack, PolicySnapshot, Run, RunTag},
    event::{self, Event, Payload},
    layout,
    org::{iso, text},
    project, unix_ms,
};

/// What [`create`] made.
#[derive(Clone, Debug, PartialEq)]
pub struct CreatedRun {
    /// The run.
    pub run_id: RunId,
    /// What it is given to know.
    pub context_pack_id: ContextPackId,
    /// Its folder, relative to the company folder.
    pub relpath: String,
}

/// A run that is about to be made.
pub(crate) struct NewRun {
    /// Its document.
    pub(crate) run: Run,
    /// Its first event.
    pub(crate) started: Event,
    /// Its id.
    pub(crate) run_id: RunId,
    /// The id of what it is given to know.
    pub(crate) context_pack_id: ContextPackId,
    manifest: ContextPack,
    snapshot: PolicySnapshot,
}

impl NewRun {
    /// A run of an agent of a project, and an empty context pack.
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

    /// The files of its context pack, below the pack's folder.
    pub(crate) fn pack_files(
        &self,
        writer: &Writer<'_>,
    ) -> Result<[(&'static str, String); 2], Error> {
        Ok([
            ("manifest.yaml", writer.yaml(&self.manifest)?),
            ("policy_snapshot.yaml", writer.yaml(&self.snapshot)?),
        ])
    }
}

/// Makes a run: its context pack, its folder and its first event, each there whole or not at all.
pub fn create(
    company: &Company,
    project: &ProjectId,
    agent: &AgentId,
    provider: &str,
) -> Result<CreatedRun, Error> {
    project::project(company, project)?;
    let new = NewRun::new(company, project, agent, provider)?;
    let relpath = layout::run(project, &new.run_id);
    company.write(|writer| {
        writer.make_whole(
            &layout::context_pack(project, &new.context_pack_id),
            &["bundle"],
            &new.pack_files(writer)?,
        )?;
        writer.make_whole(
            &relpath,
            &["outputs"],
            &[
                ("run.yaml", writer.yaml(&new.run)?),
                ("events.jsonl", event::first_line(&new.started)),
            ],
        )
    })?;
    company.events_appended(&format!("{relpath}/events.jsonl"), 0);
    Ok(CreatedRun {
        run_id: new.run_id,
        context_pack_id: new.context_pack_id,
        relpath,
    })
}

/// Whether something happens in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activity {
    /// It has a live session, or was started within the last day.
    Active,
    /// It was made and never started.
    Idle,
    /// It was started long ago and nothing is heard of it any more.
    Stale,
    /// It ended, failed or was stopped.
    Over,
}

/// Runs with a live session, by id. Whoever runs sessions knows them.
pub type LiveRuns = BTreeSet<String>;

/// Whether something happens in a run.
pub fn activity(run: &Run, live: &LiveRuns, now_ms: i64) -> Activity {
    match run.status {
        RunStatus::Ended | RunStatus::Failed | RunStatus::Stopped => Activity::Over,
        RunStatus::Running if live.contains(run.id.as_str()) => Activity::Active,
        RunStatus::Running if run.spec.is_none() => Activity::Idle,
        RunStatus::Running if is_recent(run, now_ms) => Activity::Active,
        RunStatus::Running => Activity::Stale,
    }
}

/// Whether a run was made within the last day.
pub(crate) fn is_recent(run: &Run, now_ms: i64) -> bool {
    const DAY_MS: i64 = 86_400_000;
    unix_ms(&run.created_at).is_some_and(|created_ms| now_ms - created_ms <= DAY_MS)
}

/// Every readable run of a project, or of all projects, with the name of its project's folder.
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

/// The runs that can be read, in the order of their folders; many are read by two threads.
fn readable(company: &Company, folder: &str, names: &[String]) -> Vec<Arc<Run>> {
    const MANY: usize = 500;
    // What cannot be read is reported by `workspace.validate`, not by every list.
    let read = |names: &[String]| -> Vec<Arc<Run>> {
        let runs = names
            .iter()
            .map(|name| company.read(&format!("{folder}/{name}/run.yaml")));
        runs.filter_map(Result::ok).collect()
    };
    if names.len() < MANY {
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

/// The runs as `run.list` shows them, newest first.
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
        })
        .collect();
    rows.sort_by(|left, right| {
        (&right.created_at, &right.run_id).cmp(&(&left.created_at, &left.run_id))
    });
    Ok(rows)
}

/// Gives a run the bytes of an artifact to read. Answers where they are, below the company folder.
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

/// The extension of a name with its dot, if it is a plain one.
fn extension(name: &str) -> String {
    let found = name.rsplit_once('.').map(|(_, extension)| extension);
    let is_plain = |extension: &&str| {
        (1..=8).contains(&extension.len()) && extension.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let found = found.filter(is_plain);
    found.map_or_else(String::new, |extension| format!(".{extension}"))
}
