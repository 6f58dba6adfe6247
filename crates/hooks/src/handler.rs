//! Who takes part: handlers, and the packages that bring them.

use std::{future::Future, pin::Pin, sync::Arc};

use crate::{Capability, Contribution, HookContext, Phase, Subscription, run::Diagnostic};

/// A hook. Built-in packages implement it, the runtime calls it.
pub trait Handler: Send + Sync + 'static {
    /// Its id, unique among all handlers.
    fn id(&self) -> &str;

    /// The phases it can take part in; never none.
    fn supported_phases(&self) -> &[Phase];

    /// What it may bring.
    fn capabilities(&self) -> &[Capability];

    /// Grows when what it does with the same input changes; a background run of another version is not resumed.
    fn contract_version(&self) -> u32 {
        1
    }

    /// Does its work.
    fn execute(
        &self,
        request: HookRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HookResponse, HookError>> + Send + '_>>;
}

/// What a handler is asked.
#[derive(Clone, Debug)]
pub struct HookRequest {
    /// The moment.
    pub phase: Phase,
    /// The turn.
    pub context: HookContext,
    /// Which try this is, from 1.
    pub attempt: u32,
    /// What earlier phases of the turn brought: policies and prompt context.
    pub earlier: Arc<Vec<Contribution>>,
}

/// What a handler answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookResponse {
    /// What it brings.
    pub contributions: Vec<Contribution>,
    /// Remarks.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why a handler failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct HookError {
    /// A stable name such as `thread_agents_doc.resolve_failed`.
    pub code: String,
    /// A sentence.
    pub message: String,
    /// Whether another try could help.
    pub retryable: bool,
    /// Whether users may read the message.
    pub safe_for_user: bool,
}

/// Handlers that belong together.
pub struct Package {
    /// Its id, unique among all packages.
    pub id: String,
    /// What it brings.
    pub definitions: Vec<Definition>,
}

/// A handler and when it is asked.
pub struct Definition {
    /// The handler.
    pub handler: Arc<dyn Handler>,
    /// Its subscriptions.
    pub subscriptions: Vec<Subscription>,
}
