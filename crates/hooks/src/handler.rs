//! Handlers, their requests and responses, and the packages that install them.

use std::{future::Future, pin::Pin, sync::Arc};

use crate::{Capability, Contribution, HookContext, Phase, Subscription, run::Diagnostic};

/// A hook. Built-in packages implement this trait, the runtime calls it.
pub trait Handler: Send + Sync + 'static {
    /// The id, unique among all handlers.
    fn id(&self) -> &str;

    /// The phases the handler can run in; never empty.
    fn supported_phases(&self) -> &[Phase];

    /// The capabilities of the handler. Contributions that need another one are rejected.
    fn capabilities(&self) -> &[Capability];

    /// Version of the handler's behaviour; increase it when the same input gives another result. Background runs of
    /// another version are not resumed.
    fn contract_version(&self) -> u32 {
        1
    }

    /// Executes the hook.
    fn execute(
        &self,
        request: HookRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HookResponse, HookError>> + Send + '_>>;
}

/// The request to a handler.
#[derive(Clone, Debug)]
pub struct HookRequest {
    /// The phase that runs.
    pub phase: Phase,
    /// The turn.
    pub context: HookContext,
    /// Number of the attempt, starting at 1.
    pub attempt: u32,
    /// Contributions of earlier phases of the turn: policies and prompt context.
    pub earlier: Arc<Vec<Contribution>>,
}

/// The response of a handler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookResponse {
    /// The contributions to the turn.
    pub contributions: Vec<Contribution>,
    /// Diagnostics of the run.
    pub diagnostics: Vec<Diagnostic>,
}

/// The error of a failed hook.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct HookError {
    /// A stable code such as `thread_agents_doc.resolve_failed`.
    pub code: String,
    /// A message for people, one sentence.
    pub message: String,
    /// Whether another attempt could succeed.
    pub retryable: bool,
    /// Whether users may read the message.
    pub safe_for_user: bool,
}

/// A set of handlers that is installed as a whole.
pub struct Package {
    /// The id, unique among all packages.
    pub id: String,
    /// The handlers with their subscriptions.
    pub definitions: Vec<Definition>,
}

/// A handler with its subscriptions.
pub struct Definition {
    /// The handler.
    pub handler: Arc<dyn Handler>,
    /// Its subscriptions.
    pub subscriptions: Vec<Subscription>,
}
