//! Who asks, for methods that leave out what an actor may not see.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ActorRole, Text};

/// The actor that asks. The answer leaves out what the actor may not see. Without it the caller's token decides: the
/// token of the owner sees everything, any other token what its role may see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Asking {
    /// The id of the person or agent that asks. The caller's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<Text>,
    /// The role of that actor, at most the role of the caller's token. The role of the token if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_role: Option<ActorRole>,
    /// The team of that actor. The team in the agent's file if absent, none for anybody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_team_id: Option<Text>,
}
