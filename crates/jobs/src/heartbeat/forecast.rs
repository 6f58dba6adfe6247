//! Forecast of what a heartbeat may start without approval, shown before and when it is enabled.

use company::{
    Company, Error,
    org::{self, project},
};
use protocol::company::heartbeat::{
    HeartbeatConfig, HeartbeatForecast, HeartbeatForecastAgent, HeartbeatForecastCap,
};

use super::facts::pool;

/// Returns the maximum that the heartbeat of a company may start under a config.
pub fn forecast(company: &Company, config: &HeartbeatConfig) -> Result<HeartbeatForecast, Error> {
    let all = org::agents(company)?;
    let mut agents: Vec<_> = pool(&all, config.hierarchy_mode)
        .into_iter()
        .map(|agent| HeartbeatForecastAgent {
            agent_id: agent.id.to_string(),
            name: agent.name.to_string(),
            worker_kind: crate::job::kind_of(agent),
        })
        .collect();
    agents.sort_by(|left, right| left.agent_id.cmp(&right.agent_id));
    let mut token_caps = Vec::new();
    for id in project::project_ids(company)? {
        // No worker is started for a project that cannot be read.
        let Ok(document) = project::project(company, &id) else {
            continue;
        };
        let budget = document.budget.as_ref();
        token_caps.push(HeartbeatForecastCap {
            project_id: id.to_string(),
            name: document.name.to_string(),
            hard_tokens: budget.and_then(|budget| budget.hard_tokens),
        });
    }
    let per_tick = config
        .top_k_workers
        .min(u32::try_from(agents.len()).unwrap_or(u32::MAX));
    let per_hour = per_tick.saturating_mul(60_u32.div_ceil(config.tick_interval_minutes.max(1)));
    Ok(HeartbeatForecast {
        summary: summary(config, &agents, per_tick, &token_caps),
        agents,
        tick_interval_minutes: config.tick_interval_minutes,
        max_workers_per_tick: per_tick,
        max_workers_per_hour: per_hour,
        max_auto_actions_per_hour: config.max_auto_actions_per_hour,
        token_caps,
    })
}

fn summary(
    config: &HeartbeatConfig,
    agents: &[HeartbeatForecastAgent],
    per_tick: u32,
    token_caps: &[HeartbeatForecastCap],
) -> String {
    let kinds: std::collections::BTreeSet<_> = agents
        .iter()
        .map(|agent| agent.worker_kind.as_str())
        .collect();
    let kinds: Vec<_> = kinds.into_iter().collect();
    let started = if agents.is_empty() {
        "No worker can be started: the company has no agent to wake".to_owned()
    } else {
        let workers = if per_tick == 1 { "worker" } else { "workers" };
        let minutes = match config.tick_interval_minutes {
            1 => "minute".to_owned(),
            minutes => format!("{minutes} minutes"),
        };
        format!(
            "Up to {per_tick} {workers} ({}) may be started every {minutes}, and up to {} actions an hour, which can \
             be further jobs, are executed without approval",
            kinds.join(", "),
            config.max_auto_actions_per_hour
        )
    };
    let capped = token_caps
        .iter()
        .filter(|cap| cap.hard_tokens.is_some())
        .count();
    let caps = match (capped, token_caps.len()) {
        (0, _) => "there is no token cap".to_owned(),
        (capped, all) if capped == all => {
            let sum: u64 = token_caps.iter().filter_map(|cap| cap.hard_tokens).sum();
            format!("projects are capped at {sum} tokens together")
        }
        (capped, all) => format!("{capped} of {all} projects have a token cap"),
    };
    format!("{started}; {caps}.")
}
