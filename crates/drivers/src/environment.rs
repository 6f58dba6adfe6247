//! The environment variables of a worker: those that every program needs, those that its driver reads, those that
//! `config.toml` names and those that the caller sets. No other variable of the gateway is passed on.

use std::collections::BTreeMap;

use company::document::{Channel, ExecutionPolicy};

use crate::{driver::Driver, redaction::printed_forms};

/// The variable that marks the processes of a session, so that they can be found. Its value is the folder of the run.
pub const MARK: &str = "ACCORD_RUN_DIR";

/// Variables that every program may need. A trailing `*` matches the rest of a name.
const DEFAULT_VARIABLES: [&str; 28] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "TMP",
    "TEMP",
    "TZ",
    "XDG_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_*",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
];

/// The environment settings of a launch.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentRequest {
    /// Variables that the launch sets, with their values.
    pub set: BTreeMap<String, String>,
    /// Names of variables of the gateway that the launch requests in addition to the default ones.
    pub passthrough: Vec<String>,
    /// Names of variables of the gateway that `config.toml` passes on. A trailing `*` matches the rest of a name.
    pub allowed: Vec<String>,
    /// Whether the launch requests all variables of the gateway.
    pub inherit: bool,
}

/// Selects the environment of a worker from the variables of the gateway. `own` are the variables that the session
/// itself sets; the launch may override them.
pub fn select_variables(
    inherited: impl Iterator<Item = (String, String)>,
    requested: &EnvironmentRequest,
    driver: &Driver,
    policy: Option<&ExecutionPolicy>,
    own: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let is_paid_by_use = policy.is_some_and(|policy| policy.channel == Channel::Api);
    let may_pass = |name: &str| {
        let is_named = |names: &[String]| names.iter().any(|named| named == name);
        if requested.inherit || is_named(&requested.passthrough) || is_named(&requested.allowed) {
            return true;
        }
        // A pattern does not pass a secret on: its full name is required, unless it is the key of a provider that is
        // paid by use.
        if is_secret(name) {
            return is_paid_by_use && is_key_of(driver, name);
        }
        let usual = DEFAULT_VARIABLES.iter().chain(driver.variables()).copied();
        usual
            .chain(requested.allowed.iter().map(String::as_str))
            .any(|pattern| fits(pattern, name))
    };
    let mut found: BTreeMap<_, _> = inherited.filter(|(name, _)| may_pass(name)).collect();
    found.extend(own.clone());
    found.extend(requested.set.clone());
    found
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

/// Whether a variable holds an API key of the driver's provider. For a driver without known keys, every `…_API_KEY`
/// counts.
fn is_key_of(driver: &Driver, name: &str) -> bool {
    match driver.key_variables() {
        [] => name.ends_with("_API_KEY"),
        keys => keys.contains(&name),
    }
}

/// Whether the name of a variable suggests that it holds a secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    const ENDS: [&str; 8] = [
        "_API_KEY",
        "_TOKEN",
        "_SECRET",
        "_ACCESS_KEY",
        "_PRIVATE_KEY",
        "_CREDENTIALS",
        "_PASSPHRASE",
        "_PASSWD",
    ];
    const PARTS: [&str; 2] = ["PASSWORD", "SECRET"];
    const NAMES: [&str; 3] = ["TOKEN", "API_KEY", "PASSWD"];
    ENDS.iter().any(|end| name.ends_with(end))
        || PARTS.iter().any(|part| name.contains(part))
        || NAMES.contains(&name.as_str())
}

/// The values that output must not show: those of variables that look like secrets, in all forms they are printed in.
pub fn secrets(environment: &BTreeMap<String, String>) -> Vec<String> {
    let secret = environment.iter().filter(|(name, _)| is_secret(name));
    secret.flat_map(|(_, value)| printed_forms(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known() {
        for secret in [
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "DB_PASSWORD",
            "MY_SECRET",
            "AWS_SECRET_ACCESS_KEY",
            "PASSWORD",
        ] {
            assert!(is_secret(secret), "{secret}");
        }
        for plain in [
            "PATH",
            "HOME",
            "LANG",
            "TOKENIZERS_PARALLELISM",
            "GEMINI_CLI_NO_RELAUNCH",
        ] {
            assert!(!is_secret(plain), "{plain}");
        }
    }

    /// Names of the gateway's variables that are passed on.
    fn passed(
        requested: &EnvironmentRequest,
        driver: &Driver,
        channel: Option<Channel>,
    ) -> Vec<String> {
        const GATEWAY: [&str; 11] = [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "CODEX_HOME",
            "DB_PASSWORD",
            "GITHUB_TOKEN",
            "GOOGLE_CLOUD_PROJECT",
            "LC_ALL",
            "MY_BUILD_FLAG",
            "OPENAI_API_KEY",
            "PATH",
            "SSH_AUTH_SOCK",
        ];
        let policy = channel.map(|channel| {
            let policies = company::document::Machine::initial().provider_execution_policy;
            let mut policy = policies.unwrap()["codex"].clone();
            policy.channel = channel;
            policy
        });
        let inherited = GATEWAY.map(|name| (name.to_owned(), "value".to_owned()));
        let found = select_variables(
            inherited.into_iter(),
            requested,
            driver,
            policy.as_ref(),
            &BTreeMap::new(),
        );
        found.into_keys().collect()
    }

    #[test]
    fn what_nobody_named_stays_outside() {
        let nothing = EnvironmentRequest::default();
        let passed = |driver, channel| passed(&nothing, driver, channel);
        assert_eq!(passed(&Driver::Command, None), ["LC_ALL", "PATH"]);
        assert_eq!(
            passed(&Driver::Codex, Some(Channel::SubscriptionCli)),
            ["CODEX_HOME", "LC_ALL", "PATH"]
        );
        assert_eq!(
            passed(&Driver::Codex, Some(Channel::Api)),
            ["CODEX_HOME", "LC_ALL", "OPENAI_API_KEY", "PATH"]
        );
        assert_eq!(
            passed(&Driver::Claude, None),
            ["ANTHROPIC_BASE_URL", "LC_ALL", "PATH"]
        );
        assert_eq!(
            passed(&Driver::Gemini, None),
            ["GOOGLE_CLOUD_PROJECT", "LC_ALL", "PATH"]
        );
    }

    #[test]
    fn a_pattern_of_the_operator_passes_no_secret_and_a_name_does() {
        let requested = |allowed: &[&str]| EnvironmentRequest {
            allowed: allowed.iter().map(|name| (*name).to_owned()).collect(),
            ..EnvironmentRequest::default()
        };
        assert_eq!(
            passed(
                &requested(&["MY_*", "SSH_AUTH_SOCK"]),
                &Driver::Command,
                None
            ),
            ["LC_ALL", "MY_BUILD_FLAG", "PATH", "SSH_AUTH_SOCK"]
        );
        assert_eq!(
            passed(&requested(&["GITHUB_*"]), &Driver::Command, None),
            ["LC_ALL", "PATH"]
        );
        assert_eq!(
            passed(&requested(&["GITHUB_TOKEN"]), &Driver::Command, None),
            ["GITHUB_TOKEN", "LC_ALL", "PATH"]
        );
    }

    #[test]
    fn what_the_caller_sets_is_there_and_what_only_the_session_sets_too() {
        let requested = EnvironmentRequest {
            set: [("MY_API_KEY".to_owned(), "01234\"56789".to_owned())].into(),
            ..EnvironmentRequest::default()
        };
        let own = [(MARK.to_owned(), "/run".to_owned())].into();
        let inherited = [("PATH".to_owned(), "/bin".to_owned())].into_iter();
        let found = select_variables(inherited, &requested, &Driver::Command, None, &own);
        assert_eq!(found["MY_API_KEY"], "01234\"56789");
        assert_eq!(found[MARK], "/run");
        assert!(found.contains_key("PATH"));
        assert_eq!(secrets(&found), ["01234\\\"56789", "01234\"56789"]);
    }
}
