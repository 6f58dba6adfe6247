//! `run.yaml`.

use std::collections::BTreeMap;

use protocol::company::{Budget, IsoTime, Issue, RunStatus, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Document, tags};

tags! { RunTag = "run"; }

/// One execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// 1.
    #[schemars(range(min = 1))]
    pub schema_version: u32,
    /// `run`.
    pub r#type: RunTag,
    /// Its id.
    pub id: Text,
    /// Its project.
    pub project_id: Text,
    /// The agent that runs.
    pub agent_id: Text,
    /// What runs it: `cmd`, `codex`, `claude`, ….
    pub provider: Text,
    /// When it was made.
    pub created_at: IsoTime,
    /// Where it stands.
    pub status: RunStatus,
    /// What it was given to know.
    pub context_pack_id: Text,
    /// Its events, below the project's folder.
    pub events_relpath: Text,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<IsoTime>,
    /// What it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How often its context was renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_cycles: Option<ContextCycles>,
    /// What was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<RunSpec>,
    /// Where its events ended, so that a log that was cut off can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events_tail: Option<EventsTail>,
    /// What the run is for, if it was made with a goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Text>,
    /// What other programs keep here; it stays.
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

/// How many events a finished run has, and the hash of the last one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventsTail {
    /// How many.
    pub count: u64,
    /// The hash of the last one.
    pub event_hash: Text,
}

/// What a run used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Who counted.
    pub source: UsageSource,
    /// How sure it is.
    pub confidence: Confidence,
    /// How it was estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate_method: Option<Text>,
    /// Who ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Text>,
    /// Tokens in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens in, from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Tokens out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens out that nobody sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_output_tokens: Option<u64>,
    /// All of them.
    pub total_tokens: u64,
    /// The event the numbers come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_from_event_type: Option<Text>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cost_usd: Option<f64>,
    /// `USD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_currency: Option<Currency>,
    /// Where the price comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_source: Option<CostSource>,
    /// Whose rate card it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_rate_card_provider: Option<Text>,
}

/// Who counted the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The provider.
    ProviderReported,
    /// We did, from characters.
    EstimatedChars,
}

/// How sure a number is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Counted.
    High,
    /// Estimated.
    Low,
}

/// What a cost is in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Currency {
    /// US dollars.
    #[serde(rename = "USD")]
    Usd,
}

/// Where a price comes from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// The machine's rate card.
    ProviderRateCard,
    /// There was none.
    NoRateCard,
}

/// How often the context of a run was renewed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextCycles {
    /// How often.
    pub count: u64,
    /// How we know.
    pub source: CycleSource,
    /// What told us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal_types: Option<Vec<Text>>,
}

/// How we know of renewed contexts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CycleSource {
    /// The provider said so.
    ProviderSignal,
    /// We do not.
    Unavailable,
}

/// What was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RunSpec {
    /// A command.
    Command {
        /// The program and its arguments.
        #[schemars(length(min = 1))]
        argv: Vec<String>,
        /// The repository it runs in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repo_id: Option<Text>,
        /// The folder below the repository.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workdir_rel: Option<Text>,
        /// The task it works on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<Text>,
        /// The milestone it works on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        milestone_id: Option<Text>,
        /// Its own copy of the repository.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree_relpath: Option<Text>,
        /// The branch of that copy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree_branch: Option<Text>,
        /// What it may cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<Budget>,
        /// The variables it was given; values are kept as `[set]`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        env: Option<BTreeMap<String, String>>,
        /// What it read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdin_relpath: Option<Text>,
    },
    /// A turn of the Codex app server.
    CodexAppServer {
        /// What it was asked.
        prompt_relpath: Text,
        /// The model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<Text>,
        /// The repository it runs in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repo_id: Option<Text>,
        /// The folder below the repository.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workdir_rel: Option<Text>,
        /// The task it works on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<Text>,
        /// The milestone it works on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        milestone_id: Option<Text>,
        /// Its own copy of the repository.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree_relpath: Option<Text>,
        /// The branch of that copy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree_branch: Option<Text>,
        /// What it may cost.
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
    /// What it may cost.
    pub fn budget(&self) -> Option<&Budget> {
        let (Self::Command { budget, .. } | Self::CodexAppServer { budget, .. }) = self;
        budget.as_ref()
    }

    /// The task it works on.
    pub fn task_id(&self) -> Option<&str> {
        let (Self::Command { task_id, .. } | Self::CodexAppServer { task_id, .. }) = self;
        task_id.as_deref()
    }

    /// The repository it runs in.
    pub fn repo_id(&self) -> Option<&str> {
        let (Self::Command { repo_id, .. } | Self::CodexAppServer { repo_id, .. }) = self;
        repo_id.as_deref()
    }

    /// The branch of its copy of the repository.
    pub fn worktree_branch(&self) -> Option<&str> {
        let (Self::Command {
            worktree_branch, ..
        }
        | Self::CodexAppServer {
            worktree_branch, ..
        }) = self;
        worktree_branch.as_deref()
    }

    /// Its own copy of the repository, below the company folder.
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
