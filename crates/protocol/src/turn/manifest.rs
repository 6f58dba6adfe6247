//! The prompt manifest: a record of what was sent to the model in a turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ArtifactId, ArtifactVersionId, TurnId};

/// A record of the parts of a turn's system prompt and of its attachments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptManifest {
    /// The version of the prompt compiler, for example `accord.prompt.2`.
    pub compiler_version: String,
    /// The profile that selected the sections.
    pub profile: PromptProfile,
    /// The ids of the sections, in prompt order.
    pub section_ids: Vec<String>,
    /// The SHA-256 of the part that is the same in every turn, in lower-case hexadecimal.
    pub fingerprint_stable: String,
    /// The SHA-256 of the part that is specific to the turn, in lower-case hexadecimal.
    pub fingerprint_dynamic: String,
    /// The SHA-256 of the whole system prompt, in lower-case hexadecimal.
    pub fingerprint_full: String,
    /// Diagnostics of the compiler and of the hooks.
    pub diagnostics: Vec<PromptManifestDiagnostic>,
    /// The contributions of hooks that are part of the prompt.
    pub hook_sources: Vec<PromptManifestHookSource>,
    /// The attached files of the conversation that were sent to the model, newest message first. Absent if there are
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<PromptAttachment>,
}

/// The part of an attached file that was sent to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptAttachment {
    /// The id of the turn to which the file was attached: this turn or an earlier one of the thread.
    pub turn_id: TurnId,
    /// The id of the artifact.
    pub artifact_id: ArtifactId,
    /// The id of the artifact version. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<ArtifactVersionId>,
    /// The SHA-256 of the file in lower-case hexadecimal. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The form in which the file was sent.
    pub form: PromptAttachmentForm,
    /// The number of characters of text that were sent; 0 unless `form` is `text`.
    pub characters: u64,
    /// The number of characters of the whole text. Absent if `form` is not `text` or the text was not read to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_characters: Option<u64>,
    /// Whether less was sent than the file contains: only part of its text, or a description because the text or image
    /// exceeded the limits of the request.
    pub truncated: bool,
}

/// The form in which an attached file was sent to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptAttachmentForm {
    /// The text of the file, whole or truncated.
    Text,
    /// The image itself.
    Image,
    /// Only the name, type, size and hash of the file.
    Description,
}

/// The set of sections in a system prompt. The gateway uses `assistant_full` for every turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptProfile {
    /// All sections: identity, safety and the contributions of hooks.
    AssistantFull,
    /// The identity and safety sections and the contributions of hooks.
    AssistantMinimal,
    /// Only the identity section.
    AssistantNone,
}

/// A diagnostic about a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptManifestDiagnostic {
    /// A stable name for the diagnostic, for example `dynamic_section_truncated`.
    pub code: String,
    /// A one-sentence description.
    pub message: String,
    /// The id of the section that the diagnostic concerns. Absent if it concerns none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_id: Option<String>,
    /// The hook contribution that the diagnostic concerns. Absent if it concerns none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_source: Option<PromptHookSource>,
}

/// One contribution of a hook to a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptManifestHookSource {
    /// The hook and its contribution.
    pub source: PromptHookSource,
    /// The id of the section that contains the contribution. Absent if it belongs to no section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section_id: Option<String>,
    /// The kind of contribution.
    pub contribution_kind: PromptContributionKind,
    /// The priority of the contribution; higher values come first in the prompt. Absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// The number of sources that the contribution refers to. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_count: Option<u64>,
    /// The component that truncated the contribution.
    pub truncation: PromptTruncation,
}

/// A hook and one of its contributions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptHookSource {
    /// The id of the hook.
    pub hook_id: String,
    /// The id of the subscription.
    pub subscription_id: String,
    /// The phase in snake_case, for example `turn_pre_prompt_compile`.
    pub phase: String,
    /// The phase with a dot, for example `turn.pre_prompt_compile`.
    pub phase_name: String,
    /// The id of the contribution. Absent if it has none, as for diagnostics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution_id: Option<String>,
    /// The hash of the contribution: `sha256:` followed by lower-case hexadecimal. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution_hash: Option<String>,
}

/// The kind of a hook's contribution to a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptContributionKind {
    /// Text in the common section `runtime_context`.
    PromptContext,
    /// Text in a section named by the hook.
    PromptSection,
    /// Not produced: diagnostics are listed in `diagnostics`.
    PromptManifestDiagnostic,
    /// Not produced: failures are listed in `diagnostics`.
    RuntimeFailure,
}

/// The component that truncated a contribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptTruncation {
    /// The contribution was not truncated.
    None,
    /// The hook truncated it.
    Hook,
    /// The prompt compiler truncated it.
    Prompt,
    /// Both the hook and the prompt compiler truncated it.
    HookAndPrompt,
}
