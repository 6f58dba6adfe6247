//! What a worker finds in its environment: what the gateway has, without secrets that it was not given.

use std::{collections::BTreeMap, env};

use company::document::{Channel, ExecutionPolicy};

use crate::driver::Driver;

/// The variable by which the processes of a session are found again.
pub(crate) const MARK: &str = "ACCORD_RUN_DIR";

/// What a launch says about the environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// Variables it sets.
    pub(crate) set: BTreeMap<String, String>,
    /// Variables of the gateway it wants although they look like secrets.
    pub(crate) passthrough: Vec<String>,
    /// Whether it wants all of them.
    pub(crate) inherit: bool,
}

/// The environment of a worker.
pub(crate) fn environment(
    wanted: &Wanted,
    driver: &Driver,
    policy: Option<&ExecutionPolicy>,
    own: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let inherited = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let pays_by_use = policy.is_some_and(|policy| policy.channel == Channel::Api);
    let may_pass = |name: &str| {
        wanted.inherit
            || !is_secret(name)
            || wanted.passthrough.iter().any(|passed| passed == name)
            || (pays_by_use && is_key_of(driver, name))
    };
    let mut found: BTreeMap<_, _> = inherited.filter(|(name, _)| may_pass(name)).collect();
    found.extend(own.clone());
    found.extend(wanted.set.clone());
    found
}

/// Whether a variable holds a key of the driver's provider; every key is that of an unknown one.
fn is_key_of(driver: &Driver, name: &str) -> bool {
    match driver.key_variables() {
        [] => name.ends_with("_API_KEY"),
        keys => keys.contains(&name),
    }
}

/// Whether a variable looks as if it held a secret.
pub(crate) fn is_secret(name: &str) -> bool {
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

/// The values that must not be printed: those of variables that look like secrets.
pub(crate) fn secrets(environment: &BTreeMap<String, String>) -> Vec<String> {
    const SHORTEST: usize = 6;
    environment
        .iter()
        .filter(|(name, value)| is_secret(name) && value.len() >= SHORTEST)
        .map(|(_, value)| value.clone())
        .collect()
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

    #[test]
    fn what_the_caller_sets_is_there_and_what_only_the_session_sets_too() {
        let wanted = Wanted {
            set: [("MY_API_KEY".to_owned(), "0123456789".to_owned())].into(),
            ..Wanted::default()
        };
        let own = [(MARK.to_owned(), "/run".to_owned())].into();
        let found = environment(&wanted, &Driver::Command, None, &own);
        assert_eq!(found["MY_API_KEY"], "0123456789");
        assert_eq!(found[MARK], "/run");
        assert!(found.contains_key("PATH"));
        assert_eq!(secrets(&found), ["0123456789"]);
    }
}
