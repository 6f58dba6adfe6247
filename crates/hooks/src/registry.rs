//! The registry of installed packages, handlers and subscriptions.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use tokio::sync::Semaphore;

use crate::{Handler, HookContext, Package, Phase, Subscription, Visibility, filter};

/// The installed packages, handlers and subscriptions.
#[derive(Default)]
pub(crate) struct Registry {
    packages: BTreeSet<String>,
    handlers: BTreeMap<String, Arc<dyn Handler>>,
    subscriptions: BTreeMap<String, Arc<RegisteredHook>>,
}

/// A subscription with its handler.
pub(crate) struct RegisteredHook {
    pub(crate) subscription: Subscription,
    pub(crate) handler: Arc<dyn Handler>,
    /// One permit per concurrent run. `None` means no limit.
    pub(crate) permits: Option<Arc<Semaphore>>,
}

/// The reason why a package was rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RegistrationError {
    /// A package with this id is already installed.
    #[error("package `{package_id}` is already installed")]
    DuplicatePackage {
        /// The package.
        package_id: String,
    },
    /// A handler with this id is already installed.
    #[error("handler `{hook_id}` is already installed")]
    DuplicateHandler {
        /// The handler.
        hook_id: String,
    },
    /// A subscription with this id is already installed.
    #[error("subscription `{subscription_id}` is already installed")]
    DuplicateSubscription {
        /// The subscription.
        subscription_id: String,
    },
    /// A handler supports no phase.
    #[error("handler `{hook_id}` supports no phase")]
    NoPhases {
        /// The handler.
        hook_id: String,
    },
    /// A subscription names a handler that is not installed.
    #[error("subscription `{subscription_id}` is for handler `{hook_id}`, which is not installed")]
    MissingHandler {
        /// The subscription.
        subscription_id: String,
        /// The handler.
        hook_id: String,
    },
    /// A subscription names a phase that its handler does not support.
    #[error(
        "subscription `{subscription_id}` is for phase `{}`, which handler `{hook_id}` does not support",
        phase.as_str()
    )]
    UnsupportedPhase {
        /// The subscription.
        subscription_id: String,
        /// The handler.
        hook_id: String,
        /// The phase.
        phase: Phase,
    },
}

impl Registry {
    /// Installs the whole package, or nothing of it on error.
    pub(crate) fn install(&mut self, package: Package) -> Result<(), RegistrationError> {
        if self.packages.contains(&package.id) {
            return Err(RegistrationError::DuplicatePackage {
                package_id: package.id,
            });
        }
        let mut handlers = BTreeMap::new();
        let mut requested = Vec::new();
        for definition in package.definitions {
            let hook_id = definition.handler.id().to_owned();
            if definition.handler.supported_phases().is_empty() {
                return Err(RegistrationError::NoPhases { hook_id });
            }
            if self.handlers.contains_key(&hook_id) || handlers.contains_key(&hook_id) {
                return Err(RegistrationError::DuplicateHandler { hook_id });
            }
            handlers.insert(hook_id, definition.handler);
            requested.extend(definition.subscriptions);
        }

        // A subscription may name any handler of its package or of a package installed before.
        let mut subscriptions = BTreeMap::new();
        for subscription in requested {
            let subscription_id = subscription.subscription_id.clone();
            let hook_id = subscription.hook_id.clone();
            let Some(handler) = handlers
                .get(&hook_id)
                .or_else(|| self.handlers.get(&hook_id))
            else {
                return Err(RegistrationError::MissingHandler {
                    subscription_id,
                    hook_id,
                });
            };
            if !handler.supported_phases().contains(&subscription.phase) {
                return Err(RegistrationError::UnsupportedPhase {
                    subscription_id,
                    hook_id,
                    phase: subscription.phase,
                });
            }
            if self.subscriptions.contains_key(&subscription_id)
                || subscriptions.contains_key(&subscription_id)
            {
                return Err(RegistrationError::DuplicateSubscription { subscription_id });
            }
            let entry = RegisteredHook {
                handler: Arc::clone(handler),
                // With zero permits every run would time out; `enabled` is the way to disable a subscription.
                permits: subscription
                    .execution_policy
                    .max_parallelism
                    .map(|most| Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)))),
                subscription,
            };
            subscriptions.insert(subscription_id, Arc::new(entry));
        }

        // Warn at installation, not in each phase, so that the warning is logged once.
        for entry in subscriptions.values() {
            for key in filter::unknown_keys(&entry.subscription) {
                tracing::warn!(
                    subscription_id = entry.subscription.subscription_id,
                    key,
                    "unknown filter: the subscription never takes part"
                );
            }
        }
        self.packages.insert(package.id);
        self.handlers.extend(handlers);
        self.subscriptions.extend(subscriptions);
        Ok(())
    }

    /// Returns the subscription, enabled or not.
    pub(crate) fn get(&self, subscription_id: &str) -> Option<&Arc<RegisteredHook>> {
        self.subscriptions.get(subscription_id)
    }

    /// Returns the ids of the subscriptions that are at least this visible, enabled or not.
    pub(crate) fn visible(&self, least: Visibility) -> impl Iterator<Item = &str> {
        self.subscriptions
            .iter()
            .filter(move |(_, entry)| entry.subscription.visibility >= least)
            .map(|(id, _)| id.as_str())
    }

    /// Returns whether the phase has the subscription, enabled or not.
    pub(crate) fn has(&self, phase: Phase, subscription_id: &str) -> bool {
        self.get(subscription_id)
            .is_some_and(|entry| entry.subscription.phase == phase)
    }

    /// Returns the enabled subscriptions of the phase that match the turn, ordered by priority and id.
    pub(crate) fn participants(
        &self,
        phase: Phase,
        context: &HookContext,
    ) -> Vec<Arc<RegisteredHook>> {
        // The map is ordered by id, and the stable sort keeps that order within a priority.
        let mut entries: Vec<_> = self
            .subscriptions
            .values()
            .filter(|entry| {
                let subscription = &entry.subscription;
                subscription.phase == phase
                    && subscription.enabled
                    && filter::fits(subscription, context)
            })
            .cloned()
            .collect();
        entries.sort_by_key(|entry| entry.subscription.priority);
        entries
    }
}
