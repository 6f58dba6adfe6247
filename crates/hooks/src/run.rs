//! Run records and their store, and the result of a phase.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{Contribution, HookContext, HookError, Phase, Severity};

/// A diagnostic of a hook. Messages that are not safe for users never leave the runtime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// A stable code of the diagnostic.
    pub code: String,
    /// The text of the diagnostic.
    pub message: String,
    /// Its severity.
    pub severity: Severity,
    /// Whether users may read the message.
    pub safe_for_user: bool,
    /// Details for the log; removed before the diagnostic leaves the runtime.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

/// The result of a successful phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseOutcome {
    /// The contributions, ordered by layer, priority and subscription id.
    pub contributions: Vec<Contributed>,
    /// The redacted diagnostics, each with the id of its subscription.
    pub diagnostics: Vec<(String, Diagnostic)>,
    /// All runs, including queued background runs.
    pub runs: Vec<RunRecord>,
}

/// A contribution with its origin.
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
    /// The contribution, redacted.
    pub contribution: Contribution,
}

/// The status of a run or of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Waiting to start or to be retried.
    Queued,
    /// An attempt is running.
    Running,
    /// The handler returned a valid response.
    Succeeded,
    /// The handler failed, panicked or returned a contribution it may not make.
    Failed,
    /// The time limit was exceeded.
    TimedOut,
    /// Not executed, because the phase failed before.
    Skipped,
}

/// The stored record of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// The id of the run, `hkr_…`.
    pub id: String,
    /// The subscription.
    pub subscription_id: String,
    /// The handler.
    pub hook_id: String,
    /// The contract version of the handler.
    pub contract_version: u32,
    /// The phase.
    pub phase: Phase,
    /// The current status.
    pub status: RunStatus,
    /// The context of the turn.
    pub context: HookContext,
    /// Identifies the work: runs with the same key do the same.
    pub idempotency_key: String,
    /// The attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// The hashes of the contributions.
    pub contribution_hashes: Vec<String>,
    /// The redacted diagnostics.
    pub diagnostics: Vec<Diagnostic>,
    /// The error of the run or of its last attempt, redacted. `None` if it has not failed.
    pub error: Option<HookError>,
    /// Whether the run is independent of its phase and is resumed after a restart.
    pub is_background: bool,
    /// Contributions of earlier phases, which a background run needs when it is resumed. Empty for other runs.
    pub earlier: Arc<Vec<Contribution>>,
    /// Time of creation, in unix milliseconds.
    pub queued_at_ms: i64,
    /// Start of the first attempt, in unix milliseconds. `None` while the run is queued.
    pub started_at_ms: Option<i64>,
    /// Time at which the run or its current attempt times out, in unix milliseconds. `None` before the first start.
    pub deadline_at_ms: Option<i64>,
    /// End of the run, in unix milliseconds. `None` until it ends.
    pub completed_at_ms: Option<i64>,
}

/// One attempt of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Number of the attempt, starting at 1.
    pub number: u32,
    /// The result; `running` until the attempt ends.
    pub status: RunStatus,
    /// Start of the attempt, in unix milliseconds.
    pub started_at_ms: i64,
    /// Duration in milliseconds; 0 until the attempt ends.
    pub duration_ms: i64,
}

/// Stores run records. The gateway implements it on its database; a failing store never fails a hook.
pub trait RunStore: Send + Sync + 'static {
    /// Inserts the run or replaces its record.
    fn save(
        &self,
        run: RunRecord,
    ) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + '_>>;

    /// Returns background runs that are queued, or running since before `stale_before_ms`: at most `limit`, oldest
    /// first.
    fn unfinished(
        &self,
        stale_before_ms: i64,
        limit: usize,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<RunRecord>, StoreError>> + Send + '_>>;
}

/// The error of a run store, with its text.
#[derive(Clone, Debug, thiserror::Error)]
#[error("hook runs cannot be stored: {0}")]
pub struct StoreError(pub String);
