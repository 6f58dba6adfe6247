//! Why a phase fails.

use crate::{HookError, Phase, redaction::REDACTED_ERROR};

/// Why a phase fails. What it prints may be shown to users; the hook's own error is for programs and the log.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PhaseError {
    /// A hook the turn needs failed.
    #[error("{}", public_message(error))]
    Required {
        /// The handler.
        hook_id: String,
        /// The subscription.
        subscription_id: String,
        /// What it said.
        error: HookError,
    },
    /// A hook failed without which going on would be unsafe.
    #[error("{}", public_message(error))]
    FailClosed {
        /// The handler.
        hook_id: String,
        /// The subscription.
        subscription_id: String,
        /// What it said.
        error: HookError,
    },
    /// A subscription names another one the phase does not have.
    #[error(
        "subscription `{subscription_id}` depends on `{dependency_id}`, which is not in phase `{}`",
        phase.as_str()
    )]
    MissingDependency {
        /// The phase.
        phase: Phase,
        /// Who names it.
        subscription_id: String,
        /// What is named.
        dependency_id: String,
    },
    /// Subscriptions wait for each other.
    #[error("subscriptions wait for each other: `{}`", members.join("`, `"))]
    Cycle {
        /// Those that do, in the order of the phase.
        members: Vec<String>,
    },
    /// A subscription contradicts itself.
    #[error("subscription `{subscription_id}` {problem}")]
    Configuration {
        /// The subscription.
        subscription_id: String,
        /// What is wrong with it.
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
