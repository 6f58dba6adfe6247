//! Where a session runs: a worker program in a folder of its own, a plain command in the folder it names.

use std::path::{Path, PathBuf};

use company::{Company, policy::Actor};
use protocol::company::ActorRole;

use crate::{git::Tree, worktree::Worktree};

/// A person's choice that a worker program runs in the repository or the company folder itself. It can only be made by
/// [`InPlace::requested`], which checks the role.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InPlace {
    actor_id: String,
}

impl InPlace {
    /// Reads the param `in_place` of a launch or a job. Refused unless the caller acts as a person.
    pub(crate) fn requested(
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

    /// The person who chose it.
    pub(crate) fn actor_id(&self) -> &str {
        &self.actor_id
    }
}

/// The folder below which a session runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WorkingFolder {
    /// The company folder.
    Company,
    /// An empty folder of the run.
    Scratch(PathBuf),
    /// A repository itself.
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
    /// The worktree, if it is one.
    pub(crate) fn worktree(&self) -> Option<&Worktree> {
        match self {
            Self::Worktree { worktree, .. } => Some(worktree),
            Self::Company | Self::Scratch(_) | Self::Checkout(_) => None,
        }
    }

    /// Where git works for it. `base` is the folder of the repository, or what corresponds to it in the worktree.
    pub(crate) async fn tree(&self, company: &Company, base: &Path) -> Result<Tree, String> {
        match self {
            Self::Worktree { repo, worktree } => {
                Tree::worktree(repo, &company.path(&worktree.relpath)).await
            }
            Self::Company | Self::Scratch(_) | Self::Checkout(_) => Ok(Tree::checkout(base)),
        }
    }

    /// The folder as far as it exists before a launch: for a worktree the repository it will be a copy of, for a
    /// scratch folder none.
    pub(crate) fn existing<'a>(&'a self, company: &'a Company) -> Option<&'a Path> {
        match self {
            Self::Company => Some(company.root()),
            Self::Scratch(_) => None,
            Self::Checkout(repo) | Self::Worktree { repo, .. } => Some(repo),
        }
    }

    /// The word in the event about a choice of [`InPlace`].
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Company => "company",
            Self::Scratch(_) => "scratch",
            Self::Checkout(_) => "repository",
            Self::Worktree { .. } => "worktree",
        }
    }
}
