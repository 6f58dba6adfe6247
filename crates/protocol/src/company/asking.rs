//! The actor on whose behalf a read is made, shared by methods that filter their results by policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActorRole, Text};

/// The actor on whose behalf a read is made.
///
/// The response omits what the actor may not read. Without `actor_role`, the role of the caller's token applies; the
/// owner's token has no role limit and reads everything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Asking {
    /// Id of the person or agent that reads. Default: the caller's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<Text>,
    /// Role of that actor, at most the role of the caller's token. Default: the role of the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_role: Option<ActorRole>,
    /// Team id of that actor. Default: the team in the agent's `agent.yaml`; none for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_team_id: Option<Text>,
}
