//! The company family: a handler opens the folder, lets `company` do the work on a thread that may wait, and
//! answers.

pub(super) mod adapter;
pub(super) mod comment;
pub(super) mod conversation;
pub(super) mod events;
pub(super) mod heartbeat;
pub(super) mod job;
pub(super) mod pm;
pub(super) mod run;
pub(super) mod session;
pub(super) mod sharepack;
pub(super) mod system;
pub(super) mod task;
pub(super) mod workspace;
pub(super) mod worktree;

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
            rule_id, reason, ..
        } => Failure::state(Kind::PolicyDenied, message)
            .with("rule_id", *rule_id)
            .with("reason", *reason),
        Error::Params(issues) => Failure::issues(issues.clone()),
        Error::Tasks(failing) => {
            let ids: Vec<_> = failing.iter().map(|(task, _)| task.as_str()).collect();
            let kind = match failing.iter().all(|(_, error)| error.is_missing()) {
                true => Kind::NotFound,
                false => Kind::WorkspaceFileInvalid,
            };
            Failure::state(kind, message).with("task_ids", json!(ids))
        }
        Error::Refused(_) => Failure::state(Kind::Refused, message),
        Error::LockTimeout(_) => Failure::state(Kind::LockTimeout, message),
        Error::DiskFull => Failure::state(Kind::QuotaExceeded, message),
        Error::Io { .. } => Failure::incident(error),
    }
}

/// Who acts, if the caller says so.
fn actor(id: Option<Text>, role: Option<ActorRole>, team_id: Option<Text>) -> Option<Actor> {
    role.map(|role| Actor {
        id: id.map(String::from).unwrap_or_default(),
        role,
        team_id: team_id.map(String::from),
    })
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
