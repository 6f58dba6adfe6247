//! The proof of what a model was told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ArtifactId, ArtifactVersionId, TurnId};

/// What the system prompt of a turn was made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptManifest {
    /// The compiler.
    pub compiler_version: String,
    /// How much of it was wanted.
    pub profile: PromptProfile,
    /// The sections in their order.
    pub section_ids: Vec<String>,
    /// SHA-256 of the part that stays the same between turns.
    pub fingerprint_stable: String,
    /// SHA-256 of the part that belongs to the turn.
    pub fingerprint_dynamic: String,
    /// SHA-256 of the whole.
    pub fingerprint_full: String,
    /// Remarks.
    pub diagnostics: Vec<PromptManifestDiagnostic>,
    /// Which hook gave what.
    pub hook_sources: Vec<PromptManifestHookSource>,
    /// The files that went with the conversation, those of the newest message first; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<PromptAttachment>,
}

/// What a model was given of an attached file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptAttachment {
    /// The turn it was attached to: this one, or an earlier one of the thread.
    pub turn_id: TurnId,
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<ArtifactVersionId>,
    /// SHA-256 of its bytes, lower-case hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// How it was given.
    pub form: PromptAttachmentForm,
    /// Characters of its text that were given; 0 unless `form` is `text`.
    pub characters: u64,
    /// Characters of its whole text, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_characters: Option<u64>,
    /// Whether the model was given less than the file could give: a part of its text, or a description instead of a
    /// picture that had no room.
    pub truncated: bool,
}

/// How a model was given an attached file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptAttachmentForm {
    /// As text.
    Text,
    /// As a picture.
    Image,
    /// As name, type, size and hash alone.
    Description,
}

/// How much of a system prompt is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptProfile {
    /// Everything.
    AssistantFull,
    /// Identity, safety and hooks.
    AssistantMinimal,
    /// Identity alone.
    AssistantNone,
}

/// A remark about a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptManifestDiagnostic {
    /// A stable name, such as `dynamic_section_truncated`.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// The section it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_id: Option<String>,
    /// The hook it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_source: Option<PromptHookSource>,
}

/// What one hook gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptManifestHookSource {
    /// The hook.
    pub source: PromptHookSource,
    /// The section it went into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_id: Option<String>,
    /// What kind of thing it is.
    pub contribution_kind: PromptContributionKind,
    /// Its rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// How many sources it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_count: Option<u64>,
    /// Who cut it.
    pub truncation: PromptTruncation,
}

/// A hook and what it brought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptHookSource {
    /// The hook.
    pub hook_id: String,
    /// The subscription.
    pub subscription_id: String,
    /// The phase with an underscore: `turn_pre_prompt_compile`.
    pub phase: String,
    /// The phase with a dot: `turn.pre_prompt_compile`.
    pub phase_name: String,
    /// The contribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution_id: Option<String>,
    /// `sha256:` and the hash of the contribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution_hash: Option<String>,
}

/// What a hook can bring to a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptContributionKind {
    /// Text for the context.
    PromptContext,
    /// A section.
    PromptSection,
    /// A remark.
    PromptManifestDiagnostic,
    /// A failure.
    RuntimeFailure,
}

/// Who cut a contribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptTruncation {
    /// Nobody.
    None,
    /// The hook.
    Hook,
    /// The compiler.
    Prompt,
    /// Both.
    HookAndPrompt,
}
