//! Checks a worker program against the execution policy of this machine: allowed file names, and subscription or API
//! key.

use std::{collections::BTreeMap, ffi::OsStr, path::Path, process::Stdio, time::Duration};

use company::document::{Channel, ExecutionPolicy, Machine};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::program::{self, Program};

/// Timeout of the command that reports the login status.
const LOGIN_STATUS_TIMEOUT: Duration = Duration::from_secs(4);

/// Result of the check, with the payload of its event.
#[derive(Debug)]
pub enum ProgramCheck {
    /// The program may run.
    Passed {
        /// Payload of the event about the check.
        payload: Value,
    },
    /// The program may not run.
    Failed {
        /// Payload of the event about the check.
        payload: Value,
        /// Code of the reason, such as `auth_probe_failed`.
        reason: &'static str,
        /// Explanation for the user, as a sentence.
        message: String,
    },
}

/// Returns the policy of a provider and the key under which it is configured. Without an entry in `machine.yaml` the
/// initial policies apply; `None` if those have no entry either.
pub(crate) fn policy(
    machine: Option<&Machine>,
    provider: &str,
) -> Option<(String, ExecutionPolicy)> {
    let canonical = match provider {
        "codex-app-server" => "codex_app_server",
        "claude-code" => "claude_code",
        "gemini_cli" => "gemini",
        other => other,
    };
    let find = |policies: &BTreeMap<String, ExecutionPolicy>| {
        [provider, canonical]
            .into_iter()
            .find_map(|name| Some((name.to_owned(), policies.get(name)?.clone())))
    };
    let configured = machine
        .and_then(|machine| machine.provider_execution_policy.as_ref())
        .and_then(find);
    configured.or_else(|| {
        Machine::initial()
            .provider_execution_policy
            .as_ref()
            .and_then(find)
    })
}

/// Checks a program in the environment in which it will run. A provider without a policy is treated as an API channel
/// without proof and without allowed names.
pub(crate) async fn check_program(
    machine: Option<&Machine>,
    provider: &str,
    bin: &str,
    environment: &BTreeMap<String, String>,
) -> ProgramCheck {
    let (key, policy) = policy(machine, provider).unwrap_or_else(|| {
        let policy = ExecutionPolicy {
            channel: Channel::Api,
            require_subscription_proof: false,
            proof_strategy: None,
            allowed_bin_patterns: Vec::new(),
        };
        (provider.to_owned(), policy)
    });
    let resolved = program::executable(bin);
    let resolved = resolved.map_or_else(|| bin.to_owned(), |path| path.display().to_string());
    let mut shown = json!(policy);
    shown["provider_key"] = key.as_str().into();
    let checked = proof(&policy, bin, provider, environment).await;
    let payload = json!({"provider": provider, "policy": shown, "resolved_bin": resolved});
    match checked {
        Ok(detail) => {
            let mut payload = payload;
            let strategy = match (policy.channel, policy.require_subscription_proof) {
                (_, true) => policy.proof_strategy.as_deref(),
                (Channel::Api, false) => Some("api_channel"),
                (Channel::SubscriptionCli, false) => None,
            };
            payload["proof"] = json!({"strategy": strategy, "detail": detail});
            ProgramCheck::Passed { payload }
        }
        Err((reason, message)) => {
            let message = match hint(&policy, &key, provider, reason) {
                Some(hint) => format!("{message}; {hint}"),
                None => message,
            };
            let mut payload = payload;
            payload["reason"] = reason.into();
            payload["message"] = message.as_str().into();
            ProgramCheck::Failed {
                payload,
                reason,
                message,
            }
        }
    }
}

/// Names the setting that rejected a program and the command that changes it; `None` for providers without a known
/// program.
fn hint(policy: &ExecutionPolicy, key: &str, provider: &str, reason: &str) -> Option<String> {
    let setting = format!("provider_execution_policy.{key}");
    if reason == "unapproved_worker_binary" {
        return Some(format!(
            "`.local/machine.yaml` lists the allowed names in `{setting}.allowed_bin_patterns`"
        ));
    }
    let worker = Program::of_provider(provider).ok()?;
    let name = worker.as_str();
    let login = match worker {
        Program::Codex => "`codex login`",
        Program::Claude => "`claude` and then `/login`",
        Program::Gemini => "`gemini`",
    };
    Some(match policy.channel {
        Channel::SubscriptionCli => format!(
            "`.local/machine.yaml` has `{setting}.channel: subscription_cli`: log in with {login}, or run \
             `ac adapters use {name} --api-key` to use an API key"
        ),
        Channel::Api => format!(
            "`.local/machine.yaml` has `{setting}.channel: api`: set a key, or run \
             `ac adapters use {name} --subscription` to use the login of {name}"
        ),
    })
}

/// Returns the detail of the proof, or the reason code and message of the failure.
async fn proof(
    policy: &ExecutionPolicy,
    bin: &str,
    provider: &str,
    environment: &BTreeMap<String, String>,
) -> Result<&'static str, (&'static str, String)> {
    let base = Path::new(bin)
        .file_name()
        .and_then(OsStr::to_str)
        .unwrap_or(bin);
    // Only the file name is matched, because folder names are arbitrary.
    let fits = |pattern: &str| {
        base == pattern
            || base
                .strip_prefix(pattern)
                .is_some_and(|rest| rest.starts_with('-'))
    };
    let patterns = &policy.allowed_bin_patterns;
    if !patterns.is_empty() && !patterns.iter().any(|pattern| fits(pattern)) {
        let message = format!("Resolved CLI binary is not allowed by policy: {bin}");
        return Err(("unapproved_worker_binary", message));
    }
    let set = |name: &str| {
        environment
            .get(name)
            .is_some_and(|value| !value.trim().is_empty())
    };
    if policy.channel == Channel::Api && provider.starts_with("gemini") {
        let truthy = environment
            .get("GOOGLE_GENAI_USE_VERTEXAI")
            .is_some_and(|value| {
                ["1", "true", "yes", "on"].contains(&value.to_lowercase().as_str())
            });
        let vertex = truthy && set("GOOGLE_CLOUD_PROJECT") && set("GOOGLE_CLOUD_LOCATION");
        let found = if set("GEMINI_API_KEY") {
            "GEMINI_API_KEY detected for Gemini API auth"
        } else if set("GOOGLE_API_KEY") {
            "GOOGLE_API_KEY detected for Gemini API auth"
        } else if vertex {
            "Vertex AI settings detected for Gemini API auth"
        } else {
            let message = "gemini has no credentials: set GEMINI_API_KEY or GOOGLE_API_KEY, \
                           or GOOGLE_GENAI_USE_VERTEXAI=true with GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION";
            return Err(("auth_probe_failed", message.to_owned()));
        };
        if !policy.require_subscription_proof {
            return Ok(found);
        }
    }
    if !policy.require_subscription_proof {
        return Ok("not required");
    }
    let keys: &[&str] = match policy.proof_strategy.as_deref() {
        Some("codex_cli") => &["OPENAI_API_KEY", "CODEX_API_KEY"],
        Some("claude_cli") => &["ANTHROPIC_API_KEY"],
        Some("gemini_cli") => &[
            "GOOGLE_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_GENAI_USE_VERTEXAI",
        ],
        Some(_) | None => {
            let message = format!(
                "provider `{provider}` has no known `proof_strategy`: expected codex_cli, claude_cli or gemini_cli"
            );
            return Err(("unknown_proof_strategy", message));
        }
    };
    if let Some(key) = keys.iter().find(|key| set(key)) {
        let message =
            format!("{key} is set, but {provider} is configured to run on its subscription");
        return Err(("api_key_present", message));
    }
    if policy.proof_strategy.as_deref() != Some("codex_cli") {
        return Ok(match policy.proof_strategy.as_deref() {
            Some("claude_cli") => "no ANTHROPIC_API_KEY detected; using CLI-managed auth path",
            Some(_) | None => "no key is set",
        });
    }
    let mut command = Command::new(bin);
    command
        .args(["login", "status"])
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let failed =
        |message: &str| Err(("auth_probe_failed", format!("codex login status {message}")));
    match tokio::time::timeout(LOGIN_STATUS_TIMEOUT, command.output()).await {
        Ok(Ok(output)) if output.status.success() => {
            let printed = [output.stdout, output.stderr].concat();
            let printed = String::from_utf8_lossy(&printed).to_lowercase();
            if printed.contains("api key") || printed.contains("api_key") {
                failed("indicates API-key auth mode")
            } else if printed.contains("not logged in") {
                failed("reports that no account is logged in")
            } else if printed.contains("chatgpt") || printed.contains("logged in") {
                Ok("codex auth probe passed and no API-key mode was detected")
            } else {
                failed("did not confirm a subscription login mode")
            }
        }
        Ok(Ok(_)) => failed("reports that no account is logged in"),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(("auth_probe_failed", program::not_installed(bin)))
        }
        Ok(Err(_)) => failed("could not be started"),
        Err(_) => failed("did not finish in time"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(provider: &str, bin: &str, variables: &[(&str, &str)]) -> &'static str {
        let environment = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        match check_program(None, provider, bin, &environment).await {
            ProgramCheck::Passed { .. } => "passed",
            ProgramCheck::Failed { reason, .. } => reason,
        }
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_called_not_installed() {
        let check = check_program(None, "codex", "/no/such/codex", &BTreeMap::new()).await;
        let ProgramCheck::Failed { message, .. } = check else {
            panic!("a program that is not there passed");
        };
        assert!(
            message.contains("/no/such/codex is not installed or not in PATH"),
            "{message}"
        );
    }

    #[tokio::test]
    async fn a_refusal_names_the_setting_and_the_command_that_changes_it() {
        let environment = BTreeMap::from([("OPENAI_API_KEY".to_owned(), "k".to_owned())]);
        let ProgramCheck::Failed { message, .. } =
            check_program(None, "codex", "codex", &environment).await
        else {
            panic!("it passed");
        };
        assert_eq!(
            message,
            "OPENAI_API_KEY is set, but codex is configured to run on its subscription; `.local/machine.yaml` has \
             `provider_execution_policy.codex.channel: subscription_cli`: log in with `codex login`, or run \
             `ac adapters use codex --api-key` to use an API key"
        );
    }

    #[tokio::test]
    async fn the_name_of_the_program_and_the_way_it_is_paid_for_decide() {
        assert_eq!(check("claude", "/bin/claude-nightly", &[]).await, "passed");
        assert_eq!(
            check("claude", "/opt/claude/x", &[]).await,
            "unapproved_worker_binary"
        );
        assert_eq!(
            check("claude", "claude", &[("ANTHROPIC_API_KEY", "k")]).await,
            "api_key_present"
        );
        assert_eq!(check("gemini", "gemini", &[]).await, "auth_probe_failed");
        assert_eq!(
            check("gemini", "gemini", &[("GEMINI_API_KEY", "k")]).await,
            "passed"
        );
        assert_eq!(
            check("codex", "/no/such/codex", &[]).await,
            "auth_probe_failed"
        );
        assert_eq!(check("cmd", "/bin/true", &[]).await, "passed");
    }
}
