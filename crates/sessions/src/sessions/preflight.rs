//! The checks before a session may start: the policy, the guard of the worker program, and the budgets.

use std::{collections::BTreeMap, sync::Arc};

use company::{
    Company,
    event_log::Event,
    policy::{self, Action, Actor, Decision, Resource},
};
use drivers::Driver;
use protocol::company::{
    ActorRole, RunStatus, TaskId, Visibility, session::CompanySessionLaunchParams,
};
use serde_json::json;

use super::{Inner, Sessions, lock, registry::RegisteredSession};
use crate::{
    Error,
    blocking::on_thread,
    budget::{self, Phase, Spent},
    guard::{self, ProgramCheck},
    plan::Plan,
    run_log::{RunLog, cause_of},
};

impl Sessions {
    /// Checks policy, guard and budgets, and writes their events. A failed check fails the run. On success the hard
    /// limits of the run's budget are reserved for the session, and its record is saved on the same thread; the result
    /// of saving it is returned.
    pub(super) async fn preflight(
        &self,
        params: &CompanySessionLaunchParams,
        plan: &Plan,
        run_log: &RunLog,
        actor: &Actor,
        session: &Arc<RegisteredSession>,
    ) -> Result<Result<(), company::Error>, Error> {
        let run_log = run_log.preflight();
        let decision = decide(plan, actor);
        let guarded = if decision.allowed && applies_guard(params, plan) {
            Some(check_program(plan).await)
        } else {
            None
        };
        let (inner, plan, session, actor) = (
            Arc::clone(&self.inner),
            plan.clone(),
            Arc::clone(session),
            actor.clone(),
        );
        on_thread(move || {
            let mut events = policy_events(&run_log, &plan, &actor, decision)?;
            let refuse = |mut events: Vec<Event>, error: Error, reason: &str, cause: &str| {
                let payload = json!({
                    "exit_code": null,
                    "signal": null,
                    "stopped": false,
                    "preflight": true,
                    "reason": reason,
                    "error": error.to_string(),
                    "budget_exceeded": reason == "budget_preflight_exceeded",
                });
                let mut failed = run_log.event("run.failed", &payload)?;
                failed.causation_id = cause_of(&events, cause);
                events.push(failed);
                run_log.end(&events, RunStatus::Failed, |_| {}, &[], None)?;
                Err(error)
            };
            if !decision.allowed {
                let error = company::Error::Denied {
                    action: Action::Launch.as_str(),
                    rule_id: decision.rule_id,
                    reason: decision.reason,
                    actor_id: actor.id,
                    resource_id: plan.run.to_string(),
                };
                return refuse(events, error.into(), "policy_denied", "policy.denied");
            }
            let managers = |event_type: &str, payload| {
                run_log.event_by("system", Visibility::Managers, event_type, &payload)
            };
            match guarded {
                None => {}
                Some(ProgramCheck::Passed { payload }) => {
                    events.push(managers("worker.subscription_check.passed", payload)?);
                }
                Some(ProgramCheck::Failed {
                    payload,
                    reason,
                    message,
                }) => {
                    events.push(managers("worker.subscription_check.failed", payload)?);
                    let error = Error::Unverified { reason, message };
                    return refuse(
                        events,
                        error,
                        "subscription_unverified",
                        "worker.subscription_check.failed",
                    );
                }
            }
            let checks = inner.budget_checks(&plan, &session)?;
            for (event_type, payload) in budget::events(&checks, Phase::Preflight) {
                events.push(run_log.event(event_type, &payload)?);
            }
            if budget::is_exceeded(&checks) {
                let error = Error::Budget(budget::refusal(&checks));
                return refuse(
                    events,
                    error,
                    "budget_preflight_exceeded",
                    "budget.exceeded",
                );
            }
            run_log.append(&events)?;
            if let Some(budget) = plan.budgets.run() {
                session.live.reserve(Spent {
                    tokens: budget.hard_tokens.unwrap_or(0),
                    cost_usd: budget.hard_cost_usd.unwrap_or(0.0),
                });
            }
            Ok(session.live.state().record.save(&plan.company))
        })
        .await
    }
}

impl Sessions {
    /// Checks the budgets again for a session that waited in its lane, because other sessions may have used them
    /// meanwhile. Returns the refusal if a budget is exceeded or cannot be checked.
    pub(super) async fn spent_meanwhile(
        &self,
        plan: &Arc<Plan>,
        run_log: &RunLog,
        session: &Arc<RegisteredSession>,
        has_waited: bool,
    ) -> Option<String> {
        if !has_waited {
            return None;
        }
        let inner = Arc::clone(&self.inner);
        let (plan, run_log, session) = (Arc::clone(plan), run_log.preflight(), Arc::clone(session));
        let checked = on_thread(move || {
            let checks = inner.budget_checks(&plan, &session)?;
            if !budget::is_exceeded(&checks) {
                return Ok(None);
            }
            let mut events = Vec::new();
            for (event_type, payload) in budget::events(&checks, Phase::Preflight) {
                events.push(run_log.event(event_type, &payload)?);
            }
            run_log.append(&events)?;
            Ok(Some(budget::refusal(&checks)))
        });
        match checked.await {
            Ok(refusal) => refusal,
            Err(error) => Some(error.to_string()),
        }
    }
}

impl Inner {
    /// The sum that is reserved for other sessions of the project, or, with `task`, of the task.
    fn reserved(
        &self,
        plan: &Plan,
        own: Option<&Arc<RegisteredSession>>,
        task: Option<&TaskId>,
    ) -> Spent {
        let live = lock(&self.live);
        live.values()
            .filter(|session| {
                session.company.root() == plan.company.root() && session.project == plan.project
            })
            .filter(|session| own.is_none_or(|own| !Arc::ptr_eq(own, session)))
            .filter(|session| task.is_none() || session.live.task.as_ref() == task)
            .fold(Spent::default(), |sum, session| {
                sum.plus(session.live.reserved())
            })
    }

    fn budget_checks(
        &self,
        plan: &Plan,
        own: &Arc<RegisteredSession>,
    ) -> Result<Vec<budget::Check>, company::Error> {
        self.budget_checks_but(plan, Some(own))
    }

    pub(super) fn budget_checks_but(
        &self,
        plan: &Plan,
        own: Option<&Arc<RegisteredSession>>,
    ) -> Result<Vec<budget::Check>, company::Error> {
        let reserved = |task: Option<&TaskId>| self.reserved(plan, own, task);
        plan.budgets
            .checks(&plan.company, &plan.project, Spent::default(), &reserved)
    }
}

/// The actor of a launch, a person by default. Fails if an agent of the company claims a higher role than the one in
/// its document.
pub(super) fn actor(
    company: &Company,
    params: &CompanySessionLaunchParams,
) -> Result<Actor, Error> {
    let id = params
        .actor_id
        .as_deref()
        .map_or("human", str::trim)
        .to_owned();
    let actor = Actor {
        id,
        role: params.actor_role.unwrap_or(ActorRole::Human),
        team_id: params.actor_team_id.as_ref().map(ToString::to_string),
    };
    Ok(actor.known(company)?)
}

pub(super) fn decide(plan: &Plan, actor: &Actor) -> Decision {
    let resource = Resource::run(&plan.agent, plan.team.as_deref());
    policy::decide(actor, Action::Launch, &resource)
}

fn policy_events(
    run_log: &RunLog,
    plan: &Plan,
    actor: &Actor,
    decision: Decision,
) -> Result<Vec<Event>, company::Error> {
    let Decision {
        allowed,
        rule_id,
        reason,
    } = decision;
    let visibility = Resource::run(&plan.agent, plan.team.as_deref()).visibility;
    let about = |event_type: &str, payload| {
        run_log.event_by(&actor.id, Visibility::Managers, event_type, &payload)
    };
    let mut events = vec![about(
        "policy.decision",
        json!({
            "allowed": allowed,
            "rule_id": rule_id,
            "reason": reason,
            "action": Action::Launch.as_str(),
            "resource_id": plan.run,
            "resource_kind": "run",
            "resource_visibility": visibility,
        }),
    )?];
    if !allowed {
        let mut denied = about(
            "policy.denied",
            json!({
                "action": Action::Launch.as_str(),
                "resource_id": plan.run,
                "resource_kind": "run",
                "resource_visibility": visibility,
                "policy": {"allowed": false, "rule_id": rule_id, "reason": reason},
            }),
        )?;
        denied.causation_id = cause_of(&events, "policy.decision");
        events.push(denied);
    }
    Ok(events)
}

/// Whether the guard checks the worker program: as the request states, by default if the program is a session one.
pub(super) fn applies_guard(params: &CompanySessionLaunchParams, plan: &Plan) -> bool {
    let is_known = match (&plan.driver, plan.argv.first()) {
        (_, Some(program)) => Driver::of_program(program).is_some(),
        (Driver::Codex | Driver::Claude | Driver::Gemini, None) => plan.prompt.is_some(),
        (Driver::Command | Driver::CodexAppServer | Driver::Declared(..), None) => false,
    };
    params.apply_guard.unwrap_or(is_known)
}

/// Checks the worker program of a launch with the guard.
pub(super) async fn check_program(plan: &Plan) -> ProgramCheck {
    // If the run's provider has no driver of its own, the rules of the program apply.
    let program = plan.program();
    let by_program = Driver::of_program(&program);
    let provider = match (
        &by_program,
        Driver::of_provider(&plan.provider, &BTreeMap::new()),
    ) {
        (Some(driver), Driver::Command) => driver.as_str().to_owned(),
        _ => plan.provider.clone(),
    };
    let environment = plan.environment(&BTreeMap::new());
    guard::check_program(plan.machine.as_deref(), &provider, &program, &environment).await
}
