//! `resources.snapshot`: who there is and what they used, from the documents of agents and runs.

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

/// Counts the agents of the company and adds up what runs used, of all projects or of one of them.
pub fn snapshot(
    company: &Company,
    project: Option<&str>,
    live: &LiveRuns,
) -> Result<ResourcesSnapshotResponse, Error> {
    let runs = run::runs(company, None)?;
    of_runs(company, project, live, &runs)
}

/// The same for somebody who has read the runs already.
pub fn of_runs(
    company: &Company,
    project: Option<&str>,
    live: &LiveRuns,
    runs: &[(ProjectId, Arc<Run>)],
) -> Result<ResourcesSnapshotResponse, Error> {
    let people = people(org::agents(company)?, runs);
    let now_ms = company.sources().now_ms();
    let is_worker = |agent: &str| {
        let role = people.get(agent).map(|person| person.role);
        role == Some(AgentRole::Worker)
    };
    let mut totals = ResourceTotals {
        agents: people.len() as u64,
        workers: people.keys().filter(|agent| is_worker(agent)).count() as u64,
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
        // A run that was created and never launched has the status `running`, too.
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
    // Sorted by name already.
    providers.sort_by_key(|provider| std::cmp::Reverse(provider.total_tokens));
    Ok(ResourcesSnapshotResponse {
        workspace_dir: company.given().to_owned(),
        generated_at: company.sources().now_text(),
        project_id: project.map(ToOwned::to_owned),
        totals,
        providers,
        models: models(people.values()),
    })
}

/// What counts of somebody who runs.
struct Person {
    role: AgentRole,
    model: String,
}

/// The agents of the company, and those of runs that have no document: they work, with what runs them.
fn people(agents: Vec<Arc<Agent>>, runs: &[(ProjectId, Arc<Run>)]) -> BTreeMap<String, Person> {
    let unnamed = |provider: &str| format!("{provider} (default)");
    let mut people = BTreeMap::new();
    for agent in agents {
        let hint = agent.model_hint.as_ref().map(ToString::to_string);
        people.insert(
            agent.id.to_string(),
            Person {
                role: agent.role,
                model: hint.unwrap_or_else(|| unnamed(&agent.provider)),
            },
        );
    }
    let mut unknown: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, run) in runs {
        if !people.contains_key(run.agent_id.as_str()) {
            let provider = unknown.entry(&run.agent_id).or_insert(&run.provider);
            *provider = (*provider).min(&run.provider);
        }
    }
    let unknown = unknown.into_iter().map(|(agent, provider)| {
        let person = Person {
            role: AgentRole::Worker,
            model: unnamed(provider),
        };
        (agent.to_owned(), person)
    });
    people.extend(unknown.collect::<Vec<_>>());
    people
}

fn models<'a>(people: impl Iterator<Item = &'a Person>) -> Vec<ResourceModel> {
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for person in people {
        *counted.entry(&person.model).or_default() += 1;
    }
    let mut models: Vec<_> = counted
        .into_iter()
        .map(|(model, agent_count)| ResourceModel {
            model: model.to_owned(),
            agent_count,
        })
        .collect();
    // Sorted by name already.
    models.sort_by_key(|model| std::cmp::Reverse(model.agent_count));
    models
}

/// Money with six decimals.
pub fn usd(amount: f64) -> f64 {
    (amount * 1e6).round() / 1e6
}
