//! Warnings about the names of providers in a launch.
//!
//! The methods accept unknown names for compatibility with other programs; the response carries a warning for the user.

use std::collections::BTreeMap;

use crate::driver::{DeclaredDriver, Driver};

/// Providers that need no driver: they run commands of the caller, or the gateway creates their runs itself.
const PLAIN: [&str; 7] = [
    "cmd",
    "command",
    "shell",
    "manager",
    "manual",
    "pipeline",
    "self_improve",
];

/// Returns a warning if no driver exists for the provider. `declared` are the drivers of `config.toml`, by name.
pub fn provider_warning(
    provider: &str,
    declared: &BTreeMap<String, DeclaredDriver>,
) -> Option<String> {
    let has_driver = Driver::of_provider(provider, declared) != Driver::Command;
    if has_driver || PLAIN.contains(&provider) {
        return None;
    }
    let declared: String = declared.keys().map(|name| format!(", {name}")).collect();
    Some(format!(
        "there is no provider `{provider}`: expected codex, claude, gemini{declared}, or cmd for a command of your own"
    ))
}
