//! Handlers of `workspace.*` of the company family.

mod doctor;

use std::path::{Component, Path, PathBuf};

use company::{
    documents::validate::validate,
    org::{self, defaults, project},
    pm::overview,
    workspace::trust,
    workspace::{
        bootstrap,
        init::{self, NonEmpty},
        transfer,
    },
};
use protocol::{
    Id as _,
    company::{AgentId, RepoId, RunStatus, Text, session::CompanySessionListParams, workspace::*},
};
use rpc::{Failure, FailureKind, Router};

use super::{blocking, link, opened, session, within, within_unchecked};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<CompanyWorkspaceOpen>(open)
        .on::<CompanyWorkspaceInit>(init)
        .on::<CompanyWorkspaceTrustGet>(trust_get)
        .on::<CompanyWorkspaceTrust>(grant_trust)
        .on::<CompanyWorkspaceTrustWithdraw>(withdraw_trust)
        .on::<CompanyWorkspaceValidate>(validate_folder)
        .on::<CompanyWorkspaceDoctor>(doctor::doctor)
        .on::<CompanyWorkspaceDiagnostics>(doctor::diagnostics)
        .on::<CompanyWorkspaceMigrate>(migrate)
        .on::<CompanyWorkspaceExport>(export)
        .on::<CompanyWorkspaceImport>(import)
        .on::<CompanyWorkspaceBootstrapEnterprise>(bootstrap_enterprise)
        .on::<CompanyWorkspaceProjectsList>(projects_list)
        .on::<CompanyWorkspaceAgentsList>(agents_list)
        .on::<CompanyWorkspaceTeamsList>(teams_list)
        .on::<CompanyWorkspaceProjectCreateWithDefaults>(project_create_with_defaults)
        .on::<CompanyWorkspaceProjectLinkRepo>(project_link_repo)
        .on::<CompanyWorkspaceRepoRootSet>(repo_root_set)
        .on::<CompanyWorkspaceHomeSnapshot>(home_snapshot);
}

async fn open(
    ctx: Context,
    params: CompanyFolderParams,
) -> Result<CompanyWorkspaceOpenResponse, Failure> {
    let may_write = ctx.may_write();
    let (company, opened) = within_unchecked(&ctx, &params.workspace_dir, move |company| {
        if may_write {
            company.finish_left();
        }
        let issues = validate(company);
        let opened = CompanyWorkspaceOpenResponse {
            workspace_dir: company.given().to_owned(),
            valid: issues.is_empty(),
            issues,
        };
        Ok((company.clone(), opened))
    })
    .await?;
    // Git does not store empty directories, so a clone may lack some and is still a valid company folder.
    let is_whole = |issue: &ValidationIssue| issue.code == "missing_dir";
    if opened.issues.iter().all(is_whole) {
        link(&ctx, &params.workspace_dir).await;
    }
    // Sessions whose gateway has exited are taken over, because the output of their workers is not read until then.
    if let Ok(may) = ctx.may_exec()
        && let Err(error) = ctx.sessions().recover_once(&company, may).await
    {
        tracing::warn!(%error, "sessions of an earlier gateway cannot be taken over");
    }
    Ok(opened)
}

async fn init(
    ctx: Context,
    params: CompanyWorkspaceInitParams,
) -> Result<CompanyOkResponse, Failure> {
    let workspace_dir = params.workspace_dir.clone();
    let made = within_unchecked(&ctx, &workspace_dir, move |company| {
        let name = params
            .company_name
            .or_else(|| Text::new(init::DEFAULT_NAME));
        let name = name.expect("the default name is not empty");
        init::init(company, &name, NonEmpty::from_force(params.force))?;
        Ok(CompanyOkResponse { ok: true })
    })
    .await?;
    link(&ctx, &workspace_dir).await;
    Ok(made)
}

async fn trust_get(
    ctx: Context,
    params: CompanyFolderParams,
) -> Result<CompanyWorkspaceTrustResponse, Failure> {
    let dir = &params.workspace_dir;
    opened(&ctx, dir, |company| Ok(trust::status(company))).await
}

async fn grant_trust(
    ctx: Context,
    params: CompanyWorkspaceTrustParams,
) -> Result<CompanyWorkspaceTrustResponse, Failure> {
    let expected = params.expected_sha256;
    let told = opened(&ctx, &params.workspace_dir, move |company| {
        trust::grant(company, expected.as_deref())
    });
    let told = told.await?;
    link(&ctx, &params.workspace_dir).await;
    Ok(told)
}

async fn withdraw_trust(
    ctx: Context,
    params: CompanyFolderParams,
) -> Result<CompanyWorkspaceTrustResponse, Failure> {
    let listed = CompanySessionListParams {
        workspace_dir: Some(ctx.real_dir(params.workspace_dir.clone())),
        status: Some(RunStatus::Running),
        ..CompanySessionListParams::default()
    };
    let running = ctx.sessions().list(listed, None).await;
    let running = running.map_err(|error| session::failure(&error))?;
    if !running.is_empty() {
        let names: Vec<_> = running
            .iter()
            .map(|row| format!("`{}`", row.state.session_ref))
            .collect();
        return Err(Failure::state(
            FailureKind::Busy,
            format!("trust cannot be withdrawn while sessions run: {}", names.join(", ")),
        )
        .hint("stop them first with `session.stop`; `run.cancel` ends a run whose session has no process"));
    }
    opened(&ctx, &params.workspace_dir, trust::withdraw).await
}

async fn validate_folder(
    ctx: Context,
    params: CompanyFolderParams,
) -> Result<CompanyWorkspaceValidateResponse, Failure> {
    within_unchecked(&ctx, &params.workspace_dir, |company| {
        let issues = validate(company);
        Ok(CompanyWorkspaceValidateResponse {
            ok: issues.is_empty(),
            issues: (!issues.is_empty()).then_some(issues),
        })
    })
    .await
}

async fn migrate(
    ctx: Context,
    params: CompanyWorkspaceMigrateParams,
) -> Result<CompanyWorkspaceMigrateResponse, Failure> {
    let dry_run = params.dry_run.unwrap_or(false);
    let forced = params.force.unwrap_or(false);
    within(&ctx, &params.workspace_dir, move |company| {
        company::workspace::migrate::migrate(company, dry_run, forced)
    })
    .await
}

async fn export(
    ctx: Context,
    params: CompanyWorkspaceExportParams,
) -> Result<CompanyWorkspaceExportResponse, Failure> {
    let peer = ctx.peer();
    peer.check_path("workspace_dir", &params.workspace_dir)?;
    peer.check_path("out_dir", &params.out_dir)?;
    let companies = ctx.companies().clone();
    blocking(move || transfer::export(&companies, &params)).await
}

async fn import(
    ctx: Context,
    params: CompanyWorkspaceImportParams,
) -> Result<CompanyWorkspaceImportResponse, Failure> {
    let peer = ctx.peer();
    peer.check_path("src_dir", &params.src_dir)?;
    peer.check_path("workspace_dir", &params.workspace_dir)?;
    let companies = ctx.companies().clone();
    blocking(move || transfer::import(&companies, &params)).await
}

async fn bootstrap_enterprise(
    ctx: Context,
    params: CompanyWorkspaceBootstrapEnterpriseParams,
) -> Result<CompanyWorkspaceBootstrapEnterpriseResponse, Failure> {
    let workspace_dir = params.workspace_dir.clone();
    let made = within_unchecked(&ctx, &workspace_dir, move |company| {
        bootstrap::bootstrap(company, &params)
    })
    .await?;
    link(&ctx, &workspace_dir).await;
    Ok(made)
}

async fn projects_list(
    ctx: Context,
    params: CompanyFolderParams,
) -> Result<CompanyWorkspaceProjectsListResponse, Failure> {
    within(&ctx, &params.workspace_dir, |company| {
        Ok(CompanyWorkspaceProjectsListResponse {
            workspace_dir: company.given().to_owned(),
            projects: overview::list_projects(company)?,
        })
    })
    .await
}

async fn agents_list(
    ctx: Context,
    params: CompanyWorkspaceAgentsListParams,
) -> Result<CompanyWorkspaceAgentsListResponse, Failure> {
    let CompanyWorkspaceAgentsListParams {
        workspace_dir,
        role,
        team_id,
    } = params;
    let rows = within(&ctx, &workspace_dir, move |company| {
        org::list_agents(company, role, team_id.as_deref())
    });
    rows.await.map(CompanyWorkspaceAgentsListResponse)
}

async fn teams_list(
    ctx: Context,
    params: CompanyFolderParams,
) -> Result<CompanyWorkspaceTeamsListResponse, Failure> {
    let rows = within(&ctx, &params.workspace_dir, org::list_teams);
    rows.await.map(CompanyWorkspaceTeamsListResponse)
}

async fn project_create_with_defaults(
    ctx: Context,
    params: CompanyWorkspaceProjectCreateWithDefaultsParams,
) -> Result<CompanyWorkspaceProjectCreateWithDefaultsResponse, Failure> {
    let names = params.repo_ids.iter().flatten().map(|name| name.trim());
    let repos = names
        .filter(|name| !name.is_empty())
        .enumerate()
        .map(|(index, name)| {
            let path = format!("/repo_ids/{index}");
            RepoId::parse(name).map_err(|error| Failure::param(path, error.to_string()))
        });
    let repos = repos.collect::<Result<Vec<_>, _>>()?;
    let workspace_dir = params.workspace_dir.clone();
    let made = within(&ctx, &params.workspace_dir.clone(), move |company| {
        let ceo = params
            .ceo_actor_id
            .as_deref()
            .unwrap_or(defaults::HUMAN_CEO);
        let executive: Option<&AgentId> = params.executive_manager_agent_id.as_ref();
        company.write(|writer| {
            let (project_id, made) =
                writer.create_project_with_defaults(&params.name, &repos, ceo, executive)?;
            Ok(CompanyWorkspaceProjectCreateWithDefaultsResponse {
                repo_links: project::repo_links(company, &project_id)?,
                project_id,
                global_manager_agent_id: made.global_manager,
                project_secretary_agent_id: made.secretary,
                conversation_ids: made.conversations,
            })
        })
    })
    .await?;
    link(&ctx, &workspace_dir).await;
    Ok(made)
}

async fn project_link_repo(
    ctx: Context,
    params: CompanyWorkspaceProjectLinkRepoParams,
) -> Result<CompanyWorkspaceProjectLinkRepoResponse, Failure> {
    let CompanyWorkspaceProjectLinkRepoParams {
        workspace_dir,
        project_id,
        repo_id,
        label,
    } = params;
    within(&ctx, &workspace_dir, move |company| {
        let repos = company.write(|writer| writer.link_repo(&project_id, &repo_id, label))?;
        Ok(CompanyWorkspaceProjectLinkRepoResponse {
            workspace_dir: company.given().to_owned(),
            project_id,
            repos,
        })
    })
    .await
}

async fn repo_root_set(
    ctx: Context,
    params: CompanyWorkspaceRepoRootSetParams,
) -> Result<CompanyWorkspaceRepoRootSetResponse, Failure> {
    let CompanyWorkspaceRepoRootSetParams {
        workspace_dir,
        repo_id,
        repo_path,
        require_git,
    } = params;
    let path = usable_repo(&repo_path, require_git.unwrap_or(true))?;
    within(&ctx, &workspace_dir, move |company| {
        company.write(|writer| writer.set_repo_root(&repo_id, Path::new(&path)))?;
        Ok(CompanyWorkspaceRepoRootSetResponse {
            workspace_dir: company.given().to_owned(),
            repo_id,
            repo_path: path,
        })
    })
    .await
}

/// Returns the path without `.` and `..`, or a failure if it cannot be the root of a repository.
fn usable_repo(given: &str, require_git: bool) -> Result<String, Failure> {
    let refused = |message: String| Failure::usage(FailureKind::InvalidPath, message);
    let path = Path::new(given);
    if !path.is_absolute() {
        return Err(refused(format!("repo_path must be absolute: {given}")));
    }
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(part),
        }
    }
    let shown = clean.display().to_string();
    if !clean.exists() {
        return Err(refused(format!("repo_path does not exist: {shown}")));
    }
    if !clean.is_dir() {
        return Err(refused(format!("repo_path must be a directory: {shown}")));
    }
    if require_git && !clean.join(".git").exists() {
        return Err(refused(format!(
            "Path does not look like a git repository (missing .git): {shown}"
        )));
    }
    Ok(shown)
}

async fn home_snapshot(
    ctx: Context,
    params: CompanyFolderParams,
) -> Result<CompanyWorkspaceHomeSnapshotResponse, Failure> {
    within(&ctx, &params.workspace_dir, overview::snapshot).await
}
