//! The working folder of a session: worker programs get a separate folder, plain commands run in the folder they name.

use std::path::{Path, PathBuf};

use company::{Company, policy::Actor};
use protocol::company::ActorRole;

use crate::{git::GitTree, worktree::Worktree};

/// A person's request that a worker program runs in the repository or the company folder itself. It can only be created
/// by [`InPlace::requested`], which checks the role.
#[derive(Clone, Debug, PartialEq)]
pub struct InPlace {
    actor_id: String,
}

impl InPlace {
    /// Reads the parameter `in_place` of a launch or a job. Rejected unless the actor has the role `human`.
    pub fn requested(
        in_place: Option<bool>,
        actor: &Actor,
    ) -> Result<Option<Self>, company::Error> {
        if in_place != Some(true) {
            return Ok(None);
        }
        if actor.role != ActorRole::Human {
            return Err(company::Error::Refused(format!(
                "`in_place` is allowed to people only: expected role `human`, found `{}`",
                actor.role.as_str()
            )));
        }
        Ok(Some(Self {
            actor_id: actor.id.clone(),
        }))
    }

    /// Id of the person who requested it.
    pub(crate) fn actor_id(&self) -> &str {
        &self.actor_id
    }
}

/// The folder below which a session runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WorkingFolder {
    /// The company folder.
    Company,
    /// An empty folder inside of the run's folder.
    Scratch(PathBuf),
    /// The checkout of a repository itself.
    Checkout(PathBuf),
    /// A worktree of a repository.
    Worktree {
        /// The repository.
        repo: PathBuf,
        /// The worktree.
        worktree: Worktree,
    },
}

impl WorkingFolder {
    /// The worktree; `None` for other folders.
    pub(crate) fn worktree(&self) -> Option<&Worktree> {
        match self {
            Self::Worktree { worktree, .. } => Some(worktree),
            Self::Company | Self::Scratch(_) | Self::Checkout(_) => None,
        }
    }

    /// Returns the git tree of the folder. `base` is the folder of the repository; it is not used for a worktree.
    pub(crate) async fn tree(&self, company: &Company, base: &Path) -> Result<GitTree, String> {
        match self {
            Self::Worktree { repo, worktree } => {
                GitTree::worktree(repo, &company.path(&worktree.relpath)).await
            }
            Self::Company | Self::Scratch(_) | Self::Checkout(_) => Ok(GitTree::checkout(base)),
        }
    }

    /// The folder that exists before the launch: for a worktree its repository, for a scratch folder none.
    pub(crate) fn existing<'a>(&'a self, company: &'a Company) -> Option<&'a Path> {
        match self {
            Self::Company => Some(company.root()),
            Self::Scratch(_) => None,
            Self::Checkout(repo) | Self::Worktree { repo, .. } => Some(repo),
        }
    }

    /// Name of the kind of folder in the event about an [`InPlace`] request.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Company => "company",
            Self::Scratch(_) => "scratch",
            Self::Checkout(_) => "repository",
            Self::Worktree { .. } => "worktree",
        }
    }
}
