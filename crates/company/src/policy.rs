//! Who may do what: one table for every read and write of the company family.

use protocol::company::{ActorRole, Sensitivity, Visibility};

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
    /// Who may see it.
    pub visibility: Visibility,
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
    pub fn visible(visibility: Visibility) -> Self {
        Self {
            visibility,
            team_id: None,
            producing_actor_id: None,
            kind: None,
            sensitivity: None,
        }
    }
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

/// Decides by the first rule that fits.
pub fn decide(actor: &Actor, action: Action, resource: &Resource<'_>) -> Decision {
    use ActorRole::{Ceo, Director, Human, Manager};
    let is_director = matches!(actor.role, Human | Ceo | Director);
    let is_manager = is_director || actor.role == Manager;
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
    match action {
        Action::ComposeContext
            if resource.sensitivity == Some(Sensitivity::Restricted) && !is_director =>
        {
            return deny(
                "compose.sensitivity.restricted",
                "restricted_requires_director",
            );
        }
        Action::Approve if resource.kind == Some("memory_delta") && !is_director => {
            return deny("approve.memory.role", "role_not_allowed");
        }
        Action::Approve if !is_manager => return deny("approve.role", "role_not_allowed"),
        Action::Read | Action::Approve | Action::Launch | Action::ComposeContext => {}
    }
    match resource.visibility {
        Visibility::Org => allow("vis.org", "org_visible"),
        Visibility::Managers if is_manager => allow("vis.managers", "manager_visible"),
        Visibility::Managers => deny("vis.managers", "role_not_allowed"),
        Visibility::Team if is_manager => allow("vis.team.manager_override", "manager_override"),
        Visibility::Team => {
            let team = actor.team_id.as_deref().filter(|team| !team.is_empty());
            match team.is_some() && team == resource.team_id {
                true => allow("vis.team.same_team", "same_team"),
                false => deny("vis.team.mismatch", "team_mismatch"),
            }
        }
        Visibility::PrivateAgent if actor.role == Human => {
            allow("vis.private.human", "human_override")
        }
        Visibility::PrivateAgent => match resource.producing_actor_id == Some(actor.id.as_str()) {
            true => allow("vis.private.owner", "owner"),
            false => deny("vis.private.owner", "not_owner"),
        },
    }
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
