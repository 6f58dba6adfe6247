//! The environment variables and the secrets of the gateway itself. [`drivers::environment`] selects which variables a
//! worker gets.

use std::{collections::BTreeMap, env, fmt, sync::Arc};

use company::document::ExecutionPolicy;
use drivers::{
    Driver,
    environment::{self, EnvironmentRequest},
    redaction,
};

/// The environment of a worker. `own` are the variables that the session itself sets; the launch may override them.
pub(crate) fn environment(
    requested: &EnvironmentRequest,
    driver: &Driver,
    policy: Option<&ExecutionPolicy>,
    own: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    environment::select_variables(inherited(), requested, driver, policy, own)
}

/// The gateway's own environment, without variables that are not valid UTF-8.
fn inherited() -> impl Iterator<Item = (String, String)> {
    env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The secrets of the gateway itself. They are read at every launch, because keys change.
#[derive(Clone)]
pub struct GatewaySecrets(Arc<dyn Fn() -> Vec<String> + Send + Sync>);

impl GatewaySecrets {
    /// Creates the source from a function that returns the tokens and stored keys. Secrets in the gateway's environment
    /// are added automatically.
    pub fn new(held: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(held))
    }

    /// All secrets, in every form in which they may be printed.
    pub(crate) fn values(&self) -> Vec<String> {
        let mut values = environment::secrets(&inherited().collect());
        values.extend(
            (self.0)()
                .iter()
                .flat_map(|value| redaction::printed_forms(value)),
        );
        values.sort_unstable();
        values.dedup();
        values
    }
}

impl Default for GatewaySecrets {
    fn default() -> Self {
        Self::new(Vec::new)
    }
}

impl fmt::Debug for GatewaySecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("GatewaySecrets")
    }
}
