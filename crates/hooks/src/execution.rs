//! One hook run: calls the handler, validates its response, retries and records the result.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, timeout_at},
};

use crate::{
    Attempt, AwaitPolicy, Backoff, Capability, Contributed, Contribution, Diagnostic,
    FailurePolicy, HookContext, HookError, HookRequest, HookResponse, RunRecord, RunStatus,
    RuntimeOptions, Severity, idempotency, redaction, registry::RegisteredHook, runtime::Clock,
};

/// A run that has not ended.
#[derive(Clone)]
pub(crate) struct Execution {
    pub(crate) entry: Arc<RegisteredHook>,
    pub(crate) record: RunRecord,
    pub(crate) earlier: Arc<Vec<Contribution>>,
}

/// A run that has ended.
pub(crate) struct EndedExecution {
    pub(crate) record: RunRecord,
    pub(crate) contributions: Vec<Contributed>,
    /// The unredacted error of the hook. `None` if the run succeeded.
    pub(crate) error: Option<HookError>,
}

/// The reason why an attempt failed.
pub(crate) struct AttemptFailure {
    /// `failed` or `timed_out`.
    status: RunStatus,
    error: HookError,
}

impl Execution {
    /// Creates a queued run.
    pub(crate) fn new(
        entry: Arc<RegisteredHook>,
        id: String,
        context: HookContext,
        earlier: Arc<Vec<Contribution>>,
        now_ms: i64,
    ) -> Self {
        let subscription = &entry.subscription;
        let is_background = is_background(subscription.execution_policy.await_policy);
        let record = RunRecord {
            id,
            subscription_id: subscription.subscription_id.clone(),
            hook_id: subscription.hook_id.clone(),
            contract_version: entry.handler.contract_version(),
            phase: subscription.phase,
            status: RunStatus::Queued,
            idempotency_key: idempotency::key(subscription.phase, subscription, &context, &earlier),
            context,
            attempts: Vec::new(),
            contribution_hashes: Vec::new(),
            diagnostics: Vec::new(),
            error: None,
            is_background,
            earlier: if is_background {
                Arc::clone(&earlier)
            } else {
                Arc::default()
            },
            queued_at_ms: now_ms,
            started_at_ms: None,
            deadline_at_ms: None,
            completed_at_ms: None,
        };
        Self {
            entry,
            record,
            earlier,
        }
    }

    /// Executes a run that the phase waits for.
    pub(crate) async fn run(mut self, options: &RuntimeOptions, clock: &Clock) -> EndedExecution {
        let policy = self.entry.subscription.execution_policy;
        let limit = match policy.await_policy {
            AwaitPolicy::Blocking => options.blocking_ceiling,
            AwaitPolicy::Deadline | AwaitPolicy::Background | AwaitPolicy::FireAndRecord => {
                self.try_limit(options)
            }
        };
        let deadline = after(limit);
        self.start(clock(), limit);

        // The wait for a permit counts against the time limit.
        let Ok(permit) = timeout_at(deadline, permit(&self.entry)).await else {
            let failure = timed_out(&self.entry, limit);
            return self.end(Err(failure), clock());
        };
        let result = loop {
            self.begin_attempt(clock());
            let result = self.attempt(deadline, limit).await;
            self.end_attempt(&result, clock());
            let Err(failure) = &result else {
                break result;
            };
            let pause = self.pause();
            if policy.await_policy != AwaitPolicy::Deadline
                || !self.may_retry(failure)
                || deadline.saturating_duration_since(Instant::now()) <= pause
            {
                break result;
            }
            tokio::time::sleep(pause).await;
        };
        drop(permit);
        self.end(result, clock())
    }

    /// Marks the run as skipped because the phase failed before.
    pub(crate) fn skip(mut self, now_ms: i64) -> RunRecord {
        self.record.status = RunStatus::Skipped;
        self.record.completed_at_ms = Some(now_ms);
        self.record
    }

    /// Returns the time limit of one background attempt, or of all attempts of a run with a deadline.
    pub(crate) fn try_limit(&self, options: &RuntimeOptions) -> Duration {
        self.entry
            .subscription
            .execution_policy
            .timeout_ms
            .map_or(options.default_deadline, Duration::from_millis)
    }

    /// Records that the run is running, and its deadline.
    pub(crate) fn start(&mut self, now_ms: i64, limit: Duration) {
        self.record.status = RunStatus::Running;
        self.record.started_at_ms.get_or_insert(now_ms);
        let limit_ms = i64::try_from(limit.as_millis()).unwrap_or(i64::MAX);
        self.record.deadline_at_ms = Some(now_ms.saturating_add(limit_ms));
    }

    /// Records the start of an attempt.
    pub(crate) fn begin_attempt(&mut self, now_ms: i64) {
        self.record.attempts.push(Attempt {
            number: self.attempt_count() + 1,
            status: RunStatus::Running,
            started_at_ms: now_ms,
            duration_ms: 0,
        });
    }

    /// Calls the handler once and validates its response.
    pub(crate) async fn attempt(
        &self,
        deadline: Instant,
        limit: Duration,
    ) -> Result<HookResponse, AttemptFailure> {
        let request = HookRequest {
            phase: self.record.phase,
            context: self.record.context.clone(),
            attempt: self.attempt_count(),
            earlier: Arc::clone(&self.earlier),
        };
        let handler = &self.entry.handler;
        // The handler is called inside the future, so that a panic before its first await is caught as well.
        let answer = AssertUnwindSafe(async { handler.execute(request).await }).catch_unwind();
        let response = match timeout_at(deadline, answer).await {
            Err(_) => return Err(timed_out(&self.entry, limit)),
            Ok(Err(_)) => return Err(failed(panicked(&self.record.hook_id))),
            Ok(Ok(Err(error))) => return Err(failed(error)),
            Ok(Ok(Ok(response))) => response,
        };
        self.check_allowed(&response.contributions)
            .map_err(failed)?;
        Ok(response)
    }

    /// Records the result of an attempt.
    pub(crate) fn end_attempt(
        &mut self,
        result: &Result<HookResponse, AttemptFailure>,
        now_ms: i64,
    ) {
        let status = match result {
            Ok(_) => RunStatus::Succeeded,
            Err(failure) => failure.status,
        };
        if let Some(attempt) = self.record.attempts.last_mut() {
            attempt.status = status;
            attempt.duration_ms = now_ms.saturating_sub(attempt.started_at_ms).max(0);
        }
        self.record.error = None;
        if let Err(failure) = result {
            tracing::warn!(
                hook_id = self.record.hook_id,
                subscription_id = self.record.subscription_id,
                run_id = self.record.id,
                code = failure.error.code,
                error = %failure.error,
                "hook failed"
            );
            self.record.error = Some(redaction::error(failure.error.clone()));
        }
    }

    /// Returns whether another attempt is allowed: the failure is retryable, attempts are left and the hook is
    /// idempotent where required.
    pub(crate) fn may_retry(&self, failure: &AttemptFailure) -> bool {
        let subscription = &self.entry.subscription;
        let policy = subscription.retry_policy;
        let could_help = failure.status == RunStatus::TimedOut || failure.error.retryable;
        let is_idempotent = || {
            let capabilities = self.entry.handler.capabilities();
            capabilities.contains(&Capability::IdempotentSideEffect)
                || subscription
                    .metadata
                    .get("idempotent")
                    .is_some_and(|value| value == "true")
        };
        self.attempt_count() < policy.max_attempts
            && could_help
            && (!policy.idempotency_required || is_idempotent())
    }

    /// Returns the delay before the next attempt.
    pub(crate) fn pause(&self) -> Duration {
        let policy = self.entry.subscription.retry_policy;
        let initial = Duration::from_millis(policy.initial_delay_ms.unwrap_or(0));
        match policy.backoff {
            Backoff::None => Duration::ZERO,
            Backoff::Fixed => initial,
            Backoff::Exponential => {
                let doublings = self.attempt_count().saturating_sub(1);
                let factor = 2_u32.saturating_pow(doublings);
                initial.saturating_mul(factor).min(MAX_BACKOFF)
            }
        }
    }

    /// Records the final result. On failure, applies the failure policy of the subscription.
    pub(crate) fn end(
        mut self,
        result: Result<HookResponse, AttemptFailure>,
        now_ms: i64,
    ) -> EndedExecution {
        let subscription = &self.entry.subscription;
        let mut contributions = Vec::new();
        let mut diagnostics = Vec::new();
        let mut own_error = None;
        match result {
            Ok(response) => {
                self.record.status = RunStatus::Succeeded;
                self.record.error = None;
                contributions = response.contributions;
                diagnostics = response.diagnostics;
            }
            Err(AttemptFailure { status, error }) => {
                self.record.status = status;
                self.record.error = Some(redaction::error(error.clone()));
                match subscription.failure_policy {
                    FailurePolicy::BestEffort => diagnostics.push(best_effort_failed(&error)),
                    // The phase does not wait for a background run, so its fallback would have no recipient.
                    FailurePolicy::Fallback if !self.record.is_background => {
                        contributions.clone_from(&subscription.fallback_contributions);
                    }
                    FailurePolicy::Fallback
                    | FailurePolicy::Required
                    | FailurePolicy::FailClosed
                    | FailurePolicy::Skip => {}
                }
                own_error = Some(error);
            }
        }
        self.record.completed_at_ms = Some(now_ms);
        let contributions: Vec<_> = contributions
            .into_iter()
            .map(|contribution| self.contributed(contribution))
            .collect();
        self.record.contribution_hashes = contributions.iter().map(|it| it.hash.clone()).collect();
        self.record.diagnostics = diagnostics
            .into_iter()
            .map(|diagnostic| {
                tracing::debug!(run_id = self.record.id, ?diagnostic, "hook remark");
                redaction::diagnostic(diagnostic)
            })
            .collect();
        EndedExecution {
            record: self.record,
            contributions,
            error: own_error,
        }
    }

    /// Checks that the handler may make these contributions.
    fn check_allowed(&self, contributions: &[Contribution]) -> Result<(), HookError> {
        let capabilities = self.entry.handler.capabilities();
        for contribution in contributions {
            if let Some(needed) = contribution.needs()
                && !capabilities.contains(&needed)
            {
                return Err(HookError {
                    code: "hook.capability_missing".to_owned(),
                    message: format!(
                        "hook `{}` made a contribution without the required capability {needed:?}",
                        self.record.hook_id
                    ),
                    retryable: false,
                    safe_for_user: true,
                });
            }
            if self.record.is_background && !allowed_in_background(contribution) {
                return Err(HookError {
                    code: "hook.background_contribution_not_allowed".to_owned(),
                    message: format!(
                        "background hook `{}` made a contribution that only a waiting phase can use",
                        self.record.hook_id
                    ),
                    retryable: false,
                    safe_for_user: true,
                });
            }
        }
        Ok(())
    }

    fn contributed(&self, contribution: Contribution) -> Contributed {
        let contribution = redaction::contribution(contribution);
        Contributed {
            hook_id: self.record.hook_id.clone(),
            subscription_id: self.record.subscription_id.clone(),
            phase: self.record.phase,
            hash: contribution.hash(),
            contribution,
        }
    }

    fn attempt_count(&self) -> u32 {
        u32::try_from(self.record.attempts.len()).unwrap_or(u32::MAX)
    }
}

impl AttemptFailure {
    /// The turn was cancelled while the hook was running.
    pub(crate) fn abandoned(hook_id: &str) -> Self {
        failed(HookError {
            code: "hook.abandoned".to_owned(),
            message: format!("the turn did not wait for hook `{hook_id}`"),
            retryable: false,
            safe_for_user: true,
        })
    }

    /// An attempt of a process that has ended. Its progress is unknown, so it counts as a timeout.
    pub(crate) fn interrupted(hook_id: &str) -> Self {
        Self {
            status: RunStatus::TimedOut,
            error: HookError {
                code: "hook.interrupted".to_owned(),
                message: format!("hook `{hook_id}` was interrupted"),
                retryable: true,
                safe_for_user: true,
            },
        }
    }
}

/// Upper limit of exponential backoff. Longer delays would exceed the lifetime of most gateway processes.
const MAX_BACKOFF: Duration = Duration::from_secs(600);

/// A practically unlimited time. Adding more to an `Instant` could overflow.
const NO_LIMIT: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Returns the instant at which the limit is reached.
pub(crate) fn after(limit: Duration) -> Instant {
    Instant::now() + limit.min(NO_LIMIT)
}

/// Returns whether the phase continues without waiting for the run.
pub(crate) fn is_background(policy: AwaitPolicy) -> bool {
    match policy {
        AwaitPolicy::Blocking | AwaitPolicy::Deadline => false,
        AwaitPolicy::Background | AwaitPolicy::FireAndRecord => true,
    }
}

/// Waits until the parallelism limit of the subscription admits another run.
pub(crate) async fn permit(entry: &RegisteredHook) -> Option<OwnedSemaphorePermit> {
    match &entry.permits {
        // The semaphore is never closed, so `acquire_owned` cannot fail.
        Some(permits) => Arc::clone(permits).acquire_owned().await.ok(),
        None => None,
    }
}

fn allowed_in_background(contribution: &Contribution) -> bool {
    match contribution {
        Contribution::Audit { .. } | Contribution::BackgroundJob { .. } | Contribution::Noop => {
            true
        }
        Contribution::Policy { .. }
        | Contribution::PromptContext { .. }
        | Contribution::PromptSection(_)
        | Contribution::ToolBundle { .. }
        | Contribution::PromptManifestDiagnostic { .. } => false,
    }
}

fn failed(error: HookError) -> AttemptFailure {
    AttemptFailure {
        status: RunStatus::Failed,
        error,
    }
}

fn timed_out(entry: &RegisteredHook, limit: Duration) -> AttemptFailure {
    AttemptFailure {
        status: RunStatus::TimedOut,
        error: HookError {
            code: "hook.timed_out".to_owned(),
            message: format!(
                "hook `{}` did not answer within {} ms",
                entry.subscription.hook_id,
                limit.as_millis()
            ),
            retryable: true,
            safe_for_user: true,
        },
    }
}

fn panicked(hook_id: &str) -> HookError {
    HookError {
        code: "hook.panicked".to_owned(),
        message: format!("hook `{hook_id}` panicked"),
        retryable: false,
        safe_for_user: true,
    }
}

fn best_effort_failed(error: &HookError) -> Diagnostic {
    Diagnostic {
        code: "hook.best_effort_failed".to_owned(),
        message: error.message.clone(),
        severity: Severity::Warning,
        safe_for_user: error.safe_for_user,
        metadata: [("error_code".to_owned(), error.code.clone())].into(),
    }
}
