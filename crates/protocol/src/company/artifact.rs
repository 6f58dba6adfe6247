//! `artifact.*`: the documents of a project. In code they are called documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ActorRole, DocumentId, ProjectId, RunId, Text};

crate::methods! {
    Company family "artifact";

    /// Read a document, if policy lets the actor see it.
    Read CompanyArtifactRead = "artifact.read" (CompanyArtifactReadParams in workspace_dir as actor_role) -> CompanyArtifactReadResponse;
}

/// Params of [`CompanyArtifactRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyArtifactReadParams {
    /// The company folder.
    pub workspace_dir: Text,
    /// The project.
    pub project_id: ProjectId,
    /// The document.
    pub artifact_id: DocumentId,
    /// Who reads.
    pub actor_id: Text,
    /// What they are.
    pub actor_role: ActorRole,
    /// Their team.
    #[serde(default)]
    pub actor_team_id: Option<Text>,
    /// The run whose log tells of it; the document's own if not given.
    #[serde(default)]
    pub run_id: Option<RunId>,
}

/// Response of [`CompanyArtifactRead`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompanyArtifactReadResponse {
    /// The id its front matter has.
    pub artifact_id: String,
    /// Its file, relative to the company folder.
    pub artifact_relpath: String,
    /// Its front matter, whatever else is in it.
    pub frontmatter: Map<String, Value>,
    /// The whole file.
    pub markdown: String,
}
