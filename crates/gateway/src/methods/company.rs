//! Handlers of the company family: each opens the company folder and calls `company` on a blocking thread.

pub(super) mod adapter;
pub(super) mod agent;
pub(super) mod artifact;
pub(super) mod comment;
pub(super) mod context;
pub(super) mod conversation;
pub(super) mod desktop;
pub(super) mod events;
pub(super) mod heartbeat;
pub(super) mod inbox;
pub(super) mod index;
pub(super) mod job;
mod limited_view;
pub(super) mod memory;
pub(super) mod milestone;
pub(super) mod monitor;
pub(super) mod pipeline;
pub(super) mod pm;
pub(super) mod resources;
pub(super) mod run;
pub(super) mod session;
pub(super) mod sharepack;
pub(super) mod system;
pub(super) mod task;
pub(super) mod ui;
pub(super) mod usage;
pub(super) mod workspace;
pub(super) mod worktree;

use std::sync::Arc;

use ::index::{Indexes, LiveSession, LiveSessions};
use company::{
    Company, Error, conversation::ConversationScope, execution::run::LiveRuns, policy::Actor,
};
use protocol::company::{
    ActorRole, Asking, CompanyScope, ProjectId, RunStatus, Text, monitor::MonitorLive,
    session::CompanySessionListParams,
};
use rpc::{Failure, FailureKind};
use serde_json::json;

use crate::Context;

/// The maximum number of issues in an error. `workspace.validate` returns all of them.
const MOST_ISSUES: usize = 20;

/// Runs `work` on a company folder.
async fn within<R: Send + 'static>(
    ctx: &Context,
    workspace_dir: &str,
    work: impl FnOnce(&Company) -> Result<R, Error> + Send + 'static,
) -> Result<R, Failure> {
    let (caller, workspace_dir) = (ctx.clone(), workspace_dir.to_owned());
    let services = Arc::clone(ctx.services());
    let (may_write, may_exec) = (ctx.may_write(), ctx.may_exec().ok());
    let (done, outdated) = blocking(move || {
        let company = caller.folder_at(&workspace_dir);
        company.check_is_company()?;
        if may_write {
            company.finish_left();
        }
        if let Some(may) = may_exec {
            services.heartbeats.observe(&company, may);
        }
        let done = work(&company).map_err(|error| company.named(error))?;
        let is_outdated = may_write && services.links.is_outdated(&company);
        Ok((done, is_outdated.then_some(company)))
    })
    .await?;
    if let Some(company) = outdated {
        ctx.services().links.link(company).await;
    }
    Ok(done)
}

/// Links a company folder to a workspace of the tree family if the caller may write.
async fn link(ctx: &Context, workspace_dir: &str) {
    if ctx.may_write() {
        let services = ctx.services();
        match services.folder_at(workspace_dir).await {
            Ok(company) => services.links.link(company).await,
            Err(failure) => {
                tracing::warn!(
                    error = failure.message(),
                    "a company folder cannot be linked"
                );
            }
        }
    }
}

/// Runs `work` on the index of a company folder and keeps that index up to date for a while.
async fn indexed<R: Send + 'static>(
    ctx: &Context,
    workspace_dir: Text,
    work: impl FnOnce(&Indexes, &Company) -> Result<R, ::index::Error> + Send + 'static,
) -> Result<R, Failure> {
    let caller = ctx.clone();
    let worker = Arc::clone(ctx.index_worker());
    let indexes = ctx.indexes().clone();
    let may_write = ctx.may_write();
    let work = move || {
        let company = caller.folder_at(&workspace_dir);
        company.check_is_company()?;
        if may_write {
            company.finish_left();
        }
        let done = work(&indexes, &company).map_err(|error| {
            if let ::index::Error::Folder(error) = error {
                return company.named(error).into();
            }
            error
        })?;
        worker.used(&company);
        Ok::<_, ::index::Error>(done)
    };
    let done = crate::blocking::blocking(work).await?;
    done.map_err(|error| index_failure(&error))
}

/// Returns the newest session of each run of a company folder.
async fn live(ctx: &Context, workspace_dir: &Text) -> Result<LiveSessions, Failure> {
    let wanted = CompanySessionListParams {
        workspace_dir: Some(ctx.real_dir(workspace_dir.clone())),
        ..CompanySessionListParams::default()
    };
    let rows = ctx.sessions().list(wanted, ctx.may_exec().ok()).await;
    let rows = rows.map_err(|error| session::failure(&error))?;
    let mut live = LiveSessions::new();
    // The rows are sorted newest first.
    for row in rows {
        let state = row.state;
        live.entry(state.run_id).or_insert(LiveSession {
            project_id: state.project_id,
            session: MonitorLive {
                session_ref: state.session_ref,
                live_status: state.status,
                live_queued: state.queued.filter(|queued| *queued),
                live_exit_code: state.exit_code.map(i64::from),
                live_signal: state.signal,
                live_error: state.error,
                session_started_at_ms: Some(row.started_at_ms),
                session_ended_at_ms: row.ended_at_ms,
            },
        });
    }
    Ok(live)
}

/// Returns the runs with a running session.
fn live_runs(live: &LiveSessions) -> LiveRuns {
    let running = live
        .iter()
        .filter(|(_, session)| session.session.live_status == RunStatus::Running);
    running.map(|(run, _)| run.clone()).collect()
}

/// Converts an error of the index to an RPC failure.
fn index_failure(error: &::index::Error) -> Failure {
    match error {
        ::index::Error::Folder(error) => failure(error),
        ::index::Error::NotBuilt(_) => Failure::state(FailureKind::NotFound, error.to_string())
            .hint("build it with `index.rebuild`"),
        ::index::Error::NoWords => Failure::param("/query".to_owned(), error.to_string()),
        ::index::Error::Database(_)
        | ::index::Error::OtherVersion { .. }
        | ::index::Error::Io(_) => Failure::incident(error),
    }
}

/// Runs `work` on a company folder without the side effects of using it, such as starting its heartbeat or linking it.
async fn opened<R: Send + 'static>(
    ctx: &Context,
    workspace_dir: &str,
    work: impl FnOnce(&Company) -> Result<R, Error> + Send + 'static,
) -> Result<R, Failure> {
    let (caller, workspace_dir) = (ctx.clone(), workspace_dir.to_owned());
    blocking(move || {
        let company = caller.folder_at(&workspace_dir);
        company.check_is_company()?;
        work(&company).map_err(|error| company.named(error))
    })
    .await
}

/// Runs `work` on a directory that need not be a company folder.
async fn within_unchecked<R: Send + 'static>(
    ctx: &Context,
    workspace_dir: &str,
    work: impl FnOnce(&Company) -> Result<R, Error> + Send + 'static,
) -> Result<R, Failure> {
    let (caller, workspace_dir) = (ctx.clone(), workspace_dir.to_owned());
    blocking(move || {
        let company = caller.folder_at(&workspace_dir);
        work(&company).map_err(|error| company.named(error))
    })
    .await
}

/// Runs file operations on a blocking thread.
async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, Error> + Send + 'static,
) -> Result<R, Failure> {
    let done = crate::blocking::blocking(work).await?;
    done.map_err(|error| failure(&error))
}

/// Converts an error of a company folder to an RPC failure.
fn failure(error: &Error) -> Failure {
    let message = error.to_string();
    match error {
        Error::NotACompanyFolder(_) => Failure::state(FailureKind::NotAWorkspace, message)
            .hint("make one with `workspace.init` or `workspace.bootstrap.enterprise`"),
        Error::Untrusted(dir) => Failure::state(FailureKind::Untrusted, message).hint(format!(
            "`ac trust {dir}` lists the programs of the folder and asks; `workspace.trust` trusts it without asking"
        )),
        Error::NeedsExec | Error::NeedsWrite => Failure::forbidden(message),
        Error::Missing(path) => Failure::state(FailureKind::NotFound, message).with("path", path.as_str()),
        Error::NotFound { .. } => Failure::state(FailureKind::NotFound, message),
        Error::FileInvalid { path, issues } => Failure::state(FailureKind::WorkspaceFileInvalid, message)
            .with("path", path.as_str())
            .with("issues", json!(issues)),
        Error::Denied {
            action,
            rule_id,
            reason,
            resource_id,
            actor_id: _,
        } => Failure::state(FailureKind::PolicyDenied, message)
            .with("action", *action)
            .with("rule_id", *rule_id)
            .with("reason", *reason)
            .with("resource_id", resource_id.as_str()),
        Error::ActorMismatch {
            actor_id,
            claimed,
            stored,
        } => Failure::state(FailureKind::ActorMismatch, message)
            .with("actor_id", actor_id.as_str())
            .with("claimed_role", claimed.as_str())
            .with("stored_role", stored.as_str()),
        Error::Secret { label, counts } => Failure::state(FailureKind::SecretDetected, message)
            .with("context_label", *label)
            .with("total_matches", counts.total())
            .with("matches_by_kind", json!(counts)),
        Error::AlreadyDecided {
            artifact_id,
            review_id,
            decision,
            actor_id,
            created_at,
        } => Failure::state(FailureKind::AlreadyDecided, message)
            .with("artifact_id", artifact_id.as_str())
            .with("review_id", review_id.as_str())
            .with("decision", decision.as_str())
            .with("actor_id", actor_id.as_str())
            .with("created_at", created_at.as_str()),
        Error::BasisChanged {
            artifact_id,
            expected,
            actual,
            files,
        } => Failure::state(FailureKind::VersionConflict, message)
            .with("artifact_id", artifact_id.as_str())
            .with("expected_sha256", expected.as_str())
            .with("actual_sha256", actual.as_str())
            .with("files", json!(files))
            .hint("read it again with `inbox.read` and decide with the `sha256` it returns"),
        Error::Params(issues) => Failure::issues(issues.clone()),
        Error::Tasks(failing) => {
            let ids: Vec<_> = failing.iter().map(|(task, _)| task.as_str()).collect();
            let kind = if failing.iter().all(|(_, error)| error.is_missing()) {
                FailureKind::NotFound
            } else {
                FailureKind::WorkspaceFileInvalid
            };
            Failure::state(kind, message).with("task_ids", json!(ids))
        }
        Error::Refused(_) => Failure::state(FailureKind::Refused, message),
        Error::FolderNotEmpty { is_company, .. } => Failure::state(FailureKind::Refused, message)
            .with("cause", "folder_not_empty")
            .with("is_company", *is_company)
            .hint("choose a new or empty folder, or set `force` to use this one"),
        Error::FolderInvalid { issues, .. } => {
            let shown = &issues[..issues.len().min(MOST_ISSUES)];
            Failure::state(FailureKind::Refused, message).with("issues", json!(shown))
        }
        Error::LockTimeout(_) | Error::FileLocked(_) => Failure::state(FailureKind::LockTimeout, message),
        Error::DiskFull => Failure::state(FailureKind::QuotaExceeded, message),
        Error::Io { path, .. } => {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            Failure::incident(error).with("file", file.as_ref())
        }
    }
}

/// Builds the actor from required params.
fn actor(id: Text, role: ActorRole, team_id: Option<Text>) -> Actor {
    Actor {
        id: id.into(),
        role,
        team_id: team_id.map(String::from),
    }
}

/// Returns the actor that a call claims, or `None` if the caller may see everything. Without a claimed role the role of
/// the token applies, so that a token below the role human never sees everything.
fn asking(ctx: &Context, claimed: Asking) -> Option<Actor> {
    let principal = ctx.principal();
    let role = claimed.actor_role.or_else(|| principal.ceiling())?;
    Some(Actor {
        id: claimed
            .actor_id
            .map_or_else(|| principal.author().to_owned(), String::from),
        role,
        team_id: claimed.actor_team_id.map(String::from),
    })
}

/// Checks the claimed actor against the records of the company.
fn known(company: &Company, actor: Option<Actor>) -> Result<Option<Actor>, Error> {
    actor.map(|actor| actor.known(company)).transpose()
}

/// Returns the scope of a call, or a failure if a project scope names no project.
fn scope(scope: CompanyScope, project_id: Option<ProjectId>) -> Result<ConversationScope, Failure> {
    match (scope, project_id) {
        (CompanyScope::Workspace, _) => Ok(ConversationScope::Workspace),
        (CompanyScope::Project, Some(project)) => Ok(ConversationScope::Project(project)),
        (CompanyScope::Project, None) => Err(Failure::usage(
            FailureKind::MissingProjectId,
            "project_id is required when scope=project",
        )),
    }
}
