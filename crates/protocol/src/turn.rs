//! What a thread shows of its turns. The methods of the family come with the turn loop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TurnId;

/// One exchange on a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// The turn.
    pub id: TurnId,
    /// Where it stands.
    pub status: TurnStatus,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Where a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TurnStatus {
    /// Accepted and running.
    InProgress,
    /// Finished normally.
    Completed,
    /// Ended by a failure; `error` says which.
    Failed,
    /// Cancelled, or found running after a restart.
    Interrupted,
}
