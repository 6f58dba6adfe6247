//! Whether a subscription takes part in a turn.

use crate::{FilterValue, HookContext, Subscription};

/// The keys a filter may have.
const KEYS: [&str; 4] = ["mode", "origin_kind", "model_provider", "workspace_id"];

/// Whether every filter of the subscription fits the turn. What the turn does not have fits no filter.
pub(crate) fn fits(subscription: &Subscription, context: &HookContext) -> bool {
    subscription.filters.iter().all(|(key, accepted)| {
        let value = match key.as_str() {
            "mode" => &context.mode,
            "origin_kind" => &context.origin_kind,
            "model_provider" => &context.model_provider,
            "workspace_id" => &context.workspace_id,
            _ => return false,
        };
        let Some(value) = value else {
            return false;
        };
        match accepted {
            FilterValue::Is(only) => only == value,
            FilterValue::OneOf(any) => any.contains(value),
        }
    })
}

/// Keys that never fit, because nobody knows them.
pub(crate) fn unknown_keys(subscription: &Subscription) -> impl Iterator<Item = &str> {
    subscription
        .filters
        .keys()
        .map(String::as_str)
        .filter(|key| !KEYS.contains(key))
}
