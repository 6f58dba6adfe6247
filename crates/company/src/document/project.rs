//! `project.yaml` and `repos.yaml`.

pub use protocol::company::workspace::RepoLink;
use protocol::company::{Budget, IsoTime, Issue, ProjectStatus, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Document, tags};

tags! {
    ProjectTag = "project";
    ProjectReposTag = "project_repo_links";
}

/// A project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Project {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `project`.
    pub r#type: ProjectTag,
    /// Its id.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// Whether it is worked on.
    pub status: ProjectStatus,
    /// When it was made.
    pub created_at: IsoTime,
    /// What it may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

impl Document for Project {
    fn refine(&self) -> Vec<Issue> {
        self.budget
            .iter()
            .flat_map(|budget| budget.refine("budget"))
            .collect()
    }
}

impl Project {
    /// A new project.
    pub fn new(id: Text, name: Text, created_at: IsoTime) -> Self {
        Self {
            schema_version: 1,
            r#type: ProjectTag::It,
            id,
            name,
            status: ProjectStatus::Active,
            created_at,
            budget: None,
        }
    }
}

/// The repositories of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectRepos {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `project_repo_links`.
    pub r#type: ProjectReposTag,
    /// The project.
    pub project_id: Text,
    /// When a link changed.
    pub updated_at: IsoTime,
    /// The links, sorted by id.
    pub repos: Vec<RepoLink>,
}

impl Document for ProjectRepos {}

impl ProjectRepos {
    /// The links of a project.
    pub fn new(project_id: Text, updated_at: IsoTime, repos: Vec<RepoLink>) -> Self {
        Self {
            schema_version: 1,
            r#type: ProjectReposTag::It,
            project_id,
            updated_at,
            repos,
        }
    }
}
