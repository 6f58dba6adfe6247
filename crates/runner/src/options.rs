//! How sessions run when nobody says otherwise: `config.toml`, then variables, then what is usual.

use std::{collections::BTreeMap, env, time::Duration};

use serde::Deserialize;

use crate::{briefing::Briefer, driver::DeclaredDriver, lanes::Limits, redaction::GatewaySecrets};

/// How long a session may run.
const TIMEOUT: Duration = Duration::from_secs(24 * 3600);
/// How long a session may print nothing: some workers wait for ever for a network that is not there.
const IDLE_TIMEOUT: Duration = Duration::from_secs(2 * 3600);

/// What `config.toml` says about sessions.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How many sessions may run at a time in one company folder.
    pub workspace_limit: Option<u64>,
    /// How many of one provider.
    pub provider_limit: Option<u64>,
    /// How many of one team.
    pub team_limit: Option<u64>,
    /// How long a session may run.
    pub timeout_seconds: Option<u64>,
    /// How long it may print nothing.
    pub idle_timeout_seconds: Option<u64>,
    /// Variables of the gateway that workers get beside the usual ones. `NVM_*` stands for all that begin so and do
    /// not look like secrets.
    pub environment: Vec<String>,
}

/// How sessions run.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many at a time.
    pub limits: Limits,
    /// How long one may run.
    pub timeout: Duration,
    /// How long one may print nothing.
    pub idle_timeout: Duration,
    /// Variables of the gateway that workers get beside the usual ones.
    pub environment: Vec<String>,
    /// Drivers that `config.toml` declares.
    pub drivers: BTreeMap<String, DeclaredDriver>,
    /// Secrets of the gateway itself, which no output of a worker shows.
    pub secrets: GatewaySecrets,
    /// Who tells workers what they should know.
    pub briefer: Briefer,
    /// Whether sessions are taken over whose gateway is gone. Not by a process that ends before they do.
    pub takes_over: bool,
}

impl Options {
    /// Puts together what is said anywhere.
    pub fn new(config: &Config, drivers: BTreeMap<String, DeclaredDriver>) -> Self {
        let limit = |said: Option<u64>, variable: &str, usual: u64| {
            let by_variable = env::var(variable)
                .ok()
                .and_then(|text| text.trim().parse().ok());
            by_variable
                .or(said)
                .filter(|limit| *limit > 0)
                .unwrap_or(usual)
        };
        let length = |said: Option<u64>, usual| said.map_or(usual, Duration::from_secs);
        Self {
            limits: Limits {
                workspace: limit(config.workspace_limit, "AC_LAUNCH_WORKSPACE_LIMIT", 4),
                provider: limit(config.provider_limit, "AC_LAUNCH_PROVIDER_LIMIT", 2),
                team: limit(config.team_limit, "AC_LAUNCH_TEAM_LIMIT", 2),
            },
            timeout: length(config.timeout_seconds, TIMEOUT),
            idle_timeout: length(config.idle_timeout_seconds, IDLE_TIMEOUT),
            environment: config.environment.clone(),
            drivers,
            secrets: GatewaySecrets::default(),
            briefer: Briefer::default(),
            takes_over: true,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new(&Config::default(), BTreeMap::new())
    }
}
