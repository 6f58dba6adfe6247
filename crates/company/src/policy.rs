//! Who may do what: one table for every read and write of the company family, and the record of what it decided.

use std::collections::BTreeMap;

use protocol::{
    Id as _,
    company::{ActorRole, AgentId, AgentRole, EventId, ProjectId, RunId, Sensitivity, Visibility},
};
use serde_json::{Value, json};

use crate::{
    Company, Error,
    document::{Agent, PolicyOutcome},
    event::{self, Event, Payload},
    layout,
    org::text,
};

/// Somebody who acts.
#[derive(Clone, Debug, PartialEq)]
pub struct Actor {
    /// Their id.
    pub id: String,
    /// What they are.
    pub role: ActorRole,
    /// Their team.
    pub team_id: Option<String>,
}

impl Actor {
    /// Holds what a caller says of an actor against what the company knows of them. An agent is at most what its
    /// file says and belongs to that file's team if none is given; anybody else is what they say.
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
                // The claim is refused all the same.
                tracing::warn!(%error, "a role claim was not recorded");
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

    /// Whether they lead.
    pub fn is_manager(&self) -> bool {
        rank(self.role) >= rank(ActorRole::Manager)
    }
}

/// Tells the log beside the agent's documents that a call claimed a higher role than the agent has. There is no run to
/// tell: a claim belongs to the agent.
fn record_claim(company: &Company, actor: &Actor, stored: ActorRole) -> Result<(), Error> {
    // Nothing is written in a folder that nobody trusts.
    let Some(agent) = AgentId::parse(&actor.id)
        .ok()
        .filter(|_| company.is_trusted())
    else {
        return Ok(());
    };
    let id: EventId = company.sources().id();
    let session_ref = format!("local_{id}");
    let line = json!({
        "schema_version": event::SCHEMA_VERSION,
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

/// How high a role is, from 0.
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

/// The team of whoever made something, if they are an agent of the company.
pub fn team_of(company: &Company, produced_by: &str) -> Option<String> {
    let is_agent = produced_by.starts_with(AgentId::PREFIX);
    is_agent
        .then(|| agent(company, produced_by)?.team_id.clone())
        .flatten()
}

/// What somebody wants to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// See it.
    Read,
    /// Decide about it.
    Approve,
    /// Start it.
    Launch,
    /// Give it to a worker to know.
    ComposeContext,
}

impl Action {
    /// What it is called in sentences.
    fn noun(self) -> &'static str {
        match self {
            Self::Approve => "approval",
            Self::Read | Self::Launch | Self::ComposeContext => self.as_str(),
        }
    }

    /// The word in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Approve => "approve",
            Self::Launch => "launch",
            Self::ComposeContext => "compose_context",
        }
    }
}

/// What it is done to.
#[derive(Clone, Copy, Debug)]
pub struct Resource<'a> {
    /// Who may see it; nobody, if it does not say.
    pub visibility: Option<Visibility>,
    /// The team it belongs to.
    pub team_id: Option<&'a str>,
    /// Who made it.
    pub producing_actor_id: Option<&'a str>,
    /// The type of the document.
    pub kind: Option<&'a str>,
    /// How secret it is.
    pub sensitivity: Option<Sensitivity>,
}

impl Resource<'_> {
    /// Something of which only the visibility matters.
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
    /// A run of an agent: its team sees it, and everybody if the agent belongs to none.
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

/// Tells of an agent whether somebody may see its runs, as [`see_run`] does; everything, if nobody is given. Each agent
/// is looked up once.
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

/// Whether somebody may see a run of an agent. A run that no agent is known for is for those who lead.
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

/// What was decided, and by which rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Whether it may happen.
    pub allowed: bool,
    /// The rule.
    pub rule_id: &'static str,
    /// Why.
    pub reason: &'static str,
}

impl Decision {
    /// As reviews and events keep it.
    pub fn outcome(&self) -> PolicyOutcome {
        PolicyOutcome {
            allowed: self.allowed,
            rule_id: text(self.rule_id),
            reason: text(self.reason),
        }
    }
}

/// Decides by the first rule that fits.
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
    // Whoever made something can always look at it.
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

/// What a decision is about, for the record.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The project.
    pub project: &'a ProjectId,
    /// The run whose log tells of the decision.
    pub run: Option<&'a str>,
    /// The document, run or action.
    pub resource_id: &'a str,
    /// What rules know of it.
    pub resource: Resource<'a>,
}

/// Decides, writes down what was decided, and fails if it is forbidden. Nobody gets around this: whoever reads,
/// approves or starts something calls it first.
pub fn check(
    company: &Company,
    actor: &Actor,
    action: Action,
    subject: &Subject<'_>,
) -> Result<Decision, Error> {
    let decision = decide(actor, action, &subject.resource);
    if let Err(error) = record(company, actor, action, subject, &decision) {
        // What could not be written down is decided all the same.
        tracing::warn!(%error, "a policy decision was not recorded");
    }
    allowed(actor, action, subject, decision)
}

/// Decides without a record and fails if it is forbidden: for showing to an actor what it may do, before it does it.
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

/// Whether a decision belongs into the log of the run it is about. A person who looks at something changes nothing
/// in the run, so that is recorded beside the project's runs.
fn belongs_to_run(actor: &Actor, action: Action, decision: &Decision) -> bool {
    let is_look = action == Action::Read && decision.allowed && actor.role == ActorRole::Human;
    !is_look
}

/// In the log of the run, or beside the project's runs if there is no such run or a person only looked at something.
fn record(
    company: &Company,
    actor: &Actor,
    action: Action,
    subject: &Subject<'_>,
    decision: &Decision,
) -> Result<(), Error> {
    let run = subject.run.and_then(|run| RunId::parse(run).ok());
    // Nothing is written in a folder that nobody trusts.
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

/// Keeps events of runs that have no log, or whose log they do not belong to, beside the runs of their project.
pub(crate) fn audit(company: &Company, project: &ProjectId, events: &[Event]) -> Result<(), Error> {
    let logs = format!("{}/logs", layout::project(project));
    if !company.path(&layout::project(project)).is_dir() {
        return Ok(());
    }
    company.make_dir(&logs)?;
    let lines = events.iter().map(event::loose_line).collect();
    company.append_lines(&format!("{logs}/policy_audit.jsonl"), lines)
}

/// An event that managers see, of the session a run has by itself.
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
