//! The access policy: one rule table for every read and write of the company methods, and the audit of its decisions.

use std::collections::BTreeMap;

use protocol::{
    Id as _,
    company::{ActorRole, AgentId, AgentRole, EventId, ProjectId, RunId, Sensitivity, Visibility},
};
use serde_json::{Value, json};

use crate::{
    Company, Error,
    document::{Agent, PolicyOutcome},
    event_log::{self, Event, Payload},
    layout,
    org::text,
};

/// An agent or person on whose behalf a request acts.
#[derive(Clone, Debug, PartialEq)]
pub struct Actor {
    /// Id of the actor.
    pub id: String,
    /// Role of the actor.
    pub role: ActorRole,
    /// Team of the actor; `None` if it belongs to none.
    pub team_id: Option<String>,
}

impl Actor {
    /// Validates a declared actor against the company's records. An agent may not claim a higher role than its file
    /// states, and gets the team of that file if it declares none. Actors without an agent file are accepted as
    /// declared.
    pub fn known(self, company: &Company) -> Result<Self, Error> {
        let Some(agent) = agent(company, &self.id) else {
            return Ok(self);
        };
        let stored = match agent.role {
            AgentRole::Ceo => ActorRole::Ceo,
            AgentRole::Director => ActorRole::Director,
            AgentRole::Manager => ActorRole::Manager,
            AgentRole::Worker => ActorRole::Worker,
        };
        if rank(self.role) > rank(stored) {
            if let Err(error) = record_claim(company, &self, stored) {
                // A failed audit does not change the decision: the claim is rejected.
                tracing::warn!(%error, "a rejected role claim cannot be recorded");
            }
            return Err(Error::ActorMismatch {
                actor_id: self.id,
                claimed: self.role,
                stored,
            });
        }
        Ok(Self {
            team_id: self.team_id.or_else(|| agent.team_id.clone()),
            ..self
        })
    }

    /// Returns whether the actor has the role of a manager or above.
    pub fn is_manager(&self) -> bool {
        rank(self.role) >= rank(ActorRole::Manager)
    }
}

/// Appends a rejected role claim to the audit log in the agent's folder. The claim belongs to the agent and not to a
/// run.
fn record_claim(company: &Company, actor: &Actor, stored: ActorRole) -> Result<(), Error> {
    // Untrusted folders are never written to.
    let Some(agent) = AgentId::parse(&actor.id)
        .ok()
        .filter(|_| company.is_trusted())
    else {
        return Ok(());
    };
    let id: EventId = company.sources().id();
    let session_ref = format!("local_{id}");
    let line = json!({
        "schema_version": event_log::SCHEMA_VERSION,
        "ts_wallclock": company.sources().now_text(),
        "run_id": null,
        "session_ref": session_ref,
        "actor": actor.id,
        "visibility": Visibility::Managers,
        "type": "policy.denied",
        "payload": {
            "action": "claim_role",
            "resource_id": actor.id,
            "resource_kind": "agent",
            "claimed_role": actor.role,
            "stored_role": stored,
            "policy": {"allowed": false, "rule_id": "actor.stored_role", "reason": "role_above_stored_role"},
        },
        "event_id": id,
        "correlation_id": session_ref,
        "causation_id": null,
        "ts_monotonic_ms": company.uptime_ms(),
    });
    let logs = format!("{}/logs", layout::agent(&agent));
    company.make_dir(&logs)?;
    company.append_lines(
        &format!("{logs}/policy_audit.jsonl"),
        vec![line.to_string()],
    )
}

/// Rank of a role, from 0 for workers to 4 for humans.
pub fn rank(role: ActorRole) -> u8 {
    match role {
        ActorRole::Worker => 0,
        ActorRole::Manager => 1,
        ActorRole::Director => 2,
        ActorRole::Ceo => 3,
        ActorRole::Human => 4,
    }
}

fn agent(company: &Company, id: &str) -> Option<std::sync::Arc<Agent>> {
    let id = AgentId::parse(id).ok()?;
    company
        .read(&format!("{}/agent.yaml", layout::agent(&id)))
        .ok()
}

/// Returns the team of a producer, if it is an agent of the company that belongs to a team.
pub fn team_of(company: &Company, produced_by: &str) -> Option<String> {
    let is_agent = produced_by.starts_with(AgentId::PREFIX);
    is_agent
        .then(|| agent(company, produced_by)?.team_id.clone())
        .flatten()
}

/// An action that the policy decides about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Read the resource.
    Read,
    /// Approve or deny the resource.
    Approve,
    /// Launch a run or job.
    Launch,
    /// Include the resource in the context of a worker.
    ComposeContext,
}

impl Action {
    /// Name of the action in error messages.
    fn noun(self) -> &'static str {
        match self {
            Self::Approve => "approval",
            Self::Read | Self::Launch | Self::ComposeContext => self.as_str(),
        }
    }

    /// Name of the action in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Approve => "approve",
            Self::Launch => "launch",
            Self::ComposeContext => "compose_context",
        }
    }
}

/// Properties of the resource that an action applies to.
#[derive(Clone, Copy, Debug)]
pub struct Resource<'a> {
    /// Visibility of the resource; if absent, access is denied.
    pub visibility: Option<Visibility>,
    /// Team that the resource belongs to.
    pub team_id: Option<&'a str>,
    /// Actor that produced the resource. Producers may read their own resources.
    pub producing_actor_id: Option<&'a str>,
    /// Type of the document.
    pub kind: Option<&'a str>,
    /// Sensitivity of the resource; absent if it has none.
    pub sensitivity: Option<Sensitivity>,
}

impl Resource<'_> {
    /// A resource of which only the visibility is known.
    pub fn visible(visibility: impl Into<Option<Visibility>>) -> Self {
        Self {
            visibility: visibility.into(),
            team_id: None,
            producing_actor_id: None,
            kind: None,
            sensitivity: None,
        }
    }
}

impl<'a> Resource<'a> {
    /// A run of an agent. It is visible to the agent's team, or to the whole company if the agent belongs to no team.
    pub fn run(agent_id: &'a str, team_id: Option<&'a str>) -> Self {
        Self {
            team_id,
            producing_actor_id: Some(agent_id),
            kind: Some("run"),
            ..Self::visible(match team_id {
                Some(_) => Visibility::Team,
                None => Visibility::Org,
            })
        }
    }
}

/// Returns a function that decides by agent id whether `actor` may see the agent's runs, like [`see_run`]. Without an
/// actor, all runs are visible. Decisions are cached per agent.
pub fn run_viewer(company: &Company, actor: Option<&Actor>) -> impl FnMut(Option<&str>) -> bool {
    let mut known = BTreeMap::new();
    move |agent| {
        let Some(actor) = actor else {
            return true;
        };
        let agent = agent.map(ToOwned::to_owned);
        *known
            .entry(agent)
            .or_insert_with_key(|agent| see_run(company, actor, agent.as_deref()).allowed)
    }
}

/// Decides whether an actor may see a run of an agent. Runs of unknown agents are visible to managers only.
pub fn see_run(company: &Company, actor: &Actor, agent: Option<&str>) -> Decision {
    let Some(agent) = agent else {
        return decide(
            actor,
            Action::Read,
            &Resource::visible(Visibility::Managers),
        );
    };
    let team = team_of(company, agent);
    decide(actor, Action::Read, &Resource::run(agent, team.as_deref()))
}

/// A policy decision with the rule it is based on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Whether the action is permitted.
    pub allowed: bool,
    /// Id of the rule that decided.
    pub rule_id: &'static str,
    /// Reason code.
    pub reason: &'static str,
}

impl Decision {
    /// The decision as stored in reviews and events.
    pub fn outcome(&self) -> PolicyOutcome {
        PolicyOutcome {
            allowed: self.allowed,
            rule_id: text(self.rule_id),
            reason: text(self.reason),
        }
    }
}

/// Decides by the first rule that matches.
pub fn decide(actor: &Actor, action: Action, resource: &Resource<'_>) -> Decision {
    let is_director = rank(actor.role) >= rank(ActorRole::Director);
    let is_manager = actor.is_manager();
    let allow = |rule_id, reason| Decision {
        allowed: true,
        rule_id,
        reason,
    };
    let deny = |rule_id, reason| Decision {
        allowed: false,
        rule_id,
        reason,
    };
    let is_delta = resource.kind == Some("memory_delta");
    let is_restricted = resource.sensitivity == Some(Sensitivity::Restricted);
    match action {
        Action::ComposeContext if is_restricted && !is_director => {
            return deny(
                "compose.sensitivity.restricted",
                "restricted_requires_director",
            );
        }
        Action::Read if is_delta && is_restricted && !is_director => {
            return deny(
                "read.sensitivity.restricted",
                "restricted_requires_director",
            );
        }
        Action::Approve if is_delta && !is_director => {
            return deny("approve.memory.role", "role_not_allowed");
        }
        Action::Approve if !is_manager => return deny("approve.role", "role_not_allowed"),
        Action::Read | Action::Approve | Action::Launch | Action::ComposeContext => {}
    }
    let is_producer = !actor.id.is_empty() && resource.producing_actor_id == Some(&*actor.id);
    // Producers may read what they produced.
    let or_owner = |denied: Decision| {
        if action == Action::Read && is_producer {
            allow("vis.owner", "owner")
        } else {
            denied
        }
    };
    match resource.visibility {
        None => deny("vis.unknown", "visibility_unknown"),
        Some(Visibility::Org) => allow("vis.org", "org_visible"),
        Some(Visibility::Managers) if is_manager => allow("vis.managers", "manager_visible"),
        Some(Visibility::Managers) => or_owner(deny("vis.managers", "role_not_allowed")),
        Some(Visibility::Team) if is_manager => {
            allow("vis.team.manager_override", "manager_override")
        }
        Some(Visibility::Team) => {
            let team = actor.team_id.as_deref().filter(|team| !team.is_empty());
            if team.is_some() && team == resource.team_id {
                allow("vis.team.same_team", "same_team")
            } else {
                or_owner(deny("vis.team.mismatch", "team_mismatch"))
            }
        }
        Some(Visibility::PrivateAgent) if actor.role == ActorRole::Human => {
            allow("vis.private.human", "human_override")
        }
        Some(Visibility::PrivateAgent) => {
            if is_producer {
                allow("vis.private.owner", "owner")
            } else {
                deny("vis.private.owner", "not_owner")
            }
        }
    }
}

/// Subject of a decision, as recorded in the audit.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Project that the resource belongs to.
    pub project: &'a ProjectId,
    /// Run whose log records the decision; decisions without a run are not recorded.
    pub run: Option<&'a str>,
    /// Id of the document, run or action.
    pub resource_id: &'a str,
    /// Properties that the rules evaluate.
    pub resource: Resource<'a>,
}

/// Decides, records the decision, and returns an error if the action is denied. Every read, approval and launch calls
/// this first.
pub fn check(
    company: &Company,
    actor: &Actor,
    action: Action,
    subject: &Subject<'_>,
) -> Result<Decision, Error> {
    let decision = decide(actor, action, &subject.resource);
    if let Err(error) = record(company, actor, action, subject, &decision) {
        // A failed audit does not change the decision.
        tracing::warn!(%error, "a policy decision cannot be recorded");
    }
    allowed(actor, action, subject, decision)
}

/// Decides without recording and returns an error if the action is denied. Used to show an actor in advance what it may
/// do.
pub(crate) fn require(actor: &Actor, action: Action, subject: &Subject<'_>) -> Result<(), Error> {
    let decision = decide(actor, action, &subject.resource);
    allowed(actor, action, subject, decision).map(drop)
}

fn allowed(
    actor: &Actor,
    action: Action,
    subject: &Subject<'_>,
    decision: Decision,
) -> Result<Decision, Error> {
    if decision.allowed {
        Ok(decision)
    } else {
        Err(Error::Denied {
            action: action.noun(),
            rule_id: decision.rule_id,
            reason: decision.reason,
            actor_id: actor.id.clone(),
            resource_id: subject.resource_id.to_owned(),
        })
    }
}

/// Returns whether a decision is recorded in the log of its run. A human who reads something does not affect the run,
/// so such reads go to the project's audit log.
fn belongs_to_run(actor: &Actor, action: Action, decision: &Decision) -> bool {
    let is_human_read =
        action == Action::Read && decision.allowed && actor.role == ActorRole::Human;
    !is_human_read
}

/// Records a decision in the log of its run, or in the project's audit log if the run does not exist or a human only
/// read the resource.
fn record(
    company: &Company,
    actor: &Actor,
    action: Action,
    subject: &Subject<'_>,
    decision: &Decision,
) -> Result<(), Error> {
    let run = subject.run.and_then(|run| RunId::parse(run).ok());
    // Untrusted folders are never written to.
    let Some(run) = run.filter(|_| company.is_trusted()) else {
        return Ok(());
    };
    let Decision {
        allowed,
        rule_id,
        reason,
    } = decision;
    let Resource {
        kind, visibility, ..
    } = subject.resource;
    let mut payloads = vec![(
        "policy.decision",
        json!({
            "allowed": allowed,
            "rule_id": rule_id,
            "reason": reason,
            "action": action.as_str(),
            "resource_id": subject.resource_id,
            "resource_kind": kind,
            "resource_visibility": visibility,
        }),
    )];
    if !decision.allowed {
        payloads.push((
            "policy.denied",
            json!({
                "action": action.as_str(),
                "resource_id": subject.resource_id,
                "resource_kind": kind,
                "resource_visibility": visibility,
                "policy": {"allowed": allowed, "rule_id": rule_id, "reason": reason},
            }),
        ));
    }
    let events: Vec<Event> = payloads
        .iter()
        .map(|(event_type, payload)| managers_event(company, &run, &actor.id, event_type, payload))
        .collect::<Result<_, _>>()?;
    let folder = layout::run(subject.project, &run);
    let has_run = company.path(&format!("{folder}/run.yaml")).is_file();
    if has_run && belongs_to_run(actor, action, decision) {
        return company.append_events(subject.project, &run, &events);
    }
    audit(company, subject.project, &events)
}

/// Appends events to the project's audit log: those of runs without a log, and those that do not belong into it.
pub(crate) fn audit(company: &Company, project: &ProjectId, events: &[Event]) -> Result<(), Error> {
    let logs = format!("{}/logs", layout::project(project));
    if !company.path(&layout::project(project)).is_dir() {
        return Ok(());
    }
    company.make_dir(&logs)?;
    let lines = events.iter().map(event_log::loose_line).collect();
    company.append_lines(&format!("{logs}/policy_audit.jsonl"), lines)
}

/// Creates an event with visibility `managers` in the default session of a run.
pub(crate) fn managers_event(
    company: &Company,
    run: &RunId,
    actor: &str,
    event_type: &str,
    payload: &Value,
) -> Result<Event, Error> {
    let session_ref = format!("local_{run}");
    Ok(Event {
        ts_wallclock: company.sources().now_text(),
        run_id: run.clone(),
        session_ref: session_ref.clone(),
        actor: actor.to_owned(),
        visibility: Visibility::Managers,
        event_type: event_type.to_owned(),
        payload: Payload::new(payload)?,
        event_id: company.sources().id(),
        correlation_id: Some(session_ref),
        causation_id: None,
        ts_monotonic_ms: company.uptime_ms(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(role: ActorRole, action: Action, resource: Resource<'_>, expected: &str) {
        let actor = Actor {
            id: "me".to_owned(),
            role,
            team_id: Some("team_1".to_owned()),
        };
        let Decision {
            allowed,
            rule_id,
            reason,
        } = decide(&actor, action, &resource);
        let shown = format!(
            "{} {rule_id} {reason}",
            if allowed { "allow" } else { "deny" }
        );
        assert_eq!(shown, expected, "{role} {action:?} {resource:?}");
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        use Action::{Approve, ComposeContext, Read};
        use ActorRole::{Ceo, Director, Human, Manager, Worker};
        let org = Resource::visible(Visibility::Org);
        let managers = Resource::visible(Visibility::Managers);
        let team = Resource {
            team_id: Some("team_1"),
            ..Resource::visible(Visibility::Team)
        };
        let other_team = Resource {
            team_id: Some("team_2"),
            ..team
        };
        let mine = Resource {
            producing_actor_id: Some("me"),
            ..Resource::visible(Visibility::PrivateAgent)
        };
        let private = Resource::visible(Visibility::PrivateAgent);
        let delta = Resource {
            kind: Some("memory_delta"),
            ..org
        };
        let restricted = Resource {
            sensitivity: Some(Sensitivity::Restricted),
            ..org
        };
        check(
            Manager,
            ComposeContext,
            restricted,
            "deny compose.sensitivity.restricted restricted_requires_director",
        );
        check(
            Director,
            ComposeContext,
            restricted,
            "allow vis.org org_visible",
        );
        check(Worker, Read, restricted, "allow vis.org org_visible");
        check(
            Manager,
            Read,
            Resource {
                kind: Some("memory_delta"),
                ..restricted
            },
            "deny read.sensitivity.restricted restricted_requires_director",
        );
        check(
            Human,
            Read,
            Resource::visible(None),
            "deny vis.unknown visibility_unknown",
        );
        for visibility in [Visibility::Managers, Visibility::Team] {
            let made_by_me = Resource {
                producing_actor_id: Some("me"),
                ..Resource::visible(visibility)
            };
            check(Worker, Read, made_by_me, "allow vis.owner owner");
        }
        check(
            Manager,
            Approve,
            delta,
            "deny approve.memory.role role_not_allowed",
        );
        check(Ceo, Approve, delta, "allow vis.org org_visible");
        check(Worker, Approve, org, "deny approve.role role_not_allowed");
        check(
            Manager,
            Read,
            managers,
            "allow vis.managers manager_visible",
        );
        check(Worker, Read, managers, "deny vis.managers role_not_allowed");
        check(
            Manager,
            Read,
            other_team,
            "allow vis.team.manager_override manager_override",
        );
        check(Worker, Read, team, "allow vis.team.same_team same_team");
        check(
            Worker,
            Read,
            other_team,
            "deny vis.team.mismatch team_mismatch",
        );
        check(
            Human,
            Read,
            private,
            "allow vis.private.human human_override",
        );
        check(Worker, Read, mine, "allow vis.private.owner owner");
        check(Ceo, Read, private, "deny vis.private.owner not_owner");
    }
}
