//! `run.yaml`: one execution of an agent.

use std::collections::BTreeMap;

use protocol::company::{Budget, IsoTime, Issue, RunStatus, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Document, tags};

tags! { RunTag = "run"; }

/// One execution of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Version of the format: 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `run`.
    pub r#type: RunTag,
    /// Id of the run.
    pub id: Text,
    /// Project of the run.
    pub project_id: Text,
    /// The executing agent.
    pub agent_id: Text,
    /// Provider of the run: `cmd`, `codex`, `claude`, ….
    pub provider: Text,
    /// Creation time.
    pub created_at: IsoTime,
    /// Status of the run.
    pub status: RunStatus,
    /// Id of the context pack of the run.
    pub context_pack_id: Text,
    /// Path of the event log, relative to the folder of the project.
    pub events_relpath: Text,
    /// End time; absent while the run has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<IsoTime>,
    /// Tokens and cost; absent if they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Context renewals; absent if they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_cycles: Option<ContextCycles>,
    /// The started command or turn; absent if nothing was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<RunSpec>,
    /// End of the event log of a finished run, to detect a truncated log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events_tail: Option<EventsTail>,
    /// Goal of the run; absent if it was created without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Text>,
    /// Members of other programs, which are preserved.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Document for Run {
    fn refine(&self) -> Vec<Issue> {
        let budget = self.spec.as_ref().and_then(RunSpec::budget);
        budget
            .iter()
            .flat_map(|budget| budget.refine("spec.budget"))
            .collect()
    }
}

/// Number of events of a finished run and the hash of the last one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsTail {
    /// Number of lines in the log.
    pub count: u64,
    /// Hash of the last event.
    pub event_hash: Text,
}

/// Tokens and cost of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Source of the token counts.
    pub source: UsageSource,
    /// Reliability of the token counts.
    pub confidence: Confidence,
    /// Estimation method; absent for reported counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_method: Option<Text>,
    /// Provider of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Text>,
    /// Input tokens; absent if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Input tokens read from a cache; absent if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Output tokens; absent if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Reasoning tokens of the output; absent if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_output_tokens: Option<u64>,
    /// Total number of tokens.
    pub total_tokens: u64,
    /// Type of the event that contained the counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_from_event_type: Option<Text>,
    /// Cost in US dollars; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cost_usd: Option<f64>,
    /// Currency of the cost: `USD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_currency: Option<Currency>,
    /// Source of the price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_source: Option<CostSource>,
    /// Provider whose rate card was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_rate_card_provider: Option<Text>,
}

/// Source of token counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// Reported by the provider.
    ProviderReported,
    /// Estimated from the number of characters.
    EstimatedChars,
}

/// Reliability of token counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Counted.
    High,
    /// Estimated.
    Low,
}

/// Currency of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Currency {
    /// US dollars.
    #[serde(rename = "USD")]
    Usd,
}

/// Source of a price.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// The rate card in the machine configuration.
    ProviderRateCard,
    /// The machine configuration has no rate card for the provider.
    NoRateCard,
}

/// Number of context renewals of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextCycles {
    /// Number of renewals.
    pub count: u64,
    /// Source of the number.
    pub source: CycleSource,
    /// Types of the signals that were counted; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal_types: Option<Vec<Text>>,
}

/// Source of the number of context renewals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CycleSource {
    /// Signals of the provider.
    ProviderSignal,
    /// The provider gives no such signals.
    Unavailable,
}

/// The command or turn that a run started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RunSpec {
    /// A command.
    Command {
        /// The program and its arguments.
        #[schemars(length(min = 1))]
        argv: Vec<String>,
        /// Repository to run in; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repo_id: Option<Text>,
        /// Working folder, relative to the repository; absent for its root.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workdir_rel: Option<Text>,
        /// Task of the run; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<Text>,
        /// Milestone of the run; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        milestone_id: Option<Text>,
        /// Path of the worktree of the run, relative to the company folder; absent if it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree_relpath: Option<Text>,
        /// Branch of the worktree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree_branch: Option<Text>,
        /// Budget of the run; absent if it is not limited.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<Budget>,
        /// Environment variables that were set; the values are stored as `[set]`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        env: Option<BTreeMap<String, String>>,
        /// Path of the file that was used as standard input; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdin_relpath: Option<Text>,
    },
    /// A turn of the Codex app server.
    CodexAppServer {
        /// Path of the prompt.
        prompt_relpath: Text,
        /// Requested model; absent for the default of the app server.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<Text>,
        /// Repository to run in; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repo_id: Option<Text>,
        /// Working folder, relative to the repository; absent for its root.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workdir_rel: Option<Text>,
        /// Task of the run; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<Text>,
        /// Milestone of the run; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        milestone_id: Option<Text>,
        /// Path of the worktree of the run, relative to the company folder; absent if it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree_relpath: Option<Text>,
        /// Branch of the worktree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree_branch: Option<Text>,
        /// Budget of the run; absent if it is not limited.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<Budget>,
        /// The thread of the app server.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread_id: Option<Text>,
        /// The turn on that thread.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<Text>,
    },
}

impl RunSpec {
    /// Budget of the run; absent if it is not limited.
    pub fn budget(&self) -> Option<&Budget> {
        let (Self::Command { budget, .. } | Self::CodexAppServer { budget, .. }) = self;
        budget.as_ref()
    }

    /// Task of the run; absent if there is none.
    pub fn task_id(&self) -> Option<&str> {
        let (Self::Command { task_id, .. } | Self::CodexAppServer { task_id, .. }) = self;
        task_id.as_deref()
    }

    /// Repository to run in; absent if there is none.
    pub fn repo_id(&self) -> Option<&str> {
        let (Self::Command { repo_id, .. } | Self::CodexAppServer { repo_id, .. }) = self;
        repo_id.as_deref()
    }

    /// Branch of the worktree of the run.
    pub fn worktree_branch(&self) -> Option<&str> {
        let (Self::Command {
            worktree_branch, ..
        }
        | Self::CodexAppServer {
            worktree_branch, ..
        }) = self;
        worktree_branch.as_deref()
    }

    /// Path of the worktree of the run, relative to the company folder.
    pub fn worktree_relpath(&self) -> Option<&str> {
        let (Self::Command {
            worktree_relpath, ..
        }
        | Self::CodexAppServer {
            worktree_relpath, ..
        }) = self;
        worktree_relpath.as_deref()
    }
}
