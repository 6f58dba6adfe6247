//! `session/*`: coming back after a lost connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkspaceId;

crate::methods! {
    Tree family "session";

    /// Receive the workspace notifications that were missed, and those to come.
    ///
    /// Every notification of a workspace carries a growing top-level `seq`. The retained ones after
    /// `after_seq` follow this answer. `gap` says that some are gone: read the state again instead.
    Read SessionResume = "session/resume" (SessionResumeParams in workspace_id) -> SessionResumeResponse;
}

/// Params of [`SessionResume`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionResumeParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The `seq` of the last notification the client saw.
    pub after_seq: u64,
}

/// Response of [`SessionResume`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionResumeResponse {
    /// How many notifications follow this answer.
    pub replayed: u32,
    /// Whether notifications after `after_seq` are no longer there.
    pub gap: bool,
    /// The lowest `seq` the next notification can have.
    pub next_seq: u64,
}
