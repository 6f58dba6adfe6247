//! A copy of a repository for one run: made when a task asks for it, removed when it is old.
//!
//! Nothing outside `.local/worktrees` of the company folder is ever removed, whatever a run's document says.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use company::{
    Company, Error,
    document::{Machine, Run, RunSpec},
    layout, project, unix_ms,
};
use protocol::{
    Id as _,
    company::{
        MilestoneId, MilestoneKind, ProjectId, RunId, RunStatus, TaskId,
        task::Task,
        worktree::{
            WorktreeCleanupAction as Action, WorktreeCleanupItem, WorktreeCleanupParams,
            WorktreeCleanupResponse,
        },
    },
};

use crate::{
    git::{git, git_text},
    session::blocking,
};

/// Where worktrees are made.
const ROOT: &str = ".local/worktrees";
/// How long a run must have been over, in hours.
const DEFAULT_AGE: f64 = 72.0;

/// Git reads all worktrees of a repository to add one, and fails over one that is half made: one at a time.
static CHANGING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// A worktree that a run is to have.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Worktree {
    /// Below the company folder.
    pub(crate) relpath: String,
    /// Its branch.
    pub(crate) branch: String,
}

/// Whether a run gets a worktree: its task says so, or the milestone is about code and the task does not forbid it.
pub(crate) fn wanted(
    company: &Company,
    project: &ProjectId,
    run: &RunId,
    task: &TaskId,
    milestone: Option<&MilestoneId>,
) -> Result<Option<Worktree>, String> {
    let document = company
        .read_markdown::<Task>(&layout::task(project, task))
        .map_err(|error| error.or_not_found("Task", task.as_str()).to_string())?;
    let kind = match milestone {
        Some(id) => {
            let found = document
                .head
                .milestones
                .iter()
                .find(|known| *known.id == *id.as_str());
            let found = found.ok_or_else(|| format!("Milestone not found in task {task}: {id}"))?;
            Some(found.kind)
        }
        None => None,
    };
    let scope = document.head.scope.as_ref();
    let isolates = match scope.and_then(|scope| scope.requires_worktree_isolation) {
        Some(required) => required,
        None => kind == Some(MilestoneKind::Coding),
    };
    Ok(isolates.then(|| Worktree {
        relpath: format!("{ROOT}/{project}/{task}/{run}"),
        branch: format!("ac/{project}/{task}/{run}"),
    }))
}

impl Worktree {
    /// Makes it. One that this run made before is used again if nothing is changed in it.
    pub(crate) async fn prepare(&self, company: &Company, repo: &Path) -> Result<PathBuf, String> {
        let path = company.path(&self.relpath);
        if path.exists() {
            let branch = git_text(&path, &["rev-parse", "--abbrev-ref", "HEAD"]).await?;
            if branch != self.branch {
                return Err(format!(
                    "`{}` is there already and is no worktree of this run",
                    self.relpath
                ));
            }
            let changes = git(&path, &["status", "--porcelain=v1"]).await?;
            return match changes.is_empty() {
                true => Ok(path),
                false => Err(format!(
                    "`{}` of this run has uncommitted changes",
                    self.relpath
                )),
            };
        }
        if let Some(parent) = path.parent().map(Path::to_owned) {
            let made = blocking(move || company::files::make_dir(&parent)).await;
            made.map_err(|error| error.to_string())?;
        }
        let _turn = CHANGING.lock().await;
        let target = path.to_string_lossy().into_owned();
        let known = format!("refs/heads/{}", self.branch);
        let branch_exists = git(repo, &["show-ref", "--verify", "--quiet", &known])
            .await
            .is_ok();
        match branch_exists {
            true => git(repo, &["worktree", "add", "--force", &target, &self.branch]).await?,
            false => {
                git(
                    repo,
                    &["worktree", "add", "-b", &self.branch, &target, "HEAD"],
                )
                .await?
            }
        };
        Ok(path)
    }
}

/// A run that has a worktree.
struct Candidate {
    project: ProjectId,
    run: Arc<Run>,
    relpath: String,
}

/// Removes the worktrees of runs that ended long ago.
pub async fn cleanup(
    company: &Company,
    params: &WorktreeCleanupParams,
) -> Result<WorktreeCleanupResponse, Error> {
    let max_age_hours = params.max_age_hours.unwrap_or(DEFAULT_AGE);
    let dry_run = params.dry_run.unwrap_or(false);
    let (machine, candidates) = {
        let (company, only) = (company.clone(), params.project_id.clone());
        let found = tokio::task::spawn_blocking(move || {
            let machine = company.read::<Machine>(layout::MACHINE)?;
            Ok::<_, Error>((machine, candidates(&company, only)?))
        });
        found
            .await
            .unwrap_or_else(|panic| Err(Error::Refused(panic.to_string())))?
    };
    let mut response = WorktreeCleanupResponse {
        workspace_dir: company.given().to_owned(),
        dry_run,
        max_age_hours,
        scanned: 0,
        eligible: 0,
        removed: 0,
        missing: 0,
        failed: 0,
        kept: 0,
        items: Vec::new(),
    };
    let now_ms = company.sources().now_ms();
    for Candidate {
        project,
        run,
        relpath,
    } in candidates
    {
        response.scanned += 1;
        let ended_at = run.ended_at.as_ref();
        let since_ms = unix_ms(ended_at.unwrap_or(&run.created_at)).unwrap_or(now_ms);
        #[expect(clippy::cast_precision_loss, reason = "hours")]
        let is_young = (now_ms - since_ms) as f64 / 3_600_000.0 < max_age_hours;
        let path = company.path(&relpath);
        let spec = run.spec.as_ref();
        let repo = spec
            .and_then(RunSpec::repo_id)
            .and_then(|repo| machine.repo_roots.get(repo));
        let mut branch_deleted = None;
        let (action, reason) = if run.status == RunStatus::Running {
            (Action::Kept, "run still active".to_owned())
        } else if is_young {
            (Action::Kept, "younger than retention threshold".to_owned())
        } else {
            response.eligible += 1;
            if !path.exists() && fs::symlink_metadata(&path).is_err() {
                (Action::Missing, "worktree path already absent".to_owned())
            } else if dry_run {
                (Action::Kept, "dry-run eligible for removal".to_owned())
            } else {
                let repo = repo.map(PathBuf::from).filter(|repo| repo.is_dir());
                let force = params.force.unwrap_or(false);
                match remove(company, &relpath, repo.as_deref(), force).await {
                    Ok(()) => {
                        let branch = spec.and_then(RunSpec::worktree_branch);
                        if let (Some(repo), Some(branch), Some(true)) =
                            (&repo, branch, params.delete_branches)
                        {
                            let flag = if force { "-D" } else { "-d" };
                            branch_deleted =
                                Some(git(repo, &["branch", flag, branch]).await.is_ok());
                        }
                        (Action::Removed, "removed by retention policy".to_owned())
                    }
                    Err(reason) => (Action::Failed, reason),
                }
            }
        };
        match action {
            Action::Kept => response.kept += 1,
            Action::Missing => response.missing += 1,
            Action::Removed => response.removed += 1,
            Action::Failed => response.failed += 1,
        }
        response.items.push(WorktreeCleanupItem {
            project_id: project.into(),
            run_id: run.id.to_string(),
            repo_id: spec.and_then(RunSpec::repo_id).map(ToOwned::to_owned),
            worktree_abs: format!("{}/{relpath}", company.given().trim_end_matches('/')),
            worktree_relpath: relpath,
            branch: spec
                .and_then(RunSpec::worktree_branch)
                .map(ToOwned::to_owned),
            status: run.status,
            ended_at: ended_at.map(ToString::to_string),
            action,
            reason,
            branch_deleted,
        });
    }
    Ok(response)
}

/// The runs with a worktree, projects and runs sorted by name.
fn candidates(company: &Company, only: Option<ProjectId>) -> Result<Vec<Candidate>, Error> {
    let projects = match only {
        Some(project) => vec![project],
        None => project::project_ids(company)?,
    };
    let mut found = Vec::new();
    for project in projects {
        let folder = format!("{}/runs", layout::project(&project));
        for name in company.names(&folder)? {
            if RunId::parse(&name).is_err() {
                continue;
            }
            let Ok(run) = company.read::<Run>(&format!("{folder}/{name}/run.yaml")) else {
                continue;
            };
            let relpath = run
                .spec
                .as_ref()
                .and_then(RunSpec::worktree_relpath)
                .map(ToOwned::to_owned);
            if let Some(relpath) = relpath {
                found.push(Candidate {
                    project: project.clone(),
                    run,
                    relpath,
                });
            }
        }
    }
    Ok(found)
}

async fn remove(
    company: &Company,
    relpath: &str,
    repo: Option<&Path>,
    force: bool,
) -> Result<(), String> {
    let path = inside(company, relpath)?;
    // Changes that nobody committed are somebody's work.
    if !force
        && path.join(".git").exists()
        && let Ok(changes) = git(&path, &["status", "--porcelain=v1"]).await
        && !changes.is_empty()
    {
        return Err("uncommitted changes".to_owned());
    }
    match repo {
        Some(repo) => {
            let _turn = CHANGING.lock().await;
            let target = path.to_string_lossy();
            git(repo, &["worktree", "remove", "--force", &target]).await?;
        }
        None => {
            let path = path.clone();
            let removed = tokio::task::spawn_blocking(move || fs::remove_dir_all(path)).await;
            removed
                .unwrap_or_else(|panic| Err(io::Error::other(panic.to_string())))
                .map_err(|error| format!("the folder cannot be removed: {}", error.kind()))?;
        }
    }
    // Folders that are empty now.
    let root = company.path(ROOT);
    let mut parent = path.parent();
    while let Some(folder) = parent.filter(|folder| folder.starts_with(&root) && *folder != root) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
        parent = folder.parent();
    }
    Ok(())
}

/// The place of a worktree, which must be below the folder for worktrees, links and all.
pub(crate) fn inside(company: &Company, relpath: &str) -> Result<PathBuf, String> {
    let refused = || format!("`{relpath}` is not inside `{ROOT}`");
    let below = Path::new(relpath)
        .strip_prefix(ROOT)
        .map_err(|_| refused())?;
    let is_plain = below
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !is_plain || below.as_os_str().is_empty() {
        return Err(refused());
    }
    let path = company.path(relpath);
    let root = company.path(ROOT).canonicalize().map_err(|_| refused())?;
    let real = path.canonicalize().map_err(|_| refused())?;
    let is_link = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink());
    match real.starts_with(&root) && real != root && !is_link && root.starts_with(company.root()) {
        true => Ok(path),
        false => Err(refused()),
    }
}
