//! `artifact.*`: reads the documents of a project.
//!
//! A document is a Markdown file with front matter. The wire calls it artifact; the code calls it document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ActorRole, DocumentId, ProjectId, RunId, Text};

crate::methods! {
    Company family "artifact";

    /// Read a document, if policy allows the actor to read it.
    Read CompanyArtifactRead = "artifact.read" (CompanyArtifactReadParams in workspace_dir as actor_role) -> CompanyArtifactReadResponse;
}

/// Params of [`CompanyArtifactRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyArtifactReadParams {
    /// Path of the company folder.
    pub workspace_dir: Text,
    /// Id of the project.
    pub project_id: ProjectId,
    /// Id of the document.
    pub artifact_id: DocumentId,
    /// Id of the person or agent that reads.
    pub actor_id: Text,
    /// Role of that actor.
    pub actor_role: ActorRole,
    /// Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// Id of the run whose log records the policy decision. Default: the `run_id` in the document's front matter.
    #[serde(default)]
    pub run_id: Option<RunId>,
}

/// Response of [`CompanyArtifactRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyArtifactReadResponse {
    /// The `id` in the document's front matter.
    pub artifact_id: String,
    /// Path of the document, relative to the company folder.
    pub artifact_relpath: String,
    /// The parsed front matter, including unknown keys.
    pub frontmatter: Map<String, Value>,
    /// The whole file, front matter included.
    pub markdown: String,
}
