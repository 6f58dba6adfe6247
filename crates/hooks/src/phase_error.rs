//! The error of a failed phase.

use crate::{HookError, Phase, redaction::REDACTED_ERROR};

/// The error of a failed phase. Its `Display` text is safe for users; the `error` of a hook is for programs and the
/// log.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PhaseError {
    /// A hook with [`FailurePolicy::Required`](crate::FailurePolicy::Required) failed.
    #[error("{}", public_message(error))]
    Required {
        /// The handler.
        hook_id: String,
        /// The subscription.
        subscription_id: String,
        /// The error of the hook, unredacted.
        error: HookError,
    },
    /// A hook with [`FailurePolicy::FailClosed`](crate::FailurePolicy::FailClosed) failed; the turn stops.
    #[error("{}", public_message(error))]
    FailClosed {
        /// The handler.
        hook_id: String,
        /// The subscription.
        subscription_id: String,
        /// The error of the hook, unredacted.
        error: HookError,
    },
    /// A subscription depends on one that the phase does not have.
    #[error(
        "subscription `{subscription_id}` depends on `{dependency_id}`, which is not in phase `{}`",
        phase.as_str()
    )]
    MissingDependency {
        /// The phase.
        phase: Phase,
        /// The dependent subscription.
        subscription_id: String,
        /// The missing subscription.
        dependency_id: String,
    },
    /// The dependencies of subscriptions form a cycle.
    #[error("subscriptions depend on each other in a cycle: `{}`", members.join("`, `"))]
    Cycle {
        /// The subscriptions of the cycle, in the order of the phase.
        members: Vec<String>,
    },
    /// The configuration of a subscription is inconsistent.
    #[error("subscription `{subscription_id}` {problem}")]
    Configuration {
        /// The subscription.
        subscription_id: String,
        /// The problem, as the predicate of a sentence about the subscription.
        problem: &'static str,
    },
}

fn public_message(error: &HookError) -> &str {
    if error.safe_for_user {
        &error.message
    } else {
        REDACTED_ERROR
    }
}
