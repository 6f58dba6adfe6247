//! Orders the subscriptions of a phase by their dependencies and priorities.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    FailurePolicy, HookContext, Phase, PhaseError, registry::RegisteredHook, registry::Registry,
};

/// Returns the matching subscriptions in layers. A layer depends only on earlier layers; within a layer, entries are
/// ordered by priority and id.
pub(crate) fn plan(
    registry: &Registry,
    phase: Phase,
    context: &HookContext,
) -> Result<Vec<Vec<Arc<RegisteredHook>>>, PhaseError> {
    let entries = registry.participants(phase, context);
    for entry in &entries {
        check(registry, phase, entry)?;
    }
    layers(entries)
}

fn check(registry: &Registry, phase: Phase, entry: &RegisteredHook) -> Result<(), PhaseError> {
    let subscription = &entry.subscription;
    let dependencies = &subscription.dependencies;
    for dependency_id in dependencies.after.iter().chain(&dependencies.before) {
        if !registry.has(phase, dependency_id) {
            return Err(PhaseError::MissingDependency {
                phase,
                subscription_id: subscription.subscription_id.clone(),
                dependency_id: dependency_id.clone(),
            });
        }
    }
    if subscription.failure_policy == FailurePolicy::Fallback
        && subscription.fallback_contributions.is_empty()
    {
        return Err(PhaseError::Configuration {
            subscription_id: subscription.subscription_id.clone(),
            problem: "has the failure policy `fallback` but no fallback contributions",
        });
    }
    Ok(())
}

/// Sorts topologically with Kahn's algorithm, one layer at a time.
fn layers(entries: Vec<Arc<RegisteredHook>>) -> Result<Vec<Vec<Arc<RegisteredHook>>>, PhaseError> {
    let mut waits_for = waits_for(&entries);
    let mut remaining = entries;
    let mut layers = Vec::new();
    while !remaining.is_empty() {
        let (ready, waiting): (Vec<_>, Vec<_>) = remaining.into_iter().partition(|entry| {
            waits_for
                .get(&entry.subscription.subscription_id)
                .is_none_or(BTreeSet::is_empty)
        });
        if ready.is_empty() {
            return Err(PhaseError::Cycle {
                members: cycle_members(&waiting, &waits_for),
            });
        }
        for entry in &ready {
            waits_for.remove(&entry.subscription.subscription_id);
            for others in waits_for.values_mut() {
                others.remove(&entry.subscription.subscription_id);
            }
        }
        layers.push(ready);
        remaining = waiting;
    }
    Ok(layers)
}

/// Maps each subscription id to the ids it waits for. Subscriptions that do not match the turn are left out.
fn waits_for(entries: &[Arc<RegisteredHook>]) -> BTreeMap<String, BTreeSet<String>> {
    let mut waits_for: BTreeMap<String, BTreeSet<String>> = entries
        .iter()
        .map(|entry| (entry.subscription.subscription_id.clone(), BTreeSet::new()))
        .collect();
    for entry in entries {
        let id = &entry.subscription.subscription_id;
        for earlier in &entry.subscription.dependencies.after {
            if waits_for.contains_key(earlier)
                && let Some(waiting) = waits_for.get_mut(id)
            {
                waiting.insert(earlier.clone());
            }
        }
        for later in &entry.subscription.dependencies.before {
            if let Some(waiting) = waits_for.get_mut(later) {
                waiting.insert(id.clone());
            }
        }
    }
    waits_for
}

/// Returns the subscriptions that are part of a cycle, without those that only depend on one.
fn cycle_members(
    entries: &[Arc<RegisteredHook>],
    waits_for: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
    let waits_for_itself = |id: &String| {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&String> = waits_for.get(id).into_iter().flatten().collect();
        while let Some(other) = next.pop() {
            if other == id {
                return true;
            }
            if seen.insert(other) {
                next.extend(waits_for.get(other).into_iter().flatten());
            }
        }
        false
    };
    entries
        .iter()
        .map(|entry| &entry.subscription.subscription_id)
        .filter(|id| waits_for_itself(id))
        .cloned()
        .collect()
}
