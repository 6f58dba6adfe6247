//! Matches the filters of a subscription against a turn.

use crate::{FilterValue, HookContext, Subscription};

/// The supported filter keys.
const KEYS: [&str; 4] = ["mode", "origin_kind", "model_provider", "workspace_id"];

/// Returns whether every filter of the subscription matches the turn. A value that the turn does not have matches no
/// filter.
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

/// Returns the filter keys that are not supported and therefore never match.
pub(crate) fn unknown_keys(subscription: &Subscription) -> impl Iterator<Item = &str> {
    subscription
        .filters
        .keys()
        .map(String::as_str)
        .filter(|key| !KEYS.contains(key))
}
