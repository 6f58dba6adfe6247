//! `session/*`: resuming the notification stream after a lost connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkspaceId;

crate::methods! {
    Tree family "session";

    /// Replay the workspace notifications that the client missed and subscribe to new ones.
    ///
    /// Every notification of a workspace has a top-level `seq`, which increases. The gateway sends the retained
    /// notifications after `after_seq` following this response. If `gap` is `true`, some notifications are lost and the
    /// client must reload its state.
    Read SessionResume = "session/resume" (SessionResumeParams in workspace_id) -> SessionResumeResponse;
}

/// Params of [`SessionResume`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionResumeParams {
    /// The id of the workspace to subscribe to.
    pub workspace_id: WorkspaceId,
    /// The `seq` of the last notification that the client received.
    pub after_seq: u64,
}

/// Response of [`SessionResume`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionResumeResponse {
    /// The number of retained notifications that follow this response.
    pub replayed: u32,
    /// Whether notifications after `after_seq` may be missing from the replay, because they are no longer retained or
    /// because `after_seq` is unknown to this process.
    pub gap: bool,
    /// The lowest `seq` that the next new notification can have.
    pub next_seq: u64,
}
