//! `resources.snapshot`: counts of agents, and usage of runs, from the documents of agents and runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use protocol::company::{
    AgentRole, ProjectId,
    resources::{ResourceModel, ResourceProvider, ResourceTotals, ResourcesSnapshotResponse},
};

use crate::{
    Company, Error,
    document::{Agent, CycleSource, Run},
    execution::run::{self, Activity, LiveRuns},
    org,
};

/// Counts the agents of the company and sums up the usage of runs, of all projects or of one project.
pub fn snapshot(
    company: &Company,
    project: Option<&str>,
    live: &LiveRuns,
) -> Result<ResourcesSnapshotResponse, Error> {
    let runs = run::runs(company, None)?;
    of_runs(company, project, live, &runs)
}

/// Like [`snapshot`], for a caller that has already read the runs.
pub fn of_runs(
    company: &Company,
    project: Option<&str>,
    live: &LiveRuns,
    runs: &[(ProjectId, Arc<Run>)],
) -> Result<ResourcesSnapshotResponse, Error> {
    let profiles = profiles(org::agents(company)?, runs);
    let now_ms = company.sources().now_ms();
    let is_worker = |agent: &str| {
        let role = profiles.get(agent).map(|profile| profile.role);
        role == Some(AgentRole::Worker)
    };
    let mut totals = ResourceTotals {
        agents: profiles.len() as u64,
        workers: profiles.keys().filter(|agent| is_worker(agent)).count() as u64,
        ..ResourceTotals::default()
    };
    let mut active: BTreeSet<&str> = BTreeSet::new();
    let mut providers: BTreeMap<&str, ResourceProvider> = BTreeMap::new();
    let wanted = runs
        .iter()
        .filter(|(of, _)| project.is_none_or(|project| of.as_str() == project));
    for (_, run) in wanted {
        let usage = run.usage.as_ref();
        let tokens = usage.map_or(0, |usage| usage.total_tokens);
        let cost = usage.and_then(|usage| usage.cost_usd).unwrap_or(0.0);
        let of_provider = providers
            .entry(&run.provider)
            .or_insert_with(|| ResourceProvider {
                provider: run.provider.to_string(),
                run_count: 0,
                total_tokens: 0,
                total_cost_usd: 0.0,
            });
        of_provider.run_count += 1;
        of_provider.total_tokens = of_provider.total_tokens.saturating_add(tokens);
        of_provider.total_cost_usd += cost;
        totals.runs_indexed += 1;
        totals.total_tokens = totals.total_tokens.saturating_add(tokens);
        totals.total_cost_usd += cost;
        if let Some(cycles) = &run.context_cycles {
            match cycles.source {
                CycleSource::ProviderSignal => {
                    totals.context_cycles_known_runs += 1;
                    totals.context_cycles_total += cycles.count;
                }
                CycleSource::Unavailable => totals.context_cycles_unknown_runs += 1,
            }
        }
        // A run that was created but never launched also has the status `running`.
        let is_running = run::activity(run, live, now_ms) == Activity::Active;
        if is_running && is_worker(&run.agent_id) {
            active.insert(&run.agent_id);
        }
    }
    totals.active_workers = active.len() as u64;
    totals.total_cost_usd = usd(totals.total_cost_usd);
    let mut providers: Vec<ResourceProvider> = providers.into_values().collect();
    for provider in &mut providers {
        provider.total_cost_usd = usd(provider.total_cost_usd);
    }
    // The map yields the names in order, and the sort is stable: equal counts stay sorted by name.
    providers.sort_by_key(|provider| std::cmp::Reverse(provider.total_tokens));
    Ok(ResourcesSnapshotResponse {
        workspace_dir: company.given().to_owned(),
        generated_at: company.sources().now_text(),
        project_id: project.map(ToOwned::to_owned),
        totals,
        providers,
        models: models(profiles.values()),
    })
}

/// Properties of an agent that the snapshot counts.
struct AgentProfile {
    role: AgentRole,
    model: String,
}

/// Returns the agents of the company, and the agents that only occur in runs. The latter count as workers with the
/// default model of their provider.
fn profiles(
    agents: Vec<Arc<Agent>>,
    runs: &[(ProjectId, Arc<Run>)],
) -> BTreeMap<String, AgentProfile> {
    let unnamed = |provider: &str| format!("{provider} (default)");
    let mut profiles = BTreeMap::new();
    for agent in agents {
        let hint = agent.model_hint.as_ref().map(ToString::to_string);
        profiles.insert(
            agent.id.to_string(),
            AgentProfile {
                role: agent.role,
                model: hint.unwrap_or_else(|| unnamed(&agent.provider)),
            },
        );
    }
    let mut unknown: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, run) in runs {
        if !profiles.contains_key(run.agent_id.as_str()) {
            let provider = unknown.entry(&run.agent_id).or_insert(&run.provider);
            *provider = (*provider).min(&run.provider);
        }
    }
    let unknown = unknown.into_iter().map(|(agent, provider)| {
        let profile = AgentProfile {
            role: AgentRole::Worker,
            model: unnamed(provider),
        };
        (agent.to_owned(), profile)
    });
    profiles.extend(unknown.collect::<Vec<_>>());
    profiles
}

fn models<'a>(profiles: impl Iterator<Item = &'a AgentProfile>) -> Vec<ResourceModel> {
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for profile in profiles {
        *counted.entry(&profile.model).or_default() += 1;
    }
    let mut models: Vec<_> = counted
        .into_iter()
        .map(|(model, agent_count)| ResourceModel {
            model: model.to_owned(),
            agent_count,
        })
        .collect();
    // The map yields the names in order, and the sort is stable: equal counts stay sorted by name.
    models.sort_by_key(|model| std::cmp::Reverse(model.agent_count));
    models
}

/// Rounds an amount of money to six decimals.
pub fn usd(amount: f64) -> f64 {
    (amount * 1e6).round() / 1e6
}
