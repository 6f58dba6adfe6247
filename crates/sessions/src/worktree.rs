//! Worktrees: one per run, created for worker programs that may write and for tasks that require one, and removed by
//! [`cleanup`] when they are old.
//!
//! Nothing outside of `.local/worktrees` of the company folder is ever removed, even if a run's document names it.

#![allow(
    clippy::disallowed_methods,
    reason = "repositories and worktrees, whose paths are checked and locked here"
)]

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use company::{
    Company, Error,
    document::{Machine, Run, RunSpec},
    layout,
    org::project,
    unix_ms,
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

use tokio::time::{sleep, timeout};

use crate::{blocking::blocking, git::GitTree};

/// Folder of the worktrees, relative to the company folder.
const ROOT: &str = ".local/worktrees";
/// Replaces the task id in paths and branches of runs without a task.
const WITHOUT_TASK: &str = "runs";
/// Default age after which the worktree of an ended run is removed, in hours.
const DEFAULT_MAX_AGE_HOURS: f64 = 72.0;

/// Serializes changes of worktrees: `git worktree add` reads all worktrees of a repository and fails if one is
/// incomplete.
static WORKTREE_LOCK: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Suffix of the marker file beside a worktree that is being created. The file remains if the creation is interrupted;
/// git keeps it locked while it works.
const PREPARING: &str = "preparing";
/// Interval at which a marker that another process holds is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long to wait for another process that creates the same worktree.
const MARKER_TIMEOUT: Duration = Duration::from_secs(300);

/// The worktree of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Worktree {
    /// Path relative to the company folder.
    pub(crate) relpath: String,
    /// Branch of the worktree.
    pub(crate) branch: String,
}

/// Whether the task of a run requires a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// The task requires it.
    Explicit,
    /// The milestone is of the kind `coding`, and the task does not exclude a worktree.
    Implied,
    /// The task does not require a worktree.
    None,
}

/// Determines whether a task requires a worktree. The milestone must belong to the task.
pub fn requirement(
    company: &Company,
    project: &ProjectId,
    task: &TaskId,
    milestone: Option<&MilestoneId>,
) -> Result<Requirement, String> {
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
    Ok(
        match scope.and_then(|scope| scope.requires_worktree_isolation) {
            Some(true) => Requirement::Explicit,
            None if kind == Some(MilestoneKind::Coding) => Requirement::Implied,
            Some(false) | None => Requirement::None,
        },
    )
}

impl Worktree {
    /// Returns path and branch of the worktree of a run.
    pub(crate) fn of(project: &ProjectId, task: Option<&TaskId>, run: &RunId) -> Self {
        let group = task.map_or(WITHOUT_TASK, TaskId::as_str);
        Self {
            relpath: format!("{ROOT}/{project}/{group}/{run}"),
            branch: format!("ac/{project}/{group}/{run}"),
        }
    }

    /// Creates the worktree and returns its folder that corresponds to `repo`, which may be a folder inside of a
    /// repository. An existing worktree of this run is reused if it has no changes; an interrupted one is created
    /// again.
    pub(crate) async fn prepare(&self, company: &Company, repo: &Path) -> Result<PathBuf, String> {
        let path = company.path(&self.relpath);
        if let Some(parent) = path.parent().map(Path::to_owned) {
            let made = blocking(move || company::files::make_dir(&parent)).await;
            made.map_err(|error| error.to_string())?;
        }
        let prefix = GitTree::checkout(repo)
            .text(&["rev-parse", "--show-prefix"])
            .await
            .map_err(|error| no_worktree(repo, &error))?;
        let _turn = WORKTREE_LOCK.lock().await;
        let marker = Marker::hold(company.path(&format!("{}.{PREPARING}", self.relpath))).await?;
        if marker.was_interrupted || self.is_initializing(&path, repo).await {
            self.discard(company, &path, repo).await?;
        }
        if path.exists() {
            if let Err(refusal) = self.reuse(&path, repo).await {
                // The existing worktree is kept. With the marker left behind, the next attempt would regard it as
                // incomplete and remove it.
                marker.remove();
                return Err(refusal);
            }
        } else if let Err(first) = self.add(&path, repo, &marker).await {
            // Git may have been killed; its remains would block every later attempt.
            self.discard(company, &path, repo).await?;
            self.add(&path, repo, &marker)
                .await
                .map_err(|_| no_worktree(repo, &first))?;
        }
        marker.remove();
        let folder = path.join(&prefix);
        // The commit may contain a symbolic link where the checkout has the folder.
        let (real, real_path) = (folder.canonicalize(), path.canonicalize());
        match (real, real_path) {
            (Ok(real), Ok(worktree)) if !real.starts_with(&worktree) => Err(format!(
                "`{}` is a link in the last commit of `{}` and leads out of the worktree",
                prefix.trim_end_matches('/'),
                repo.display()
            )),
            _ => Ok(folder),
        }
    }

    async fn add(&self, path: &Path, repo: &Path, marker: &Marker) -> Result<(), String> {
        let target = path.to_string_lossy().into_owned();
        let known = format!("refs/heads/{}", self.branch);
        let branch_exists = GitTree::checkout(repo)
            .git(&["show-ref", "--verify", "--quiet", &known])
            .await
            .is_ok();
        let arguments = if branch_exists {
            vec!["worktree", "add", "--force", &target, &self.branch]
        } else {
            vec!["worktree", "add", "-b", &self.branch, &target, "HEAD"]
        };
        let lock = marker.file.try_clone().map_err(|error| error.to_string())?;
        GitTree::checkout(repo)
            .git_holding(&arguments, lock)
            .await
            .map(|_| ())
    }

    /// Checks that an existing worktree belongs to this run and has no changes.
    async fn reuse(&self, path: &Path, repo: &Path) -> Result<(), String> {
        let tree = GitTree::worktree(repo, path).await?;
        let branch = tree.text(&["rev-parse", "--abbrev-ref", "HEAD"]).await?;
        if branch != self.branch {
            return Err(format!(
                "`{}` already exists and is not a worktree of this run",
                self.relpath
            ));
        }
        let changes = tree.status().await?;
        if changes.is_empty() {
            Ok(())
        } else {
            Err(format!(
                "`{}` of this run has uncommitted changes",
                self.relpath
            ))
        }
    }

    /// Whether git was killed while it created this worktree: it keeps a worktree locked until it is complete.
    async fn is_initializing(&self, path: &Path, repo: &Path) -> bool {
        let listed = GitTree::checkout(repo)
            .text(&["worktree", "list", "--porcelain"])
            .await;
        let listed = listed.unwrap_or_default();
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        listed.split("\n\n").any(|entry| {
            let mut lines = entry.lines();
            let place = lines.next().and_then(|line| line.strip_prefix("worktree "));
            place.is_some_and(|place| Path::new(place) == path || Path::new(place) == real)
                && lines.any(|line| line == "locked initializing")
        })
    }

    /// Removes the remains of an interrupted `git worktree add`: the partial folder, git's entry for it and the lock of
    /// its branch. No worker has run in it.
    async fn discard(&self, company: &Company, path: &Path, repo: &Path) -> Result<(), String> {
        if fs::symlink_metadata(path).is_ok() {
            let path = inside(company, &self.relpath)?;
            let removed = tokio::task::spawn_blocking(move || fs::remove_dir_all(path)).await;
            removed
                .unwrap_or_else(|panic| Err(io::Error::other(panic.to_string())))
                .map_err(|error| {
                    format!("`{}` cannot be removed: {}", self.relpath, error.kind())
                })?;
        }
        let target = path.to_string_lossy();
        // `--force` twice, because git keeps it locked. The command fails if git has no such worktree, which is fine.
        let remove = ["worktree", "remove", "--force", "--force", &target];
        if let Err(error) = GitTree::checkout(repo).git(&remove).await {
            tracing::debug!(error, "git has no interrupted worktree to remove");
        }
        let question = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let common = GitTree::checkout(repo).text(&question).await?;
        let lock = Path::new(&common).join(format!("refs/heads/{}.lock", self.branch));
        match fs::remove_file(&lock) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!(
                "the lock of branch `{}` cannot be removed: {}",
                self.branch,
                error.kind()
            )),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn no_worktree(repo: &Path, error: &str) -> String {
    format!(
        "no worktree of `{}` can be created for the worker: {error}; expected a git repository with a commit",
        repo.display()
    )
}

/// The marker file beside a worktree that is being created. The creating process holds a lock on it, which git
/// inherits, so that the lock outlives the process while git still runs.
struct Marker {
    path: PathBuf,
    file: File,
    /// Whether an interrupted attempt left the file behind.
    was_interrupted: bool,
}

impl Marker {
    async fn hold(path: PathBuf) -> Result<Self, String> {
        let taken = async {
            loop {
                let path = path.clone();
                let tried = tokio::task::spawn_blocking(move || Self::try_hold(&path)).await;
                let tried = tried.unwrap_or_else(|panic| Err(io::Error::other(panic.to_string())));
                match tried {
                    Ok(Some(held)) => return Ok(held),
                    Ok(None) => sleep(POLL_INTERVAL).await,
                    Err(error) => {
                        return Err(format!("the worktree cannot be prepared: {error}"));
                    }
                }
            }
        };
        let (file, was_interrupted) = timeout(MARKER_TIMEOUT, taken)
            .await
            .map_err(|_| "another process is still creating the worktree".to_owned())??;
        Ok(Self {
            path,
            file,
            was_interrupted,
        })
    }

    fn try_hold(path: &Path) -> io::Result<Option<(File, bool)>> {
        let mut options = File::options();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let held = file.metadata()?;
        let is_there = fs::metadata(path).is_ok_and(|found| found.ino() == held.ino());
        if !is_there {
            // The previous holder finished and removed the file.
            return Ok(None);
        }
        let was_interrupted = held.len() > 0;
        if !was_interrupted {
            file.write_all(b"preparing\n")?;
        }
        Ok(Some((file, was_interrupted)))
    }

    /// Removes the marker, because the worktree is complete.
    fn remove(self) {
        // If this fails, the next launch of the run discards the worktree and creates it again.
        let _ = fs::remove_file(&self.path);
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
    let max_age_hours = params.max_age_hours.unwrap_or(DEFAULT_MAX_AGE_HOURS);
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
        let repo = repo.map(PathBuf::from).filter(|repo| repo.is_dir());
        let removal = Removal {
            company,
            relpath: &relpath,
            repo: repo.as_deref(),
            force: params.force.unwrap_or(false),
        };
        let (action, reason) = if run.status == RunStatus::Running {
            (Action::Kept, "run still active".to_owned())
        } else if is_young {
            (Action::Kept, "younger than retention threshold".to_owned())
        } else {
            response.eligible += 1;
            if !path.exists() && fs::symlink_metadata(&path).is_err() {
                (Action::Missing, "worktree path already absent".to_owned())
            } else if dry_run {
                match removal.check().await {
                    Ok(_) => (Action::Kept, "dry-run eligible for removal".to_owned()),
                    Err(reason) => (Action::Failed, reason),
                }
            } else {
                match removal.execute().await {
                    Ok(()) => (Action::Removed, "removed by retention policy".to_owned()),
                    Err(reason) => (Action::Failed, reason),
                }
            }
        };
        let branch = spec.and_then(RunSpec::worktree_branch);
        let is_gone = match action {
            Action::Removed | Action::Missing => true,
            // A dry run keeps worktrees that would be removed.
            Action::Kept => dry_run && !is_young && run.status != RunStatus::Running,
            Action::Failed => false,
        };
        let wants_branches = params.delete_branches.unwrap_or(false);
        let (branch_deleted, branch_kept_reason) =
            match branch.filter(|_| wants_branches && is_gone) {
                Some(branch) => removal.delete_branch(branch, &run.id, dry_run).await,
                None => (None, None),
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
            branch_kept_reason,
        });
    }
    Ok(response)
}

/// Returns the runs with a worktree, sorted by project and run.
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

/// The removal of one worktree and of its branch.
struct Removal<'a> {
    company: &'a Company,
    relpath: &'a str,
    /// The repository of the worktree; absent if it has no folder on this machine.
    repo: Option<&'a Path>,
    /// Whether to discard uncommitted changes and unmerged commits.
    force: bool,
}

impl Removal<'_> {
    /// Returns the folder if it may be removed, or the reason why not. A dry run and the removal use the same check.
    async fn check(&self) -> Result<PathBuf, String> {
        let path = inside(self.company, self.relpath)?;
        // Uncommitted changes exist nowhere else.
        if !self.force && fs::symlink_metadata(path.join(".git")).is_ok() {
            let repo = self
                .repo
                .ok_or("its repository is not known on this machine")?;
            let tree = GitTree::worktree(repo, &path).await?;
            if !tree.status().await?.is_empty() {
                return Err("uncommitted changes".to_owned());
            }
        }
        if let Some(repo) = self.repo {
            let listed = GitTree::checkout(repo)
                .text(&["worktree", "list", "--porcelain"])
                .await?;
            check_listed(&listed, &path)?;
        }
        Ok(path)
    }

    async fn execute(&self) -> Result<(), String> {
        let path = self.check().await?;
        if let Some(repo) = self.repo {
            let _turn = WORKTREE_LOCK.lock().await;
            let target = path.to_string_lossy();
            GitTree::checkout(repo)
                .git(&["worktree", "remove", "--force", &target])
                .await?;
        } else {
            let path = path.clone();
            let removed = tokio::task::spawn_blocking(move || fs::remove_dir_all(path)).await;
            removed
                .unwrap_or_else(|panic| Err(io::Error::other(panic.to_string())))
                .map_err(|error| format!("the folder cannot be removed: {}", error.kind()))?;
        }
        // Remove parent folders that are now empty.
        let root = self.company.path(ROOT);
        let mut parent = path.parent();
        while let Some(folder) =
            parent.filter(|folder| folder.starts_with(&root) && *folder != root)
        {
            if fs::remove_dir(folder).is_err() {
                break;
            }
            parent = folder.parent();
        }
        Ok(())
    }

    /// Deletes the branch of a run whose worktree is gone. Returns whether it was deleted, and the reason if it was
    /// kept; a dry run returns only the reason for keeping it. Both are absent if there is no such branch.
    async fn delete_branch(
        &self,
        branch: &str,
        run: &str,
        dry_run: bool,
    ) -> (Option<bool>, Option<String>) {
        let kept = |reason: String| ((!dry_run).then_some(false), Some(reason));
        let Some(repo) = self.repo else {
            return kept("the repository is not known on this machine".to_owned());
        };
        // A run's document may name any branch, including a user's.
        if !(branch.starts_with("ac/") && branch.ends_with(&format!("/{run}"))) {
            return kept("it is not a branch that was made for this run".to_owned());
        }
        let full = format!("refs/heads/{branch}");
        if GitTree::checkout(repo)
            .git(&["show-ref", "--verify", "--quiet", &full])
            .await
            .is_err()
        {
            return (None, None);
        }
        let is_merged = GitTree::checkout(repo)
            .git(&["merge-base", "--is-ancestor", &full, "HEAD"])
            .await;
        if !self.force && is_merged.is_err() {
            return kept("unmerged commits".to_owned());
        }
        if dry_run {
            return (None, None);
        }
        let _turn = WORKTREE_LOCK.lock().await;
        // Git regards the branch as checked out until worktrees whose folder is gone are pruned.
        let _ = GitTree::checkout(repo).git(&["worktree", "prune"]).await;
        match GitTree::checkout(repo)
            .git(&["branch", "-D", "--", branch])
            .await
        {
            Ok(_) => (Some(true), None),
            Err(reason) => kept(reason),
        }
    }
}

/// Rejects a folder that git would not remove: one that is not a worktree of the repository, or is locked. `listed` is
/// the output of `git worktree list --porcelain`.
fn check_listed(listed: &str, path: &Path) -> Result<(), String> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_it = |entry: &&str| {
        let folder = entry
            .lines()
            .find_map(|line| line.strip_prefix("worktree "));
        folder.is_some_and(|folder| {
            let folder = Path::new(folder);
            folder == path || folder.canonicalize().is_ok_and(|folder| folder == real)
        })
    };
    let Some(entry) = listed.split("\n\n").find(is_it) else {
        return Err("it is not a worktree of its repository".to_owned());
    };
    let is_locked = |line: &str| line == "locked" || line.starts_with("locked ");
    if entry.lines().any(is_locked) {
        return Err("it is locked: run `git worktree unlock` to allow its removal".to_owned());
    }
    Ok(())
}

/// Resolves the path of a worktree, which must be inside of the folder for worktrees after resolving symbolic links.
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
    if real.starts_with(&root) && real != root && !is_link && root.starts_with(company.root()) {
        Ok(path)
    } else {
        Err(refused())
    }
}
