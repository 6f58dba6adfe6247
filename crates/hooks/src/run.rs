//! What is remembered of a run, and what a phase answers.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{Contribution, HookContext, HookError, Phase, Severity};

/// A remark. Messages that are not safe for users never leave the runtime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// What kind of remark.
    pub code: String,
    /// The remark.
    pub message: String,
    /// How bad it is.
    pub severity: Severity,
    /// Whether users may read the message.
    pub safe_for_user: bool,
    /// Particulars, for the log alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

/// What a phase brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseOutcome {
    /// In the order the subscriptions ran: layer by layer, in each by priority and id.
    pub contributions: Vec<Contributed>,
    /// Remarks that may leave the runtime, each with the subscription it is about.
    pub diagnostics: Vec<(String, Diagnostic)>,
    /// Every run, the queued ones included.
    pub runs: Vec<RunRecord>,
}

/// A contribution and who brought it.
#[derive(Clone, Debug, PartialEq)]
pub struct Contributed {
    /// The handler.
    pub hook_id: String,
    /// The subscription.
    pub subscription_id: String,
    /// The phase.
    pub phase: Phase,
    /// [`Contribution::hash`].
    pub hash: String,
    /// What was brought.
    pub contribution: Contribution,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It waits.
    Queued,
    /// It is under way.
    Running,
    /// It ended well.
    Succeeded,
    /// It ended badly.
    Failed,
    /// It took too long.
    TimedOut,
    /// It did not get its turn, because the phase failed before.
    Skipped,
}

/// Everything that is remembered of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// The run, `hkr_…`.
    pub id: String,
    /// The subscription.
    pub subscription_id: String,
    /// The handler.
    pub hook_id: String,
    /// The version of the handler's contract.
    pub contract_version: u32,
    /// The phase.
    pub phase: Phase,
    /// Where it stands.
    pub status: RunStatus,
    /// The turn it took part in.
    pub context: HookContext,
    /// Runs with the same key are the same work.
    pub idempotency_key: String,
    /// The tries, oldest first.
    pub attempts: Vec<Attempt>,
    /// The hashes of what was brought.
    pub contribution_hashes: Vec<String>,
    /// Remarks that may leave the runtime.
    pub diagnostics: Vec<Diagnostic>,
    /// Why it failed, or why its last try did; the message is one that may leave the runtime.
    pub error: Option<HookError>,
    /// Whether the phase did not wait for it, so that it goes on after a restart.
    pub is_background: bool,
    /// What earlier phases brought. A background run needs it to go on after a restart; empty for the others.
    pub earlier: Arc<Vec<Contribution>>,
    /// Unix milliseconds.
    pub queued_at_ms: i64,
    /// Unix milliseconds.
    pub started_at_ms: Option<i64>,
    /// When it counts as timed out. Unix milliseconds.
    pub deadline_at_ms: Option<i64>,
    /// Unix milliseconds.
    pub completed_at_ms: Option<i64>,
}

/// One try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// How it ended; `running` while it is under way.
    pub status: RunStatus,
    /// Unix milliseconds.
    pub started_at_ms: i64,
    /// How long it took.
    pub duration_ms: i64,
}

/// Remembers runs. The gateway implements it on its database; failing to remember never fails a hook.
pub trait RunStore: Send + Sync + 'static {
    /// Inserts the run or replaces what is remembered of it.
    fn save(
        &self,
        run: RunRecord,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + '_>>;

    /// Background runs that were queued, or are running since before `stale_before_ms`: at most `limit`, oldest first.
    fn unfinished(
        &self,
        stale_before_ms: i64,
        limit: usize,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<RunRecord>, StoreError>> + Send + '_>>;
}

/// Why a run cannot be remembered.
#[derive(Clone, Debug, thiserror::Error)]
#[error("hook runs cannot be stored: {0}")]
pub struct StoreError(pub String);
