//! The company family: a handler opens the folder, lets `company` do the work on a thread that may wait, and
//! answers.

pub(super) mod adapter;
pub(super) mod agent;
pub(super) mod artifact;
pub(super) mod comment;
pub(super) mod context;
pub(super) mod conversation;
pub(super) mod events;
pub(super) mod inbox;
pub(super) mod memory;
pub(super) mod milestone;
pub(super) mod run;
pub(super) mod sharepack;
pub(super) mod system;
pub(super) mod ui;
pub(super) mod workspace;

use company::{Company, Error, conversation::Scope, policy::Actor};
use protocol::company::{ActorRole, CompanyScope, ProjectId, Text};
use rpc::{Failure, Kind};
use serde_json::json;

use crate::Context;

/// Works on a company folder.
async fn within<R: Send + 'static>(
    ctx: &Context,
    workspace_dir: &str,
    work: impl FnOnce(&Company) -> Result<R, Error> + Send + 'static,
) -> Result<R, Failure> {
    let companies = ctx.companies().clone();
    let workspace_dir = workspace_dir.to_owned();
    blocking(move || work(&companies.open(&workspace_dir)?)).await
}

/// Works on a folder that need not be a company folder.
async fn at<R: Send + 'static>(
    ctx: &Context,
    workspace_dir: &str,
    work: impl FnOnce(&Company) -> Result<R, Error> + Send + 'static,
) -> Result<R, Failure> {
    let company = ctx.companies().at(workspace_dir);
    blocking(move || work(&company)).await
}

/// Files are waited for on threads that may wait.
async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, Error> + Send + 'static,
) -> Result<R, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| failure(&error)),
        Err(panic) => Err(Failure::incident(&panic)),
    }
}

/// What is wrong with a company folder, as the wire says it.
fn failure(error: &Error) -> Failure {
    let message = error.to_string();
    match error {
        Error::NotACompanyFolder(_) => Failure::state(Kind::NotAWorkspace, message)
            .hint("make one with `workspace.init` or `workspace.bootstrap.enterprise`"),
        Error::Missing(path) => Failure::state(Kind::NotFound, message).with("path", path.as_str()),
        Error::NotFound { .. } => Failure::state(Kind::NotFound, message),
        Error::FileInvalid { path, issues } => Failure::state(Kind::WorkspaceFileInvalid, message)
            .with("path", path.as_str())
            .with("issues", json!(issues)),
        Error::Denied {
            action,
            rule_id,
            reason,
            resource_id,
            actor_id: _,
        } => Failure::state(Kind::PolicyDenied, message)
            .with("action", *action)
            .with("rule_id", *rule_id)
            .with("reason", *reason)
            .with("resource_id", resource_id.as_str()),
        Error::ActorMismatch {
            actor_id,
            claimed,
            stored,
        } => Failure::state(Kind::ActorMismatch, message)
            .with("actor_id", actor_id.as_str())
            .with("claimed_role", claimed.as_str())
            .with("stored_role", stored.as_str()),
        Error::Secret { label, counts } => Failure::state(Kind::SecretDetected, message)
            .with("context_label", *label)
            .with("total_matches", counts.total())
            .with("matches_by_kind", json!(counts)),
        Error::AlreadyDecided {
            artifact_id,
            review_id,
            decision,
            actor_id,
            created_at,
        } => Failure::state(Kind::AlreadyDecided, message)
            .with("artifact_id", artifact_id.as_str())
            .with("review_id", review_id.as_str())
            .with("decision", decision.as_str())
            .with("actor_id", actor_id.as_str())
            .with("created_at", created_at.as_str()),
        Error::Refused(_) => Failure::state(Kind::Refused, message),
        Error::LockTimeout(_) => Failure::state(Kind::LockTimeout, message),
        Error::DiskFull => Failure::state(Kind::QuotaExceeded, message),
        Error::Io { .. } => Failure::incident(error),
    }
}

/// Who acts.
fn actor(id: Text, role: ActorRole, team_id: Option<Text>) -> Actor {
    Actor {
        id: id.into(),
        role,
        team_id: team_id.map(String::from),
    }
}

/// Who asks, if the caller says so. Whoever does not say it is what their token makes them: a token below the rank of
/// a person never sees everything.
fn asking(
    ctx: &Context,
    id: Option<Text>,
    role: Option<ActorRole>,
    team_id: Option<Text>,
) -> Option<Actor> {
    let principal = ctx.principal();
    let role = role.or_else(|| principal.ceiling())?;
    Some(Actor {
        id: id.map_or_else(|| principal.author().to_owned(), String::from),
        role,
        team_id: team_id.map(String::from),
    })
}

/// Holds who asks against what the company knows of them.
fn known(company: &Company, actor: Option<Actor>) -> Result<Option<Actor>, Error> {
    actor.map(|actor| actor.known(company)).transpose()
}

/// The scope of a call; a project has to be named where one is meant.
fn scope(scope: CompanyScope, project_id: Option<ProjectId>) -> Result<Scope, Failure> {
    match (scope, project_id) {
        (CompanyScope::Workspace, _) => Ok(Scope::Workspace),
        (CompanyScope::Project, Some(project)) => Ok(Scope::Project(project)),
        (CompanyScope::Project, None) => Err(Failure::usage(
            Kind::MissingProjectId,
            "project_id is required when scope=project",
        )),
    }
}
