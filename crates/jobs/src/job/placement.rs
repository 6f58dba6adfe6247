//! Placement of a job's worker: repository, task and folder, in addition to its contract. Contracts are strict
//! documents without such fields, so the placement is stored under `.local` until the job is over.

use company::{
    Company, Error, Writer, document::Machine, files, layout, org::project, policy::Actor,
};
use protocol::{
    Id as _,
    company::{
        ActorRole, JobId, MilestoneId, ProjectId, RepoId, TaskId,
        context::ContextRef,
        job::{JobSpec, JobSubmitParams},
        session::CompanySessionLaunchParams,
    },
};
use serde::{Deserialize, Serialize};
use sessions::{InPlace, worktree};

const FOLDER: &str = ".local/job_placements";

/// The placement requested by the caller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobPlacement {
    /// The repository; if absent, it is derived from the contract's references and the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<RepoId>,
    /// The task; absent if the job belongs to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The milestone of the task; requires `task_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milestone_id: Option<MilestoneId>,
    /// Whether the worker runs in the repository or the company folder itself instead of a worktree or scratch folder.
    #[serde(default)]
    pub in_place: bool,
}

impl From<&JobSubmitParams> for JobPlacement {
    fn from(params: &JobSubmitParams) -> Self {
        Self {
            repo_id: params.repo_id.clone(),
            task_id: params.task_id.clone(),
            milestone_id: params.milestone_id.clone(),
            in_place: params.in_place.unwrap_or(false),
        }
    }
}

impl JobPlacement {
    /// Rejects placements that a launch would reject, before the job is created.
    pub(super) fn check(&self, company: &Company, spec: &JobSpec) -> Result<(), Error> {
        let actor = Actor {
            id: spec.manager_actor_id.as_deref().unwrap_or("manager").into(),
            role: spec.manager_role.unwrap_or(ActorRole::Manager),
            team_id: None,
        };
        if self.in_place {
            InPlace::requested(Some(true), &actor.known(company)?)?;
        }
        if let Some(repo) = &self.repo_id
            && !is_on_this_machine(company, repo)
        {
            return Err(Error::Refused(format!(
                "repository `{repo}` has no folder on this machine: set it with workspace.repo_root.set"
            )));
        }
        let requirement = match (&self.task_id, &self.milestone_id) {
            (Some(task), milestone) => {
                worktree::requirement(company, &spec.project_id, task, milestone.as_ref())
                    .map_err(Error::Refused)?
            }
            (None, Some(milestone)) => {
                return Err(Error::Refused(format!(
                    "milestone `{milestone}` is named without its task: expected `task_id`"
                )));
            }
            (None, None) => worktree::Requirement::None,
        };
        match (self.in_place, requirement, &self.task_id) {
            (true, worktree::Requirement::Explicit, Some(task)) => Err(Error::Refused(format!(
                "task `{task}` requires a worktree, so `in_place` is not possible"
            ))),
            (true | false, _, _) => Ok(()),
        }
    }

    /// Applies the placement to the launch of an attempt.
    pub(super) fn apply(
        &self,
        params: &mut CompanySessionLaunchParams,
        company: &Company,
        refs: &[ContextRef],
    ) {
        let project = &params.project_id;
        let repo = self.repo_id.clone();
        params.repo_id = repo.or_else(|| repository(company, project, refs));
        params.task_id.clone_from(&self.task_id);
        params.milestone_id.clone_from(&self.milestone_id);
        params.in_place = Some(self.in_place);
    }

    /// Stores the placement for the process that works on the job; the default placement removes the file.
    pub(super) fn keep(
        &self,
        writer: &Writer<'_>,
        project: &ProjectId,
        job: &JobId,
    ) -> Result<(), Error> {
        if *self == Self::default() {
            return forget(writer, project, job);
        }
        let text = serde_json::to_string(self)
            .map_err(|error| Error::Refused(format!("a placement cannot be written: {error}")))?;
        writer.put_text(&path(project, job), &(text + "\n"))
    }

    /// Reads the stored placement of a job; the default if there is none.
    pub(super) fn of(company: &Company, project: &ProjectId, job: &JobId) -> Result<Self, Error> {
        match company.read_text(&path(project, job)) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| {
                Error::Refused(format!("the placement of job `{job}` is damaged: {error}"))
            }),
            Err(error) if error.is_missing() => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }
}

/// Removes the stored placement, because the job is over or is submitted again without one.
pub(super) fn forget(writer: &Writer<'_>, project: &ProjectId, job: &JobId) -> Result<(), Error> {
    let path = writer.company().path(&path(project, job));
    if path.exists() {
        files::remove(&path)?;
    }
    Ok(())
}

fn path(project: &ProjectId, job: &JobId) -> String {
    format!("{FOLDER}/{project}/{job}.json")
}

fn is_on_this_machine(company: &Company, repo: &RepoId) -> bool {
    company
        .read::<Machine>(layout::MACHINE)
        .is_ok_and(|machine| machine.repo_roots.contains_key(repo.as_str()))
}

/// Determines the repository of a job: the one that a reference names, or else the only one of its project, if it has a
/// folder on this machine.
fn repository(company: &Company, project: &ProjectId, refs: &[ContextRef]) -> Option<RepoId> {
    let links = project::repo_links(company, project).ok()?;
    let named = links.iter().find(|link| {
        let repo = link.repo_id.to_string();
        refs.iter().any(|reference| {
            *reference.value == *repo || reference.value.starts_with(&format!("{repo}:"))
        })
    });
    let link = match (named, links.as_slice()) {
        (Some(named), _) => named,
        (None, [only]) => only,
        (None, _) => return None,
    };
    let repo = RepoId::parse(&link.repo_id.to_string()).ok()?;
    is_on_this_machine(company, &repo).then_some(repo)
}
