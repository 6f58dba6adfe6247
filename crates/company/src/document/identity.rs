//! `company/company.yaml` and `company/policy.yaml`.

use protocol::company::{IsoTime, Text, Visibility};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Document, tags};

tags! {
    CompanyTag = "company";
    PolicyTag = "policy";
}

/// Who the company is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `company`.
    pub r#type: CompanyTag,
    /// The id of the company.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// When it was made.
    pub created_at: IsoTime,
}

impl Document for Identity {}

/// Who sees what by default. Kept for other readers; nothing is decided by it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `policy`.
    pub r#type: PolicyTag,
    /// The id of the policy.
    pub id: Text,
    /// The defaults.
    pub visibility_defaults: VisibilityDefaults,
}

impl Document for Policy {}

/// The defaults of a [`Policy`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisibilityDefaults {
    /// Of a worker's journal.
    pub worker_journal: Visibility,
    /// Of what a worker makes for a milestone.
    pub worker_milestone_artifact: Visibility,
    /// Of a manager's proposal.
    pub manager_proposal: Visibility,
    /// Of a director's plan of work.
    pub director_workplan: Visibility,
}
