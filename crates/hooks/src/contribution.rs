//! What a hook can bring into a turn.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// One thing a hook brings, written `{"kind": …, "params": {…}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "params", rename_all = "snake_case")]
pub enum Contribution {
    /// A value of a policy.
    Policy {
        /// Whose policy.
        domain: String,
        /// Which value.
        key: String,
        /// The value.
        value: Value,
        /// Who wins: the higher one.
        priority: i32,
    },
    /// Text for the context of the prompt.
    PromptContext {
        /// The contribution.
        contribution_id: String,
        /// Whose text.
        domain: String,
        /// Its rank.
        priority: i32,
        /// The text.
        content: String,
        /// The most characters.
        max_chars: Option<usize>,
        /// Where it comes from.
        source_refs: Vec<SourceReference>,
        /// Whether it was cut.
        truncated: bool,
    },
    /// A section of the system prompt.
    PromptSection(PromptSection),
    /// Tools.
    ToolBundle {
        /// The contribution.
        contribution_id: String,
        /// The bundle.
        bundle_id: String,
        /// Whose tools.
        domain: String,
        /// Its rank.
        priority: i32,
        /// The tools.
        tool_names: Vec<String>,
    },
    /// A remark for the prompt manifest.
    PromptManifestDiagnostic {
        /// What kind of remark.
        code: String,
        /// The remark.
        message: String,
        /// How bad it is.
        severity: Severity,
        /// Whether users may read the message.
        safe_for_user: bool,
    },
    /// Something to remember.
    Audit {
        /// What happened.
        event_kind: String,
        /// The particulars.
        details: BTreeMap<String, Value>,
        /// Whether users may read it.
        safe_for_user: bool,
    },
    /// Something to do later.
    BackgroundJob {
        /// The contribution.
        contribution_id: String,
        /// The job.
        job_id: String,
        /// Whose job.
        domain: String,
        /// Its rank.
        priority: i32,
        /// Jobs with the same key are one job.
        idempotency_key: Option<String>,
        /// The particulars.
        payload: Value,
    },
    /// Nothing.
    Noop,
}

/// A section of the system prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromptSection {
    /// The contribution.
    pub contribution_id: String,
    /// The section; contributions to one section are joined.
    pub section_id: String,
    /// Its heading.
    pub title: Option<String>,
    /// Whose section.
    pub domain: String,
    /// Its rank: higher ones come first.
    pub priority: i32,
    /// The text.
    pub content: String,
    /// The most characters.
    pub max_chars: Option<usize>,
    /// Where it comes from.
    pub source_refs: Vec<SourceReference>,
    /// Remarks about it.
    pub diagnostics: Vec<String>,
    /// Whether it was cut.
    pub truncated: bool,
}

/// Where a contribution comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceReference {
    /// `workspace`, `thread`, `turn`, `task`, `agent`, `tool`, `document`, `file`, `url`, `hook_run` or a word of
    /// the hook's own.
    pub kind: String,
    /// Which one.
    pub id: String,
    /// What to call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// How bad a remark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// For developers.
    Debug,
    /// Good to know.
    Info,
    /// Not as it should be.
    Warning,
    /// Wrong.
    Error,
}

/// What a handler is allowed to bring.
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
    /// Doing it twice does no harm, so a failed background run may be tried again.
    IdempotentSideEffect,
    /// A word of the hook's own.
    #[serde(untagged)]
    Other(String),
}

impl Contribution {
    /// The capability its handler needs.
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

    /// `sha256:` and the hash of its JSON.
    pub fn hash(&self) -> String {
        // A contribution is a tree of strings, numbers and lists: it cannot fail to serialise.
        let json = serde_json::to_vec(self).unwrap_or_default();
        format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(json)))
    }
}
