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
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `project`.
    pub r#type: ProjectTag,
    /// Id of the project.
    pub id: Text,
    /// Name of the project.
    pub name: Text,
    /// Status of the project.
    pub status: ProjectStatus,
    /// Creation time.
    pub created_at: IsoTime,
    /// Budget of the project; absent if it is not limited.
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
    /// A new active project without budget.
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

/// The repository links of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectRepos {
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `project_repo_links`.
    pub r#type: ProjectReposTag,
    /// Id of the project.
    pub project_id: Text,
    /// Time of the last change of a link.
    pub updated_at: IsoTime,
    /// The links, sorted by repository id.
    pub repos: Vec<RepoLink>,
}

impl Document for ProjectRepos {}

impl ProjectRepos {
    /// A document with the given links.
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
