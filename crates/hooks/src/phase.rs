//! The phases of a turn in which hooks run.

use serde::{Deserialize, Serialize};

/// A phase of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    /// First, once per turn.
    #[serde(rename = "turn.pre_policy")]
    TurnPrePolicy,
    /// Before context is gathered.
    #[serde(rename = "turn.pre_prompt_context")]
    TurnPrePromptContext,
    /// Before the tool list is fixed.
    #[serde(rename = "turn.pre_tool_materialization")]
    TurnPreToolMaterialization,
    /// Before the system prompt is compiled.
    #[serde(rename = "turn.pre_prompt_compile")]
    TurnPrePromptCompile,
    /// After the system prompt was compiled.
    #[serde(rename = "turn.post_prompt_compile")]
    TurnPostPromptCompile,
    /// After the turn ended.
    #[serde(rename = "turn.post_turn")]
    TurnPostTurn,
    /// Before history is summarised.
    #[serde(rename = "turn.pre_compaction")]
    TurnPreCompaction,
}

impl Phase {
    /// All phases in the order of a turn.
    pub const ALL: [Self; 7] = [
        Self::TurnPrePolicy,
        Self::TurnPrePromptContext,
        Self::TurnPreToolMaterialization,
        Self::TurnPrePromptCompile,
        Self::TurnPostPromptCompile,
        Self::TurnPostTurn,
        Self::TurnPreCompaction,
    ];

    /// Returns the dotted name, used everywhere except in prompt manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TurnPrePolicy => "turn.pre_policy",
            Self::TurnPrePromptContext => "turn.pre_prompt_context",
            Self::TurnPreToolMaterialization => "turn.pre_tool_materialization",
            Self::TurnPrePromptCompile => "turn.pre_prompt_compile",
            Self::TurnPostPromptCompile => "turn.post_prompt_compile",
            Self::TurnPostTurn => "turn.post_turn",
            Self::TurnPreCompaction => "turn.pre_compaction",
        }
    }

    /// Returns the name used in prompt manifests, with an underscore instead of the dot.
    pub fn manifest_name(self) -> String {
        self.as_str().replace('.', "_")
    }
}
