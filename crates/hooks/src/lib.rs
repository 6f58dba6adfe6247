//! The hook runtime: what may take part in a turn, when, in which order, and what becomes of a failure.
//!
//! A [`Package`] brings handlers and their [`Subscription`]s; the [`Runtime`] runs the subscriptions of one
//! [`Phase`] and answers their [`Contribution`]s. No particular hook lives here, and nothing here knows what a
//! contribution is used for.

mod context;
mod contribution;
mod handler;
mod phase;
mod run;
mod subscription;

pub use context::{Actor, HookContext};
pub use contribution::{Capability, Contribution, PromptSection, Severity, SourceReference};
pub use handler::{Definition, Handler, HookError, HookRequest, HookResponse, Package};
pub use phase::Phase;
pub use run::{
    Attempt, Contributed, Diagnostic, PhaseOutcome, RunRecord, RunStatus, RunStore, StoreError,
};
pub use subscription::{
    AwaitPolicy, Backoff, Dependencies, ExecutionPolicy, FailurePolicy, FilterValue, RetryPolicy,
    Subscription, Visibility,
};
