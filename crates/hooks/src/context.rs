//! What a hook may know of the turn it takes part in.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The turn as hooks see it. Everything that does not apply is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HookContext {
    /// The workspace.
    pub workspace_id: Option<String>,
    /// The thread the turn runs on.
    pub thread_id: Option<String>,
    /// The conversation a delegated thread works for.
    pub conversation_thread_id: Option<String>,
    /// Where in the tree the turn belongs, for a thread that is not stored yet.
    pub place: Option<TreePlace>,
    /// The turn.
    pub turn_id: Option<String>,
    /// The task.
    pub task_id: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
    /// `chat`, `agent`, `task`, `system` or a word of the caller's own.
    pub mode: Option<String>,
    /// Where the thread comes from.
    pub origin_kind: Option<String>,
    /// The provider of the turn.
    pub model_provider: Option<String>,
    /// Who caused the turn.
    pub actor: Option<Actor>,
    /// Unix seconds.
    pub now_unix: i64,
    /// Switches that are on.
    pub feature_flags: BTreeSet<String>,
    /// Anything else.
    pub metadata: BTreeMap<String, String>,
}

/// A place in the thread tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreePlace {
    /// The folder; none for the root.
    pub folder_id: Option<String>,
}

/// Who caused something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Actor {
    /// What the actor is.
    pub kind: String,
    /// Which one.
    pub id: Option<String>,
}

impl HookContext {
    /// The thread whose instructions apply: the conversation a delegated thread works for, else its own.
    pub fn effective_thread_id(&self) -> Option<&str> {
        self.conversation_thread_id
            .as_deref()
            .or(self.thread_id.as_deref())
    }

    /// Where a run of this context belongs: the first that is there of turn, task, thread, workspace, agent.
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
