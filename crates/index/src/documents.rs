//! Documents: parses the files of a company folder and writes them as rows.

use company::{
    Company,
    decisions::plan_approval,
    document::{
        self, ActionProposalHead, Agent, DocumentHead, DocumentKind, Markdown, MemoryDeltaHead,
        MilestoneReportHead, Run, RunSpec,
    },
    format::front_matter,
    planning::task,
    pm::overview,
};
use protocol::company::{
    comment::Comment,
    conversation::Conversation,
    inbox::{HelpRequest, Review},
    index::{IndexSyncResponse, SearchKind},
    task::Task,
};
use rusqlite::{Connection, OptionalExtension as _, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    counters, events,
    scan::{FileKind, FileStamp, RecordedFile, lines_of, project_of},
    search::{self, IndexedText},
};

/// The parsed content of a document, by kind.
#[derive(Debug)]
pub(crate) enum ParsedDocument {
    Run(Box<Run>),
    Artifact(Box<IndexedArtifact>),
    Task(Box<Markdown<Task>>),
    Job { status: JobStatus },
    Conversation(Box<Conversation>),
    Review(Box<Review>),
    HelpRequest(Box<HelpRequest>),
    Comment(Box<Comment>),
    Agent(Box<Agent>),
}

/// A document of any type. Every file with an id and a type is indexed, also an invalid one, so that a reviewer can see
/// it and have it repaired or denied.
#[derive(Debug)]
pub(crate) struct IndexedArtifact {
    id: String,
    kind: String,
    title: Option<String>,
    visibility: Option<String>,
    produced_by: Option<String>,
    run_id: Option<String>,
    context_pack_id: Option<String>,
    created_at: Option<String>,
    is_valid: bool,
    /// Whether it proposes to approve an executive plan, which only the CEO or a human may decide.
    is_plan_approval: bool,
    body: String,
}

/// Status of a job.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobStatus {
    Queued,
    Running,
    Completed,
    Canceled,
}

/// The indexed part of `job.yaml`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Job {
    status: JobStatus,
}

impl company::document::Document for Job {}

/// The first 64 bits of the SHA-256 hash of some bytes.
pub(crate) fn hash_of(bytes: &[u8]) -> i64 {
    let digest = Sha256::digest(bytes);
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(first)
}

/// A document that was read from its file.
#[derive(Debug)]
pub(crate) struct ReadDocument {
    pub(crate) stamp: FileStamp,
    pub(crate) hash: i64,
    /// The parsed content; `None` if the file cannot be read or is not a valid document of its kind.
    pub(crate) parsed: Option<ParsedDocument>,
}

/// Reads a document. Returns `None` if the file no longer exists.
pub(crate) fn read(company: &Company, kind: FileKind, path: &str) -> Option<ReadDocument> {
    use std::io::Read as _;
    /// Size limit in bytes; larger files are not parsed.
    const LARGEST: i64 = 16 << 20;
    /// A file that was modified less than this long ago may be modified again without a change of its modification
    /// time.
    const SETTLED_NS: i64 = 50_000_000;
    let file = match company.open(path) {
        Ok(file) => file,
        Err(error) if error.is_missing() => return None,
        // A file that cannot be opened has no content until its metadata changes.
        Err(_) => {
            let stamp = FileStamp::of(&company.path(path).metadata().ok()?);
            return Some(ReadDocument {
                stamp,
                hash: 0,
                parsed: None,
            });
        }
    };
    let mut stamp = FileStamp::of(&file.metadata().ok()?);
    let mut bytes = Vec::new();
    if stamp.size > LARGEST
        || (&file)
            .take(LARGEST as u64)
            .read_to_end(&mut bytes)
            .is_err()
    {
        return Some(ReadDocument {
            stamp,
            hash: 0,
            parsed: None,
        });
    }
    let now_ns = company.sources().now_ms().saturating_mul(1_000_000);
    if now_ns.saturating_sub(stamp.mtime_ns) < SETTLED_NS {
        // Zero differs from every real modification time, so the next sync reads the file again.
        stamp.mtime_ns = 0;
    }
    let text = str::from_utf8(&bytes).ok();
    Some(ReadDocument {
        stamp,
        hash: hash_of(&bytes),
        parsed: text.and_then(|text| parse(kind, path, text)),
    })
}

fn parse(kind: FileKind, path: &str, text: &str) -> Option<ParsedDocument> {
    match kind {
        FileKind::Run => document::parse(text)
            .ok()
            .map(|run| ParsedDocument::Run(Box::new(run))),
        FileKind::Artifact => {
            artifact(path, text).map(|found| ParsedDocument::Artifact(Box::new(found)))
        }
        FileKind::Task => Markdown::parse(text)
            .ok()
            .map(|task| ParsedDocument::Task(Box::new(task))),
        FileKind::Job => document::parse::<Job>(text)
            .ok()
            .map(|job| ParsedDocument::Job { status: job.status }),
        FileKind::Conversation => document::parse(text)
            .ok()
            .map(|found| ParsedDocument::Conversation(Box::new(found))),
        FileKind::Review => document::parse(text)
            .ok()
            .map(|found| ParsedDocument::Review(Box::new(found))),
        FileKind::HelpRequest => Markdown::parse(text)
            .ok()
            .map(|found| ParsedDocument::HelpRequest(Box::new(found.head))),
        FileKind::Comment => document::parse(text)
            .ok()
            .map(|found| ParsedDocument::Comment(Box::new(found))),
        FileKind::Agent => document::parse(text)
            .ok()
            .map(|found| ParsedDocument::Agent(Box::new(found))),
        FileKind::Events | FileKind::Messages => None,
    }
}

fn artifact(path: &str, text: &str) -> Option<IndexedArtifact> {
    // Requests name a document by its file name, whatever id the file itself declares.
    let id = path.rsplit('/').next()?.strip_suffix(".md")?;
    let split = front_matter::split(text).ok()?;
    let string = |name: &str| {
        let value = split.head.get(name).and_then(Value::as_str);
        value
            .filter(|value| !value.is_empty())
            .map(ToOwned::to_owned)
    };
    let kind = string("type")?;
    string("id")?;
    let is_valid = match kind.as_str() {
        // The heads of these types have more required fields than the common document head.
        "memory_delta" => Markdown::<MemoryDeltaHead>::parse(text).is_ok(),
        "milestone_report" => Markdown::<MilestoneReportHead>::parse(text).is_ok(),
        _ => Markdown::<DocumentHead>::parse(text).is_ok(),
    };
    let is_plan_approval = kind == DocumentKind::HeartbeatActionProposal.as_str()
        && Markdown::<ActionProposalHead>::parse(text)
            .is_ok_and(|proposal| plan_approval::is_plan_approval(&proposal.head));
    Some(IndexedArtifact {
        id: id.to_owned(),
        title: string("title"),
        visibility: string("visibility"),
        produced_by: string("produced_by"),
        run_id: string("run_id"),
        context_pack_id: string("context_pack_id"),
        created_at: string("created_at"),
        is_valid,
        is_plan_approval,
        kind,
        body: split.body,
    })
}

impl ParsedDocument {
    /// The id of the row, for the document at `path`.
    pub(crate) fn id(&self, path: &str) -> String {
        match self {
            Self::Run(run) => run.id.to_string(),
            Self::Artifact(artifact) => artifact.id.clone(),
            Self::Task(task) => task.head.id.to_string(),
            // The folder is named after the job.
            Self::Job { .. } => path.rsplit('/').nth(1).unwrap_or_default().to_owned(),
            Self::Conversation(conversation) => conversation.id.to_string(),
            Self::Review(review) => review.id.to_string(),
            Self::HelpRequest(request) => request.id.to_string(),
            Self::Comment(comment) => comment.id.to_string(),
            Self::Agent(agent) => agent.id.to_string(),
        }
    }
}

/// The table of a kind, the column of its id, and whether ids are unique only within a project.
fn table(kind: FileKind) -> (&'static str, &'static str, bool) {
    match kind {
        FileKind::Run | FileKind::Events => ("runs", "run_id", true),
        FileKind::Artifact => ("artifacts", "artifact_id", true),
        FileKind::Task => ("tasks", "task_id", true),
        FileKind::Job => ("jobs", "job_id", true),
        FileKind::Conversation | FileKind::Messages => ("conversations", "conversation_id", false),
        FileKind::Review => ("reviews", "review_id", false),
        FileKind::HelpRequest => ("help_requests", "help_request_id", false),
        FileKind::Comment => ("comments", "comment_id", false),
        FileKind::Agent => ("agents", "agent_id", false),
    }
}

/// Whether ids of this kind are unique only within a project.
pub(crate) fn is_of_project(kind: FileKind) -> bool {
    table(kind).2
}

/// Whether another file already owns the row of this id.
pub(crate) fn is_taken(
    db: &Connection,
    kind: FileKind,
    path: &str,
    id: &str,
) -> rusqlite::Result<bool> {
    let (table, column, is_of_project) = table(kind);
    let project = if is_of_project {
        " AND project_id = ?2"
    } else {
        " AND ?2 = ?2"
    };
    let query = format!("SELECT relpath FROM {table} WHERE {column} = ?1{project}");
    let owner: Option<String> = db
        .prepare_cached(&query)?
        .query_row([id, project_of(path)], |row| row.get(0))
        .optional()?;
    Ok(owner.is_some_and(|owner| owner != path))
}

/// Deletes the row of a document that was removed or whose id changed, together with its dependent rows.
pub(crate) fn delete(
    db: &Connection,
    kind: FileKind,
    path: &str,
    id: &str,
    counts: &mut IndexSyncResponse,
) -> rusqlite::Result<()> {
    if kind == FileKind::Run && !is_taken(db, kind, path, id)? {
        counters::count_out(db, project_of(path), id)?;
    }
    let (table, column, is_of_project) = table(kind);
    let project = if is_of_project {
        " AND project_id = ?3"
    } else {
        " AND ?3 = ?3"
    };
    let query = format!("DELETE FROM {table} WHERE {column} = ?1 AND relpath = ?2{project}");
    let deleted = db
        .prepare_cached(&query)?
        .execute([id, path, project_of(path)])? as u64;
    if deleted == 0 {
        return Ok(());
    }
    match kind {
        FileKind::Run => {
            counts.runs_deleted += deleted;
            events::delete(db, project_of(path), id, counts)?;
        }
        FileKind::Artifact => {
            counts.artifacts_deleted += deleted;
            search::forget(db, path)?;
        }
        FileKind::Task => {
            counts.tasks_deleted += deleted;
            counts.task_milestones_deleted += delete_milestones(db, project_of(path), id)?;
            search::forget(db, path)?;
        }
        FileKind::Conversation => {
            counts.conversations_deleted += deleted;
            db.prepare_cached("DELETE FROM conversation_participants WHERE conversation_id = ?1")?
                .execute([id])?;
            let messages = lines_of(path).unwrap_or_default();
            events::delete_messages(db, &messages, id, counts)?;
        }
        FileKind::Review => counts.reviews_deleted += deleted,
        FileKind::HelpRequest => counts.help_requests_deleted += deleted,
        FileKind::Comment => search::forget(db, path)?,
        FileKind::Agent | FileKind::Job | FileKind::Events | FileKind::Messages => {}
    }
    Ok(())
}

fn delete_milestones(db: &Connection, project: &str, task: &str) -> rusqlite::Result<u64> {
    db.prepare_cached("DELETE FROM task_milestones WHERE project_id = ?1 AND task_id = ?2")?
        .execute([project, task])
        .map(|deleted| deleted as u64)
}

/// Writes the row of a document, and its dependent rows.
pub(crate) fn write(
    db: &Connection,
    path: &str,
    parsed: &ParsedDocument,
    counts: &mut IndexSyncResponse,
) -> rusqlite::Result<()> {
    let project = project_of(path);
    match parsed {
        ParsedDocument::Run(run) => {
            counters::count_out(db, project, &run.id)?;
            write_run(db, project, path, run)?;
            counters::count_in(db, project, &run.id)?;
            counts.runs_upserted += 1;
        }
        ParsedDocument::Artifact(artifact) => {
            write_artifact(db, project, path, artifact)?;
            counts.artifacts_upserted += 1;
        }
        ParsedDocument::Task(task) => {
            counts.task_milestones_deleted += delete_milestones(db, project, &task.head.id)?;
            write_task(db, project, path, task)?;
            counts.tasks_upserted += 1;
            counts.task_milestones_indexed += write_milestones(db, project, &task.head)?;
        }
        ParsedDocument::Job { status } => {
            let status = match status {
                JobStatus::Queued => "queued",
                JobStatus::Running => "running",
                JobStatus::Completed => "completed",
                JobStatus::Canceled => "canceled",
            };
            db.prepare_cached("INSERT OR REPLACE INTO jobs VALUES (?1, ?2, ?3, ?4)")?
                .execute([project, &parsed.id(path), status, path])?;
        }
        ParsedDocument::Conversation(conversation) => {
            write_conversation(db, path, conversation)?;
            counts.conversations_upserted += 1;
        }
        ParsedDocument::Review(review) => {
            db.prepare_cached(
                "INSERT OR REPLACE INTO reviews VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                review.id.as_str(),
                review.created_at.as_str(),
                review.decision.as_str(),
                review.actor_id.as_str(),
                review.actor_role.as_str(),
                review.subject.kind.as_str(),
                review.subject.artifact_id.as_str(),
                review.subject.project_id.as_str(),
                review.notes,
                path,
            ])?;
            counts.reviews_upserted += 1;
        }
        ParsedDocument::HelpRequest(request) => {
            db.prepare_cached(
                "INSERT OR REPLACE INTO help_requests VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                request.id.as_str(),
                request.created_at.as_str(),
                request.title.as_str(),
                request.visibility.as_str(),
                request.requester.as_str(),
                request.target_manager.as_str(),
                request.project_id.as_deref(),
                request.share_pack_id.as_deref(),
                path,
            ])?;
            counts.help_requests_upserted += 1;
        }
        ParsedDocument::Comment(comment) => write_comment(db, path, comment)?,
        ParsedDocument::Agent(agent) => {
            db.prepare_cached("INSERT OR REPLACE INTO agents VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
                .execute(params![
                    agent.id.as_str(),
                    agent.name.as_str(),
                    agent.role.as_str(),
                    agent.provider.as_str(),
                    agent.model_hint.as_deref(),
                    agent.team_id,
                    path,
                ])?;
        }
    }
    Ok(())
}

fn word<T: Serialize>(value: &T) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => Some(word),
        _ => None,
    }
}

fn write_run(db: &Connection, project: &str, path: &str, run: &Run) -> rusqlite::Result<()> {
    let usage = run.usage.as_ref();
    let cycles = run.context_cycles.as_ref();
    let (model, task, milestone) = match &run.spec {
        Some(RunSpec::Command {
            task_id,
            milestone_id,
            ..
        }) => (None, task_id.as_deref(), milestone_id.as_deref()),
        Some(RunSpec::CodexAppServer {
            model,
            task_id,
            milestone_id,
            ..
        }) => (
            model.as_deref(),
            task_id.as_deref(),
            milestone_id.as_deref(),
        ),
        None => (None, None, None),
    };
    db.prepare_cached(
        "INSERT OR REPLACE INTO runs VALUES
         (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
    )?
    .execute(params![
        project,
        run.id.as_str(),
        run.created_at.as_str(),
        run.status.as_str(),
        run.provider.as_str(),
        run.agent_id.as_str(),
        run.context_pack_id.as_str(),
        run.events_relpath.as_str(),
        usage.map(|usage| usage.total_tokens),
        usage.and_then(|usage| usage.cost_usd),
        usage.and_then(|usage| word(&usage.source)),
        usage.and_then(|usage| word(&usage.confidence)),
        cycles.map(|cycles| cycles.count),
        cycles.and_then(|cycles| word(&cycles.source)),
        model,
        task,
        milestone,
        usage.and_then(|usage| usage.input_tokens),
        usage.and_then(|usage| usage.output_tokens),
        run.spec.is_some(),
        path,
    ])
    .map(drop)
}

fn write_artifact(
    db: &Connection,
    project: &str,
    path: &str,
    artifact: &IndexedArtifact,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO artifacts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        project,
        artifact.id,
        artifact.kind,
        artifact.title,
        artifact.visibility,
        artifact.produced_by,
        artifact.run_id,
        artifact.context_pack_id,
        artifact.created_at,
        path,
        artifact.is_valid,
        artifact.is_plan_approval,
    ])?;
    search::forget(db, path)?;
    search::add(
        db,
        &IndexedText {
            kind: SearchKind::Artifact,
            project_id: Some(project),
            id: &artifact.id,
            conversation_id: None,
            title: artifact.title.as_deref(),
            body: &artifact.body,
            author_id: artifact.produced_by.as_deref(),
            team_id: None,
            visibility: artifact.visibility.as_deref(),
            created_at: artifact.created_at.as_deref(),
            relpath: path,
        },
    )
}

fn write_task(
    db: &Connection,
    project: &str,
    path: &str,
    task: &Markdown<Task>,
) -> rusqlite::Result<()> {
    let Markdown { head, body } = task;
    let schedule = head.schedule.as_ref();
    let plan = head.execution_plan.as_ref();
    let depends_on = schedule.map_or(&[][..], |schedule| &schedule.depends_on_task_ids);
    db.prepare_cached(
        "INSERT OR REPLACE INTO tasks VALUES
         (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
    )?
    .execute(params![
        project,
        head.id.as_str(),
        head.title.as_str(),
        head.status.as_str(),
        head.visibility.as_str(),
        head.team_id.as_deref(),
        head.assignee_agent_id.as_deref(),
        head.created_at.as_str(),
        schedule.and_then(|schedule| schedule.planned_start.as_deref()),
        schedule.and_then(|schedule| schedule.planned_end.as_deref()),
        schedule.and_then(|schedule| schedule.duration_days),
        serde_json::to_string(depends_on).unwrap_or_default(),
        plan.and_then(|plan| plan.preferred_provider.as_deref()),
        plan.and_then(|plan| plan.preferred_model.as_deref()),
        plan.and_then(|plan| plan.preferred_agent_id.as_deref()),
        plan.and_then(|plan| plan.token_budget_hint),
        plan.and_then(|plan| plan.applied_by.as_deref()),
        plan.and_then(|plan| plan.applied_at.as_deref()),
        task::progress(head),
        path,
    ])?;
    search::forget(db, path)?;
    search::add(
        db,
        &IndexedText {
            kind: SearchKind::Task,
            project_id: Some(project),
            id: &head.id,
            conversation_id: None,
            title: Some(&head.title),
            body,
            author_id: head.assignee_agent_id.as_deref(),
            team_id: head.team_id.as_deref(),
            visibility: Some(head.visibility.as_str()),
            created_at: Some(&head.created_at),
            relpath: path,
        },
    )
}

fn write_milestones(db: &Connection, project: &str, task: &Task) -> rusqlite::Result<u64> {
    let mut written = 0;
    let mut statement = db.prepare_cached(
        "INSERT OR IGNORE INTO task_milestones VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for (place, milestone) in task.milestones.iter().enumerate() {
        let evidence = milestone.evidence.as_ref();
        written += statement.execute(params![
            project,
            task.id.as_str(),
            milestone.id.as_str(),
            place as u64 + 1,
            milestone.title.as_str(),
            milestone.kind.as_str(),
            milestone.status.as_str(),
            serde_json::to_string(&milestone.acceptance_criteria).unwrap_or_default(),
            evidence.map(|evidence| evidence.requires_patch),
            evidence.map(|evidence| evidence.requires_tests),
        ])? as u64;
    }
    Ok(written)
}

fn write_conversation(
    db: &Connection,
    path: &str,
    conversation: &Conversation,
) -> rusqlite::Result<()> {
    let id = conversation.id.as_str();
    db.prepare_cached(
        "INSERT OR REPLACE INTO conversations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        id,
        conversation.scope.as_str(),
        conversation.project_id.as_deref(),
        conversation.kind.as_str(),
        conversation.name.as_str(),
        conversation.slug.as_str(),
        conversation.visibility.as_str(),
        conversation.created_at.as_str(),
        conversation.created_by.as_str(),
        conversation.auto_generated,
        conversation.dm_peer_agent_id.as_deref(),
        path,
    ])?;
    db.prepare_cached("DELETE FROM conversation_participants WHERE conversation_id = ?1")?
        .execute([id])?;
    let mut statement =
        db.prepare_cached("INSERT OR IGNORE INTO conversation_participants VALUES (?1, ?2, ?3)")?;
    for (kind, ids) in [
        ("agent", &conversation.participants.agent_ids),
        ("team", &conversation.participants.team_ids),
    ] {
        for participant in ids {
            statement.execute([id, kind, participant.as_str()])?;
        }
    }
    Ok(())
}

fn write_comment(db: &Connection, path: &str, comment: &Comment) -> rusqlite::Result<()> {
    let project = comment.target.project_id.as_str();
    db.prepare_cached("INSERT OR REPLACE INTO comments VALUES (?1, ?2, ?3, ?4)")?
        .execute([
            comment.id.as_str(),
            comment.created_at.as_str(),
            project,
            path,
        ])?;
    search::forget(db, path)?;
    search::add(
        db,
        &IndexedText {
            kind: SearchKind::Comment,
            project_id: Some(project),
            id: &comment.id,
            conversation_id: None,
            title: None,
            body: &comment.body,
            author_id: Some(&comment.author_id),
            team_id: None,
            visibility: Some(comment.visibility.as_str()),
            created_at: Some(&comment.created_at),
            relpath: path,
        },
    )
}

impl ReadDocument {
    /// The state of the file to record in `file_state`.
    pub(crate) fn known(&self, row_id: Option<String>) -> RecordedFile {
        RecordedFile {
            stamp: self.stamp,
            read_bytes: 0,
            lines: 0,
            hash: self.hash,
            row_id,
        }
    }
}

/// The types of documents that need a decision, as an SQL list.
pub(crate) fn types_to_decide() -> String {
    let kinds = [
        DocumentKind::MemoryDelta,
        DocumentKind::MilestoneReport,
        DocumentKind::HeartbeatActionProposal,
    ];
    debug_assert!(kinds.into_iter().all(overview::needs_decision));
    let words: Vec<String> = kinds
        .iter()
        .map(|kind| format!("'{}'", kind.as_str()))
        .collect();
    words.join(", ")
}
