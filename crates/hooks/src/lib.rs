//! The hook runtime: runs hooks at fixed phases of a turn, in a defined order and with a defined effect of failures.
//!
//! A [`Package`] provides handlers and their [`Subscription`]s; the [`Runtime`] runs the subscriptions of one [`Phase`]
//! and returns their [`Contribution`]s. This crate contains no hooks and does not interpret contributions.

mod background;
mod context;
mod contribution;
mod execution;
mod filter;
mod handler;
mod idempotency;
mod options;
mod order;
mod phase;
mod phase_error;
mod recorder;
mod redaction;
mod registry;
mod run;
mod runtime;
mod subscription;

pub use context::{Actor, HookContext, TreePlace};
pub use contribution::{Capability, Contribution, PromptSection, Severity, SourceReference};
pub use handler::{Definition, Handler, HookError, HookRequest, HookResponse, Package};
pub use options::{BackgroundOptions, RuntimeOptions};
pub use phase::Phase;
pub use phase_error::PhaseError;
pub use redaction::{REDACTED_DIAGNOSTIC, REDACTED_ERROR};
pub use registry::RegistrationError;
pub use run::{
    Attempt, Contributed, Diagnostic, PhaseOutcome, RunRecord, RunStatus, RunStore, StoreError,
};
pub use runtime::{Clock, Ids, Runtime, RuntimeBuilder, RuntimeStats};
pub use subscription::{
    AwaitPolicy, Backoff, Dependencies, ExecutionPolicy, FailurePolicy, FilterValue, RetryPolicy,
    Subscription, Visibility,
};
