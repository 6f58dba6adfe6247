//! Which handlers and subscriptions there are.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use tokio::sync::Semaphore;

use crate::{Handler, HookContext, Package, Phase, Subscription, Visibility, filter};

/// Everything that was installed.
#[derive(Default)]
pub(crate) struct Registry {
    packages: BTreeSet<String>,
    handlers: BTreeMap<String, Arc<dyn Handler>>,
    subscriptions: BTreeMap<String, Arc<Entry>>,
}

/// A subscription with what is needed to run it.
pub(crate) struct Entry {
    pub(crate) subscription: Subscription,
    pub(crate) handler: Arc<dyn Handler>,
    /// One permit for each run that may be under way; none means any number.
    pub(crate) permits: Option<Arc<Semaphore>>,
}

/// Why a package is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RegistrationError {
    /// Its id is taken.
    #[error("package `{package_id}` is installed already")]
    DuplicatePackage {
        /// The package.
        package_id: String,
    },
    /// The id of a handler is taken.
    #[error("handler `{hook_id}` is installed already")]
    DuplicateHandler {
        /// The handler.
        hook_id: String,
    },
    /// The id of a subscription is taken.
    #[error("subscription `{subscription_id}` is installed already")]
    DuplicateSubscription {
        /// The subscription.
        subscription_id: String,
    },
    /// A handler takes part in nothing.
    #[error("handler `{hook_id}` supports no phase")]
    NoPhases {
        /// The handler.
        hook_id: String,
    },
    /// A subscription is for a handler nobody brought.
    #[error("subscription `{subscription_id}` is for handler `{hook_id}`, which is not installed")]
    MissingHandler {
        /// The subscription.
        subscription_id: String,
        /// The handler.
        hook_id: String,
    },
    /// A subscription is for a phase its handler cannot take part in.
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
    /// Takes in the whole package, or nothing of it.
    pub(crate) fn install(&mut self, package: Package) -> Result<(), RegistrationError> {
        if self.packages.contains(&package.id) {
            return Err(RegistrationError::DuplicatePackage {
                package_id: package.id,
            });
        }
        let mut handlers = BTreeMap::new();
        let mut wanted = Vec::new();
        for definition in package.definitions {
            let hook_id = definition.handler.id().to_owned();
            if definition.handler.supported_phases().is_empty() {
                return Err(RegistrationError::NoPhases { hook_id });
            }
            if self.handlers.contains_key(&hook_id) || handlers.contains_key(&hook_id) {
                return Err(RegistrationError::DuplicateHandler { hook_id });
            }
            handlers.insert(hook_id, definition.handler);
            wanted.extend(definition.subscriptions);
        }

        // A subscription may be for any handler of its package, or of one installed before.
        let mut subscriptions = BTreeMap::new();
        for subscription in wanted {
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
            let entry = Entry {
                handler: Arc::clone(handler),
                // None at all would be a subscription that can only time out; `enabled` is there for that.
                permits: subscription
                    .execution_policy
                    .max_parallelism
                    .map(|most| Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)))),
                subscription,
            };
            subscriptions.insert(subscription_id, Arc::new(entry));
        }

        // Said here, and not in each phase, so that it is said once.
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

    /// The subscription, switched on or not.
    pub(crate) fn get(&self, subscription_id: &str) -> Option<&Arc<Entry>> {
        self.subscriptions.get(subscription_id)
    }

    /// The ids of the subscriptions that are at least this visible, switched on or not.
    pub(crate) fn visible(&self, least: Visibility) -> impl Iterator<Item = &str> {
        self.subscriptions
            .iter()
            .filter(move |(_, entry)| entry.subscription.visibility >= least)
            .map(|(id, _)| id.as_str())
    }

    /// Whether the phase has the subscription, switched on or not.
    pub(crate) fn has(&self, phase: Phase, subscription_id: &str) -> bool {
        self.get(subscription_id)
            .is_some_and(|entry| entry.subscription.phase == phase)
    }

    /// Those that take part, by priority and then by id.
    pub(crate) fn participants(&self, phase: Phase, context: &HookContext) -> Vec<Arc<Entry>> {
        // The map is in the order of the ids, and the sort keeps it among equals.
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
