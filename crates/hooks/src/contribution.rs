//! The contributions a hook can make to a turn, and the capabilities they require.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// One contribution of a hook, serialised as `{"kind": …, "params": {…}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "params", rename_all = "snake_case")]
pub enum Contribution {
    /// A policy value.
    Policy {
        /// The namespace of the policy.
        domain: String,
        /// The name of the value.
        key: String,
        /// The value.
        value: Value,
        /// Rank among values of the same key; the highest wins.
        priority: i32,
    },
    /// Text for the context of the prompt.
    PromptContext {
        /// Id of the contribution.
        contribution_id: String,
        /// The namespace of the text.
        domain: String,
        /// Rank; contributions with higher values come first.
        priority: i32,
        /// The text.
        content: String,
        /// Limit in characters. `None` for the limit of the prompt.
        max_chars: Option<usize>,
        /// The sources of the text.
        source_refs: Vec<SourceReference>,
        /// Whether the hook already shortened the text.
        truncated: bool,
    },
    /// A section of the system prompt.
    PromptSection(PromptSection),
    /// A set of tools.
    ToolBundle {
        /// Id of the contribution.
        contribution_id: String,
        /// Id of the bundle.
        bundle_id: String,
        /// The namespace of the tools.
        domain: String,
        /// Rank among bundles.
        priority: i32,
        /// The names of the tools.
        tool_names: Vec<String>,
    },
    /// A diagnostic for the prompt manifest.
    PromptManifestDiagnostic {
        /// A stable code of the diagnostic.
        code: String,
        /// The text of the diagnostic.
        message: String,
        /// Its severity.
        severity: Severity,
        /// Whether users may read the message.
        safe_for_user: bool,
    },
    /// An audit event to record.
    Audit {
        /// The kind of event.
        event_kind: String,
        /// Details of the event.
        details: BTreeMap<String, Value>,
        /// Whether users may read the event.
        safe_for_user: bool,
    },
    /// A job to run later.
    BackgroundJob {
        /// Id of the contribution.
        contribution_id: String,
        /// Id of the job.
        job_id: String,
        /// The namespace of the job.
        domain: String,
        /// Rank among jobs.
        priority: i32,
        /// Jobs with the same key are the same job. `None` disables deduplication.
        idempotency_key: Option<String>,
        /// Parameters of the job.
        payload: Value,
    },
    /// No contribution.
    Noop,
}

/// A section of the system prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromptSection {
    /// Id of the contribution.
    pub contribution_id: String,
    /// Id of the section. Contributions with the same section id are merged.
    pub section_id: String,
    /// The heading. `None` for a section without one.
    pub title: Option<String>,
    /// The namespace of the section.
    pub domain: String,
    /// Rank; sections with higher values come first.
    pub priority: i32,
    /// The text.
    pub content: String,
    /// Budget in characters, title included. `None` for the default of the prompt compiler.
    pub max_chars: Option<usize>,
    /// The sources of the text.
    pub source_refs: Vec<SourceReference>,
    /// Diagnostics about the section.
    pub diagnostics: Vec<String>,
    /// Whether the hook already shortened the text.
    pub truncated: bool,
}

/// A source of a contribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceReference {
    /// `workspace`, `thread`, `turn`, `task`, `agent`, `tool`, `document`, `file`, `url`, `hook_run` or a hook-defined
    /// value.
    pub kind: String,
    /// The id of the source.
    pub id: String,
    /// A name for display. `None` if the id is sufficient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Useful to developers only.
    Debug,
    /// Information without a problem.
    Info,
    /// A problem that did not stop the work.
    Warning,
    /// A failure.
    Error,
}

/// A kind of contribution or effect that a handler is allowed to produce.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// [`Contribution::Policy`].
    ContributePolicy,
    /// [`Contribution::PromptContext`].
    ContributePromptContext,
    /// [`Contribution::PromptSection`].
    ContributePromptSection,
    /// [`Contribution::ToolBundle`].
    ContributeToolBundle,
    /// [`Contribution::PromptManifestDiagnostic`].
    ContributePromptManifestDiagnostic,
    /// [`Contribution::Audit`].
    EmitAudit,
    /// [`Contribution::BackgroundJob`].
    ScheduleBackgroundJob,
    /// Repeated execution has no further effect, so failed runs may be retried.
    IdempotentSideEffect,
    /// A hook-defined capability.
    #[serde(untagged)]
    Other(String),
}

impl Contribution {
    /// Returns the capability its handler needs. `None` if it needs none.
    pub fn needs(&self) -> Option<Capability> {
        match self {
            Self::Policy { .. } => Some(Capability::ContributePolicy),
            Self::PromptContext { .. } => Some(Capability::ContributePromptContext),
            Self::PromptSection(_) => Some(Capability::ContributePromptSection),
            Self::ToolBundle { .. } => Some(Capability::ContributeToolBundle),
            Self::PromptManifestDiagnostic { .. } => {
                Some(Capability::ContributePromptManifestDiagnostic)
            }
            Self::Audit { .. } => Some(Capability::EmitAudit),
            Self::BackgroundJob { .. } => Some(Capability::ScheduleBackgroundJob),
            Self::Noop => None,
        }
    }

    /// Returns `sha256:` followed by the hex SHA-256 of its JSON.
    pub fn hash(&self) -> String {
        // A contribution consists of strings, numbers, lists and maps with string keys, so serialisation cannot fail.
        let json = serde_json::to_vec(self).unwrap_or_default();
        format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(json)))
    }
}
