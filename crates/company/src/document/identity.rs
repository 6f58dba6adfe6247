//! `company/company.yaml` and `company/policy.yaml`.

use protocol::company::{IsoTime, Text, Visibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Document, tags};

tags! {
    CompanyTag = "company";
    PolicyTag = "policy";
}

/// Identity of the company.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `company`.
    pub r#type: CompanyTag,
    /// Id of the company.
    pub id: Text,
    /// Name of the company.
    pub name: Text,
    /// Creation time.
    pub created_at: IsoTime,
}

impl Document for Identity {}

/// Default visibilities. Kept for other programs; no decision of this crate uses them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `policy`.
    pub r#type: PolicyTag,
    /// Id of the policy.
    pub id: Text,
    /// Default visibilities by kind of document.
    pub(crate) visibility_defaults: VisibilityDefaults,
}

impl Document for Policy {}

/// Default visibilities of a [`Policy`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisibilityDefaults {
    /// Visibility of a worker's journal.
    pub(crate) worker_journal: Visibility,
    /// Visibility of a worker's artifacts for a milestone.
    pub(crate) worker_milestone_artifact: Visibility,
    /// Visibility of a manager's proposal.
    pub(crate) manager_proposal: Visibility,
    /// Visibility of a director's workplan.
    pub(crate) director_workplan: Visibility,
}
