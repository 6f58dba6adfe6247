//! Recommends an agent for each task, by workload, suitability and earlier results.

use std::{cmp::Ordering, collections::BTreeMap};

use protocol::company::{
    AgentRole, MilestoneKind, ProjectId, RunStatus, TaskStatus, pm::Recommendation, task::Task,
};

use super::duration_days;
use crate::{
    document::{Agent, Run},
    execution::run::{self, Activity, LiveRuns},
    format::collation,
    org::defaults,
};

/// Providers for tasks without any available agent, best first.
const FALLBACK_PROVIDERS: [&str; 3] = ["codex", "claude", "gemini"];
/// Minimum token budget, unless the task's own budget is lower.
const MIN_TOKENS: u64 = 4000;
const TOKENS_PER_DAY: u64 = 6000;
const TOKENS_PER_MILESTONE: u64 = 3000;
const TOKENS_FOR_CODE: u64 = 6000;
/// Words in a title that indicate a coding task.
const CODE_WORDS: [&str; 7] = [
    "build",
    "implement",
    "refactor",
    "code",
    "fix",
    "ship",
    "rewrite",
];

/// State and capabilities of a provider on this machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Provider {
    /// Whether it can be started.
    pub is_available: bool,
    /// Whether it exports its changes as patches.
    pub exports_patches: bool,
    /// Whether it can work in an isolated worktree.
    pub isolates: bool,
}

/// Statistics of each agent, from the runs of a project.
#[derive(Clone, Debug, Default)]
pub struct Records(BTreeMap<String, Record>);

#[derive(Clone, Copy, Debug, Default)]
struct Record {
    running: u64,
    ended: u64,
    failed: u64,
}

impl Records {
    /// Counts a run.
    pub fn add(&mut self, run: &Run, live: &LiveRuns, now_ms: i64) {
        let record = self.0.entry(run.agent_id.to_string()).or_default();
        match run::activity(run, live, now_ms) {
            Activity::Active => record.running += 1,
            // A recently created run is probably about to be started.
            Activity::Idle => record.running += u64::from(run::is_recent(run, now_ms)),
            Activity::Stale => {}
            Activity::Over => match run.status {
                RunStatus::Ended => record.ended += 1,
                RunStatus::Failed => record.failed += 1,
                // A stopped run allows no conclusion about the agent.
                RunStatus::Stopped | RunStatus::Running => {}
            },
        }
    }

    fn of(&self, agent: &str) -> Record {
        self.0.get(agent).copied().unwrap_or_default()
    }
}

impl Record {
    /// Share of finished runs that failed.
    fn failures(self) -> f64 {
        match self.ended + self.failed {
            0 => 0.0,
            finished => self.failed as f64 / finished as f64,
        }
    }
}

/// Agents and data from which recommendations are computed.
pub struct Staff<'a> {
    /// Project of the tasks.
    pub project: &'a ProjectId,
    /// All agents of the company.
    pub agents: Vec<&'a Agent>,
    /// Statistics of the agents in this project.
    pub records: Records,
    /// Returns the state of a provider; `None` for providers without a driver.
    pub providers: &'a dyn Fn(&str) -> Option<Provider>,
}

impl std::fmt::Debug for Staff<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Staff")
            .field("project", self.project)
            .finish_non_exhaustive()
    }
}

/// An agent evaluated for a task.
struct AgentCandidate<'a> {
    agent: &'a Agent,
    open_tasks: u64,
    record: Record,
    /// Reasons against the agent, as parts of the rationale.
    misfits: Vec<&'static str>,
    is_available: bool,
}

impl AgentCandidate<'_> {
    /// Load of the agent: each open task, running run and misfit counts one; failures count by their share.
    fn load(&self) -> f64 {
        let work = self.open_tasks + self.record.running + self.misfits.len() as u64;
        work as f64 + self.record.failures()
    }

    fn compare(&self, other: &Self) -> Ordering {
        other
            .is_available
            .cmp(&self.is_available)
            .then_with(|| self.load().total_cmp(&other.load()))
            .then_with(|| collation::compare(&self.agent.name, &other.agent.name))
            .then_with(|| self.agent.id.cmp(&other.agent.id))
    }

    fn reasons(&self) -> Vec<String> {
        let counted = |count: u64, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        let mut reasons = vec![format!(
            "{} and {} at the moment",
            counted(self.open_tasks, "open task"),
            counted(self.record.running, "running run")
        )];
        let finished = self.record.ended + self.record.failed;
        if finished > 0 {
            let ended = self.record.ended;
            reasons.push(format!(
                "{ended} of {} succeeded",
                counted(finished, "finished run")
            ));
        }
        reasons.extend(
            self.misfits
                .iter()
                .map(|misfit| format!("although {misfit}")),
        );
        if !self.is_available {
            reasons.push(format!(
                "although provider `{}` cannot be started on this machine",
                self.agent.provider
            ));
        }
        reasons
    }
}

impl Staff<'_> {
    /// Returns one recommendation for each task that is neither done nor canceled, in the order of the tasks.
    pub fn recommend(&self, tasks: &[&Task]) -> Vec<Recommendation> {
        let open: Vec<&Task> = tasks.iter().copied().filter(|task| is_open(task)).collect();
        let mut open_tasks: BTreeMap<String, u64> = BTreeMap::new();
        for assignee in open
            .iter()
            .filter_map(|task| task.assignee_agent_id.as_ref())
        {
            *open_tasks.entry(assignee.to_string()).or_default() += 1;
        }
        let recommended = open.iter().map(|task| {
            let (chosen, mut reasons) = self.choose(task, &open_tasks);
            let Some(chosen) = chosen else {
                return self.fallback(task);
            };
            let agent = chosen.agent;
            // A task assigned to the agent is already among its open tasks.
            if task.assignee_agent_id.as_ref() != Some(&agent.id) {
                *open_tasks.entry(agent.id.to_string()).or_default() += 1;
            }
            reasons.extend(chosen.reasons());
            let (tokens, limited) = token_budget(task);
            reasons.extend(limited);
            Recommendation {
                task_id: task.id.to_string(),
                preferred_provider: agent.provider.to_string(),
                preferred_model: agent.model_hint.as_deref().map(ToOwned::to_owned),
                preferred_agent_id: Some(agent.id.to_string()),
                token_budget_hint: tokens,
                rationale: format!("Selected {}: {}.", agent.name, reasons.join(", ")),
                reasons,
            }
        });
        recommended.collect()
    }

    /// Returns the assignee, else the best agent of the team, else the best of all agents; and the reasons for that
    /// preselection.
    fn choose(
        &self,
        task: &Task,
        open_tasks: &BTreeMap<String, u64>,
    ) -> (Option<AgentCandidate<'_>>, Vec<String>) {
        let mut reasons = Vec::new();
        if let Some(assignee) = &task.assignee_agent_id {
            let found = self.agents.iter().find(|agent| agent.id == *assignee);
            if let Some(agent) = found {
                reasons.push("the task is assigned to it".to_owned());
                return (Some(self.candidate(agent, task, open_tasks)), reasons);
            }
            reasons.push(format!("the assignee `{assignee}` does not exist"));
        }
        let eligible: Vec<&Agent> = self
            .agents
            .iter()
            .copied()
            .filter(|agent| self.is_eligible(agent))
            .collect();
        let in_team: Vec<&Agent> = match task.team_id.as_deref() {
            Some(team) => eligible
                .iter()
                .copied()
                .filter(|agent| agent.team_id.as_deref() == Some(team))
                .collect(),
            None => Vec::new(),
        };
        let pool = match (task.team_id.is_some(), in_team.is_empty()) {
            (true, false) => {
                reasons.push("it belongs to the task's team".to_owned());
                in_team
            }
            (true, true) => {
                reasons.push("the task's team has no worker or manager".to_owned());
                eligible
            }
            (false, _) => eligible,
        };
        let candidates = pool
            .into_iter()
            .map(|agent| self.candidate(agent, task, open_tasks));
        (candidates.min_by(AgentCandidate::compare), reasons)
    }

    /// Returns whether an agent is eligible: workers and managers, except secretaries of other projects.
    fn is_eligible(&self, agent: &Agent) -> bool {
        let is_foreign_secretary = is_secretary(agent) && !self.is_our_secretary(agent);
        match agent.role {
            AgentRole::Worker | AgentRole::Manager => !is_foreign_secretary,
            AgentRole::Ceo | AgentRole::Director => false,
        }
    }

    fn is_our_secretary(&self, agent: &Agent) -> bool {
        agent.id.strip_prefix(defaults::SECRETARY) == Some(self.project.as_str())
    }

    fn candidate<'a>(
        &self,
        agent: &'a Agent,
        task: &Task,
        open_tasks: &BTreeMap<String, u64>,
    ) -> AgentCandidate<'a> {
        let provider = (self.providers)(&agent.provider);
        let needs_code = task
            .milestones
            .iter()
            .any(|milestone| milestone.kind == MilestoneKind::Coding);
        let needs_patch = task
            .milestones
            .iter()
            .filter_map(|milestone| milestone.evidence.as_ref())
            .any(|evidence| evidence.requires_patch);
        let needs_worktree = task
            .scope
            .as_ref()
            .is_some_and(|scope| scope.requires_worktree_isolation == Some(true));
        let misfits = [
            (
                needs_code && agent.role != AgentRole::Worker,
                "it is not a worker",
            ),
            (
                agent.id.as_str() == defaults::GLOBAL_MANAGER || is_secretary(agent),
                "it has other duties",
            ),
            (
                needs_patch && provider.is_some_and(|provider| !provider.exports_patches),
                "its provider does not export patches",
            ),
            (
                needs_worktree && provider.is_some_and(|provider| !provider.isolates),
                "its provider cannot work in an isolated worktree",
            ),
        ];
        AgentCandidate {
            agent,
            open_tasks: open_tasks.get(agent.id.as_str()).copied().unwrap_or(0),
            record: self.records.of(&agent.id),
            misfits: misfits
                .into_iter()
                .filter(|(is_misfit, _)| *is_misfit)
                .map(|(_, misfit)| misfit)
                .collect(),
            is_available: provider.is_none_or(|provider| provider.is_available),
        }
    }

    fn fallback(&self, task: &Task) -> Recommendation {
        let is_available =
            |name: &&str| (self.providers)(name).is_some_and(|provider| provider.is_available);
        let mut names = FALLBACK_PROVIDERS.iter().copied();
        let provider = names.find(is_available).unwrap_or(FALLBACK_PROVIDERS[0]);
        let (tokens, limited) = token_budget(task);
        let mut reasons = vec![format!(
            "there is no worker or manager, so provider `{provider}` is used without an agent"
        )];
        reasons.extend(limited);
        Recommendation {
            task_id: task.id.to_string(),
            preferred_provider: provider.to_owned(),
            preferred_model: None,
            preferred_agent_id: None,
            token_budget_hint: tokens,
            rationale: format!("Selected no agent: {}.", reasons.join(", ")),
            reasons,
        }
    }
}

fn is_secretary(agent: &Agent) -> bool {
    agent.id.starts_with(defaults::SECRETARY)
}

fn is_open(task: &Task) -> bool {
    match task.status {
        TaskStatus::Draft | TaskStatus::Ready | TaskStatus::InProgress | TaskStatus::Blocked => {
            true
        }
        TaskStatus::Done | TaskStatus::Canceled => false,
    }
}

/// Estimates the tokens that a task needs, and returns the reason if its budget limits them.
fn token_budget(task: &Task) -> (u64, Option<String>) {
    /// Largest integer that every JSON parser represents exactly.
    const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
    let title = task.title.to_lowercase();
    let is_code = CODE_WORDS.iter().any(|word| title.contains(word));
    let days = TOKENS_PER_DAY.saturating_mul(duration_days(task));
    let milestones = TOKENS_PER_MILESTONE.saturating_mul(task.milestones.len() as u64);
    let code = if is_code { TOKENS_FOR_CODE } else { 0 };
    let tokens = days.saturating_add(milestones).saturating_add(code);
    let tokens = tokens.clamp(MIN_TOKENS, MAX_SAFE_INTEGER);
    match task.budget.as_ref().and_then(|budget| budget.hard_tokens) {
        Some(hard) if hard < tokens => (
            hard,
            Some(format!(
                "the budget of the task is limited to {hard} tokens"
            )),
        ),
        _ => (tokens, None),
    }
}
