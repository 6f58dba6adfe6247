//! The context of a turn that is passed to hooks.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The turn as hooks see it. Fields that do not apply are `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HookContext {
    /// The workspace of the turn.
    pub workspace_id: Option<String>,
    /// The thread the turn runs on.
    pub thread_id: Option<String>,
    /// The conversation a delegated thread works for.
    pub conversation_thread_id: Option<String>,
    /// The position in the thread tree. Set only for a thread that is not stored yet.
    pub place: Option<TreePlace>,
    /// The id of the turn.
    pub turn_id: Option<String>,
    /// The task the turn works on.
    pub task_id: Option<String>,
    /// The agent that runs the turn.
    pub agent_id: Option<String>,
    /// `chat`, `agent`, `task`, `system` or a caller-defined value.
    pub mode: Option<String>,
    /// The origin of the thread.
    pub origin_kind: Option<String>,
    /// The model provider of the turn.
    pub model_provider: Option<String>,
    /// The actor that started the turn.
    pub actor: Option<Actor>,
    /// The time of the turn, in unix seconds.
    pub now_unix: i64,
    /// The feature flags that are enabled.
    pub feature_flags: BTreeSet<String>,
    /// Additional values of the caller.
    pub metadata: BTreeMap<String, String>,
}

/// A position in the thread tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreePlace {
    /// The folder. `None` for the root.
    pub folder_id: Option<String>,
}

/// The actor that started a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Actor {
    /// The kind of actor.
    pub kind: String,
    /// The id of the actor. `None` if its kind has no ids.
    pub id: Option<String>,
}

impl HookContext {
    /// Returns the thread whose instructions apply: the conversation a delegated thread works for, otherwise the thread
    /// itself.
    pub fn effective_thread_id(&self) -> Option<&str> {
        self.conversation_thread_id
            .as_deref()
            .or(self.thread_id.as_deref())
    }

    /// Returns kind and id of the scope of a run: the first one present of turn, task, thread, workspace, agent.
    pub fn scope(&self) -> Option<(&'static str, &str)> {
        let candidates = [
            ("turn", &self.turn_id),
            ("task", &self.task_id),
            ("thread", &self.thread_id),
            ("workspace", &self.workspace_id),
            ("agent", &self.agent_id),
        ];
        candidates
            .into_iter()
            .find_map(|(kind, id)| id.as_deref().map(|id| (kind, id)))
    }
}
