//! Budgets: compares the usage of runs, projects and tasks with their limits.

use company::{Company, Error, document::Project, layout};
use protocol::company::{
    Budget, ProjectId, TaskId, session::CompanySessionBudgetCheck, task::Task,
};
use serde::Serialize;
use serde_json::{Value, json};

/// An amount of usage: tokens and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Number of tokens.
    pub tokens: u64,
    /// Cost in US dollars.
    pub cost_usd: f64,
}

impl Spent {
    /// Returns the sum of two amounts.
    pub fn plus(self, more: Self) -> Self {
        Self {
            tokens: self.tokens + more.tokens,
            cost_usd: self.cost_usd + more.cost_usd,
        }
    }
}

/// The time at which budgets are checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    /// Before the session starts.
    Preflight,
    /// While the session runs.
    Live,
    /// After the session has ended.
    Completion,
}

/// The comparison of one limit with the usage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// `run`, `project` or `task`.
    pub scope: &'static str,
    /// `cost_usd` or `tokens`.
    pub metric: &'static str,
    /// `soft` or `hard`.
    pub severity: &'static str,
    /// The limit, in the unit of `metric`.
    pub threshold: f64,
    /// The usage, in the unit of `metric`.
    pub actual: f64,
    /// `ok`, `alert` or `exceeded`.
    pub result: &'static str,
}

impl Check {
    fn is_exceeded(&self) -> bool {
        self.result == "exceeded"
    }

    fn payload(&self, phase: Phase, with_result: bool) -> Value {
        let mut payload = json!({
            "scope": self.scope,
            "metric": self.metric,
            "severity": self.severity,
            "threshold": self.threshold,
            "actual": self.actual,
        });
        if with_result {
            payload["result"] = self.result.into();
        }
        match phase {
            Phase::Preflight => payload["phase"] = "preflight".into(),
            Phase::Live => payload["phase"] = "live".into(),
            Phase::Completion => {}
        }
        payload
    }

    pub(crate) fn row(&self) -> CompanySessionBudgetCheck {
        CompanySessionBudgetCheck {
            scope: self.scope.to_owned(),
            metric: self.metric.to_owned(),
            severity: self.severity.to_owned(),
            threshold: self.threshold,
            actual: self.actual,
            result: self.result.to_owned(),
        }
    }
}

/// Compares the usage with each limit of a budget, in the order of the events. Usage that equals a limit exceeds it.
pub fn checks(scope: &'static str, budget: &Budget, spent: Spent) -> Vec<Check> {
    #[expect(clippy::cast_precision_loss, reason = "limits are far below 2^53")]
    let limits = [
        ("cost_usd", "soft", budget.soft_cost_usd, spent.cost_usd),
        ("cost_usd", "hard", budget.hard_cost_usd, spent.cost_usd),
        (
            "tokens",
            "soft",
            budget.soft_tokens.map(|limit| limit as f64),
            spent.tokens as f64,
        ),
        (
            "tokens",
            "hard",
            budget.hard_tokens.map(|limit| limit as f64),
            spent.tokens as f64,
        ),
    ];
    let check = |(metric, severity, threshold, actual): (_, _, Option<f64>, f64)| {
        let threshold = threshold?;
        // Rounding removes the error of binary fractions, so that 0.1 + 0.2 reaches a limit of 0.3 exactly.
        let actual = (actual * 1e9).round() / 1e9;
        Some(Check {
            scope,
            metric,
            severity,
            threshold,
            actual,
            result: match (actual >= threshold, severity) {
                (false, _) => "ok",
                (true, "hard") => "exceeded",
                (true, _) => "alert",
            },
        })
    };
    limits.into_iter().filter_map(check).collect()
}

/// Whether at least one hard limit is reached.
pub fn is_exceeded(checks: &[Check]) -> bool {
    checks.iter().any(Check::is_exceeded)
}

/// The events about checks, as type and payload: all decisions, then the alerts, then the exceeded limits.
pub fn events(checks: &[Check], phase: Phase) -> Vec<(&'static str, Value)> {
    let decisions = checks
        .iter()
        .map(|check| ("budget.decision", check.payload(phase, true)));
    let alerts = checks.iter().filter(|check| check.result == "alert");
    let alerts = alerts.map(|check| ("budget.alert", check.payload(phase, false)));
    let exceeded = checks.iter().filter(|check| check.is_exceeded());
    let exceeded = exceeded.map(|check| ("budget.exceeded", check.payload(phase, false)));
    decisions.chain(alerts).chain(exceeded).collect()
}

/// The error message of a launch whose budgets are exceeded.
pub fn refusal(checks: &[Check]) -> String {
    let number = |number: f64| {
        serde_json::Number::from_f64(number).map_or_else(
            || number.to_string(),
            |printed| {
                let printed = printed.to_string();
                printed.strip_suffix(".0").unwrap_or(&printed).to_owned()
            },
        )
    };
    let reasons = checks
        .iter()
        .filter(|check| check.is_exceeded())
        .map(|check| {
            format!(
                "{}.{}.{}: actual={} threshold={}",
                check.scope,
                check.metric,
                check.severity,
                number(check.actual),
                number(check.threshold)
            )
        });
    format!(
        "Budget preflight blocked launch: {}",
        reasons.collect::<Vec<_>>().join("; ")
    )
}

/// The budgets that apply to a run: its own, its project's and its task's.
#[derive(Clone, Debug, Default)]
pub struct Budgets {
    run: Option<Budget>,
    project: Option<Budget>,
    task: Option<(TaskId, Budget)>,
}

impl Budgets {
    /// Reads the budgets that apply to a run. A document that cannot be read sets no limit.
    pub fn of(
        company: &Company,
        project: &ProjectId,
        run: Option<Budget>,
        task: Option<&TaskId>,
    ) -> Self {
        let document =
            company.read::<Project>(&format!("{}/project.yaml", layout::project(project)));
        let task = task.and_then(|task| {
            let document = company
                .read_markdown::<Task>(&layout::task(project, task))
                .ok()?;
            Some((task.clone(), document.head.budget.clone()?))
        });
        Self {
            run,
            project: document.ok().and_then(|project| project.budget.clone()),
            task,
        }
    }

    /// The budget of the run itself. `None` if it has none.
    pub fn run(&self) -> Option<&Budget> {
        self.run.as_ref()
    }

    /// Whether there is a budget that also counts the usage of other runs.
    fn needs_totals(&self) -> bool {
        self.project.is_some() || self.task.is_some()
    }

    /// Checks all budgets: the run's against `spent`, those of project and task against the usage of all their runs
    /// plus the amount that `reserved` returns for the project (`None`) or the task.
    pub fn checks(
        &self,
        company: &Company,
        project: &ProjectId,
        spent: Spent,
        reserved: &dyn Fn(Option<&TaskId>) -> Spent,
    ) -> Result<Vec<Check>, Error> {
        let mut found = Vec::new();
        if let Some(budget) = &self.run {
            found.extend(checks("run", budget, spent));
        }
        if !self.needs_totals() {
            return Ok(found);
        }
        let runs = company::execution::run::runs(company, Some(project))?;
        let total = |task: Option<&TaskId>| {
            let of_task = |run: &company::document::Run| match task {
                Some(task) => {
                    run.spec.as_ref().and_then(|spec| spec.task_id()) == Some(task.as_str())
                }
                None => true,
            };
            let used = runs
                .iter()
                .filter(|(_, run)| of_task(run))
                .filter_map(|(_, run)| run.usage.as_ref())
                .fold(Spent::default(), |sum, usage| {
                    sum.plus(Spent {
                        tokens: usage.total_tokens,
                        cost_usd: usage.cost_usd.unwrap_or(0.0),
                    })
                });
            used.plus(reserved(task))
        };
        if let Some(budget) = &self.project {
            found.extend(checks("project", budget, total(None)));
        }
        if let Some((task, budget)) = &self.task {
            found.extend(checks("task", budget, total(Some(task))));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(budget: &Budget, tokens: u64, cost_usd: f64) -> Vec<String> {
        checks("run", budget, Spent { tokens, cost_usd })
            .iter()
            .map(|check| format!("{}.{}={}", check.metric, check.severity, check.result))
            .collect()
    }

    #[test]
    fn a_limit_that_is_reached_is_exceeded() {
        let budget = Budget {
            soft_cost_usd: Some(0.5),
            hard_cost_usd: None,
            soft_tokens: Some(10),
            hard_tokens: Some(20),
        };
        assert_eq!(
            shown(&budget, 9, 0.5),
            ["cost_usd.soft=alert", "tokens.soft=ok", "tokens.hard=ok"]
        );
        assert_eq!(
            shown(&budget, 20, 0.4),
            [
                "cost_usd.soft=ok",
                "tokens.soft=alert",
                "tokens.hard=exceeded"
            ]
        );
    }

    #[test]
    fn sums_of_costs_are_rounded() {
        let budget = Budget {
            hard_cost_usd: Some(0.3),
            ..Budget::default()
        };
        let part = |cost_usd| Spent {
            tokens: 0,
            cost_usd,
        };
        let found = checks("run", &budget, part(0.1).plus(part(0.2)));
        assert_eq!(
            refusal(&found),
            "Budget preflight blocked launch: run.cost_usd.hard: actual=0.3 threshold=0.3"
        );
    }

    #[test]
    fn a_hard_limit_of_nothing_always_blocks() {
        let budget = Budget {
            hard_tokens: Some(0),
            ..Budget::default()
        };
        let found = checks("run", &budget, Spent::default());
        assert!(is_exceeded(&found));
        assert_eq!(
            refusal(&found),
            "Budget preflight blocked launch: run.tokens.hard: actual=0 threshold=0"
        );
    }

    #[test]
    fn decisions_come_before_alerts_and_alerts_before_what_is_exceeded() {
        let budget = Budget {
            soft_tokens: Some(1),
            hard_tokens: Some(2),
            ..Budget::default()
        };
        let found = checks(
            "run",
            &budget,
            Spent {
                tokens: 2,
                cost_usd: 0.0,
            },
        );
        let types: Vec<_> = events(&found, Phase::Live)
            .iter()
            .map(|(event_type, payload)| format!("{event_type} {}", payload["phase"]))
            .collect();
        assert_eq!(
            types,
            [
                "budget.decision \"live\"",
                "budget.decision \"live\"",
                "budget.alert \"live\"",
                "budget.exceeded \"live\""
            ]
        );
    }
}
