//! `inbox/reviews/<id>.yaml`: what was decided about something proposed.

use protocol::company::{ActorRole, IsoTime, MemoryScopeKind, ReviewDecision, Sensitivity, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Document, tags};

tags! { ReviewTag = "review"; }

/// A decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `review`.
    pub r#type: ReviewTag,
    /// Its id.
    pub id: Text,
    /// When it was decided.
    pub created_at: IsoTime,
    /// Who decided.
    pub actor_id: Text,
    /// What they are.
    pub actor_role: ActorRole,
    /// What they decided.
    pub decision: ReviewDecision,
    /// About what.
    pub subject: ReviewSubject,
    /// Why they could.
    pub policy: PolicyOutcome,
    /// What they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

impl Document for Review {}

/// What a review is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewSubject {
    /// The kind of the document.
    pub kind: Text,
    /// The document.
    pub artifact_id: Text,
    /// Its project.
    pub project_id: Text,
    /// What it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_file: Option<Text>,
    /// How it changes that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch_file: Option<Text>,
    /// What kind of memory it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_kind: Option<MemoryScopeKind>,
    /// Whose memory it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_ref: Option<Text>,
    /// How secret it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// Why it was proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<Text>,
}

/// What policy said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyOutcome {
    /// Whether it was allowed.
    pub allowed: bool,
    /// The rule that decided.
    pub rule_id: Text,
    /// Why.
    pub reason: Text,
}
