//! Default settings of sessions. Limits come from environment variables, then `config.toml`, then built-in defaults;
//! timeouts come from `config.toml`, then built-in defaults.

use std::{collections::BTreeMap, env, time::Duration};

use drivers::DeclaredDriver;
use serde::Deserialize;

use crate::{gateway_environment::GatewaySecrets, instructions::InstructionsSource, lanes::Limits};

/// Maximum duration of a session.
const TIMEOUT: Duration = Duration::from_secs(24 * 3600);
/// Maximum time without output: some workers wait forever for an unreachable network.
const IDLE_TIMEOUT: Duration = Duration::from_secs(2 * 3600);

/// The session settings of `config.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Maximum number of concurrent sessions per company folder; 4 if absent or 0.
    pub workspace_limit: Option<u64>,
    /// Maximum number of concurrent sessions per provider; 2 if absent or 0.
    pub provider_limit: Option<u64>,
    /// Maximum number of concurrent sessions per team; 2 if absent or 0.
    pub team_limit: Option<u64>,
    /// Maximum duration of a session, in seconds; 24 hours if absent.
    pub timeout_seconds: Option<u64>,
    /// Maximum time without output, in seconds; 2 hours if absent.
    pub idle_timeout_seconds: Option<u64>,
    /// Additional environment variables of the gateway that workers inherit. `NVM_*` matches all names with this prefix
    /// that do not look like secrets.
    pub environment: Vec<String>,
}

/// The effective session settings.
#[derive(Clone, Debug)]
pub struct Options {
    /// Limits on concurrent sessions.
    pub limits: Limits,
    /// Maximum duration of a session whose launch sets none.
    pub timeout: Duration,
    /// Maximum time without output of a session whose launch sets none.
    pub idle_timeout: Duration,
    /// Additional environment variables of the gateway that workers inherit.
    pub environment: Vec<String>,
    /// Drivers declared in `config.toml`, by name.
    pub drivers: BTreeMap<String, DeclaredDriver>,
    /// Secrets of the gateway itself, which are redacted from all worker output.
    pub secrets: GatewaySecrets,
    /// Provides the instructions that precede a worker's prompt.
    pub instructions_source: InstructionsSource,
    /// Whether this process takes over sessions whose gateway has exited. False in short-lived processes, which would
    /// exit before those sessions do.
    pub takes_over: bool,
}

impl Options {
    /// Combines environment variables, `config.toml` and defaults.
    pub fn new(config: &Config, drivers: BTreeMap<String, DeclaredDriver>) -> Self {
        let limit = |configured: Option<u64>, variable: &str, default: u64| {
            let by_variable = env::var(variable)
                .ok()
                .and_then(|text| text.trim().parse().ok());
            by_variable
                .or(configured)
                .filter(|limit| *limit > 0)
                .unwrap_or(default)
        };
        let duration =
            |configured: Option<u64>, default| configured.map_or(default, Duration::from_secs);
        Self {
            limits: Limits {
                workspace: limit(config.workspace_limit, "AC_LAUNCH_WORKSPACE_LIMIT", 4),
                provider: limit(config.provider_limit, "AC_LAUNCH_PROVIDER_LIMIT", 2),
                team: limit(config.team_limit, "AC_LAUNCH_TEAM_LIMIT", 2),
            },
            timeout: duration(config.timeout_seconds, TIMEOUT),
            idle_timeout: duration(config.idle_timeout_seconds, IDLE_TIMEOUT),
            environment: config.environment.clone(),
            drivers,
            secrets: GatewaySecrets::default(),
            instructions_source: InstructionsSource::default(),
            takes_over: true,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new(&Config::default(), BTreeMap::new())
    }
}
