//! Authentication and authorization: resolves credentials to principals and checks the rights of a principal.

use std::{collections::BTreeSet, fmt, str::FromStr};

use company::decisions::review::{PresenceProof, PresentToken};
use protocol::{
    Access, DesktopSessionId, Id as _, WorkspaceId,
    company::{ActorRole, Presence},
};
use rpc::Failure;

mod desktop_session;
mod throttle;
mod tokens;

pub use desktop_session::DesktopSessions;
pub(crate) use desktop_session::{MAX_SECONDS as MAX_SESSION_SECONDS, SessionProof};
pub(crate) use throttle::{Throttle, ThrottleDecision};
pub use tokens::{NewToken, StoredTokens};

/// Resolves a credential to a principal. Implemented by `StoredTokens`; called by the HTTP side.
pub trait Authenticator: Send + Sync {
    /// Returns the principal of the credential, or `None` if the credential is invalid.
    fn authenticate(
        &self,
        credential: &Credential,
    ) -> impl Future<Output = Result<Option<Principal>, crud::Error>> + Send;
}

/// A secret sent by a client. It has neither `Debug` nor `Display`, so that it is never logged.
pub struct Credential(String);

impl Credential {
    /// Wraps the secret as it was received.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }
}

/// The identity that makes calls, with its rights.
#[derive(Clone, Debug, PartialEq)]
pub struct Principal {
    grant: Grant,
    /// The highest role that calls may claim.
    role: Role,
    scopes: BTreeSet<Access>,
    /// The workspaces the principal may see; `None` means all.
    workspaces: Option<BTreeSet<WorkspaceId>>,
    /// How the principal is connected; decisions record it.
    presence: PresenceProof,
}

/// The source of a principal's rights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Grant {
    /// The process itself or the owner's token. Neither can be revoked while the gateway runs.
    Home,
    /// A browser in which the owner has signed in.
    Session(DesktopSessionId),
    /// A stored token, by its id.
    Token(String),
}

/// The roles of the company family, lowest first. The role of a token is the highest role its calls may claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Works on tasks.
    Worker,
    /// Approves work.
    Manager,
    /// Approves memory.
    Director,
    /// Approves plans.
    Ceo,
    /// A person, with every right of the roles below.
    Human,
}

impl Principal {
    /// Returns the owner of the gateway, to whom every method is allowed.
    pub fn owner() -> Self {
        Self::owner_by(Grant::Home, Presence::Terminal)
    }

    /// Returns the owner in a signed-in browser.
    pub(crate) fn of_session(id: DesktopSessionId) -> Self {
        Self::owner_by(Grant::Session(id), Presence::Desktop)
    }

    fn owner_by(grant: Grant, via: Presence) -> Self {
        Self {
            grant,
            role: Role::Human,
            scopes: [Access::Read, Access::Write, Access::Exec].into(),
            workspaces: None,
            presence: PresenceProof { via, token: None },
        }
    }

    /// Builds the principal of a stored token, or fails if the row contains an invalid role, scope or workspace id.
    pub(crate) fn of_token(row: entity::access_token::Model) -> Result<Self, InvalidToken> {
        let scopes = row
            .scopes
            .split(',')
            .map(parse_scope)
            .collect::<Result<_, _>>()?;
        let ids = row
            .workspaces
            .as_deref()
            .map(parse_workspaces)
            .transpose()?;
        let token = PresentToken {
            id: row.id.clone(),
            name: row.name,
        };
        Ok(Self {
            presence: PresenceProof {
                via: Presence::Token,
                token: Some(token),
            },
            grant: Grant::Token(row.id),
            role: row.role.parse()?,
            scopes,
            workspaces: ids,
        })
    }

    /// Returns the highest role that calls may claim.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the role that applies when a call claims none, or `None` for the role `human`, which is not limited.
    pub(crate) fn ceiling(&self) -> Option<ActorRole> {
        match self.role {
            Role::Human => None,
            Role::Ceo => Some(ActorRole::Ceo),
            Role::Director => Some(ActorRole::Director),
            Role::Manager => Some(ActorRole::Manager),
            Role::Worker => Some(ActorRole::Worker),
        }
    }

    /// Returns whether the principal may read the output of runs. Worker tokens may not, because a token belongs to no
    /// team.
    pub(crate) fn sees_run_outputs(&self) -> bool {
        self.role >= Role::Manager
    }

    /// Rejects an artifact that the principal may not see.
    pub(crate) fn check_artifact(&self, artifact: &entity::artifact::Model) -> Result<(), Failure> {
        if crud::is_run_output(artifact) && !self.sees_run_outputs() {
            return Err(Failure::forbidden(format!(
                "artifact `{}` is the output of a run: expected a token of the role manager or above",
                artifact.id
            )));
        }
        Ok(())
    }

    /// Returns the name recorded as the author of changes: the id of the token, or `owner`.
    pub(crate) fn author(&self) -> &str {
        self.token_id().unwrap_or("owner")
    }

    /// Returns how the principal is connected, for the record of a decision.
    pub(crate) fn presence(&self) -> &PresenceProof {
        &self.presence
    }

    /// Returns whether this is the owner of the gateway rather than a token.
    pub(crate) fn is_owner(&self) -> bool {
        self.token_id().is_none()
    }

    pub(crate) fn token_id(&self) -> Option<&str> {
        match &self.grant {
            Grant::Token(id) => Some(id),
            Grant::Home | Grant::Session(_) => None,
        }
    }

    /// Returns the id of the desktop session, or `None` if the calls do not come from one.
    pub(crate) fn session_id(&self) -> Option<&DesktopSessionId> {
        match &self.grant {
            Grant::Session(id) => Some(id),
            Grant::Home | Grant::Token(_) => None,
        }
    }

    pub(crate) fn grant(&self) -> &Grant {
        &self.grant
    }

    /// Rejects every principal except the owner.
    pub(crate) fn check_owner(&self) -> Result<(), Failure> {
        if self.is_owner() {
            return Ok(());
        }
        Err(Failure::forbidden(
            "only the owner of the gateway may do this, and the call has a token issued to another client",
        ))
    }

    /// Returns whether the principal is limited to some workspaces.
    pub(crate) fn is_limited(&self) -> bool {
        self.workspaces.is_some()
    }

    /// Returns whether the principal may see a workspace.
    pub(crate) fn may_see(&self, workspace: &str) -> bool {
        self.workspaces
            .as_ref()
            .is_none_or(|workspaces| workspaces.iter().any(|one| one.as_str() == workspace))
    }

    pub(crate) fn check_scope(&self, access: Access) -> Result<(), Failure> {
        let is_allowed = match access {
            // The scope `write` includes `propose`.
            Access::Propose => {
                self.scopes.contains(&Access::Propose) || self.scopes.contains(&Access::Write)
            }
            // The scope `exec` includes `spend`.
            Access::Spend => {
                self.scopes.contains(&Access::Spend) || self.scopes.contains(&Access::Exec)
            }
            Access::Read | Access::Write | Access::Exec => self.scopes.contains(&access),
        };
        if is_allowed {
            Ok(())
        } else {
            Err(Failure::forbidden(format!(
                "the token has no scope `{}`, which this method needs",
                access.as_str()
            )))
        }
    }

    pub(crate) fn check_needed(&self, needed: Option<ActorRole>) -> Result<(), Failure> {
        match needed {
            Some(needed) if Role::from(needed) > self.role => Err(Failure::forbidden(format!(
                "the token has the role {}, and this needs the role {needed}",
                self.role
            ))
            .with("role", self.role.to_string())
            .with("needed_role", needed.as_str())),
            _ => Ok(()),
        }
    }

    /// Rejects a claimed role above the role of the token.
    pub(crate) fn check_role(&self, claimed: Option<ActorRole>) -> Result<(), Failure> {
        let Some(claimed) = claimed.filter(|claimed| Role::from(*claimed) > self.role) else {
            return Ok(());
        };
        Err(Failure::forbidden(format!(
            "the token has the role {} and the call claims the role {claimed}",
            self.role
        ))
        .with("role", self.role.to_string())
        .with("claimed_role", claimed.as_str()))
    }

    pub(crate) fn check_unlimited(&self) -> Result<(), Failure> {
        if self.is_limited() {
            Err(Failure::forbidden(
                "the token is limited to some workspaces, and this changes data that all workspaces share",
            ))
        } else {
            Ok(())
        }
    }

    pub(crate) fn check_workspace(&self, workspace: &WorkspaceId) -> Result<(), Failure> {
        if self.may_see(workspace.as_str()) {
            Ok(())
        } else {
            Err(Failure::forbidden(format!(
                "the token is not valid for workspace `{workspace}`"
            )))
        }
    }
}

/// Why a token cannot be created or read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidToken {
    /// The role is unknown.
    #[error("`{0}` is not a role: expected worker, manager, director, ceo or human")]
    Role(String),
    /// The scope is unknown.
    #[error("`{0}` is not a scope: expected read, propose, write, spend or exec")]
    Scope(String),
    /// A workspace id is malformed.
    #[error(transparent)]
    Workspace(protocol::InvalidId),
}

impl From<ActorRole> for Role {
    fn from(role: ActorRole) -> Self {
        match role {
            ActorRole::Worker => Self::Worker,
            ActorRole::Manager => Self::Manager,
            ActorRole::Director => Self::Director,
            ActorRole::Ceo => Self::Ceo,
            ActorRole::Human => Self::Human,
        }
    }
}

impl FromStr for Role {
    type Err = InvalidToken;

    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        match text {
            "worker" => Ok(Self::Worker),
            "manager" => Ok(Self::Manager),
            "director" => Ok(Self::Director),
            "ceo" => Ok(Self::Ceo),
            "human" => Ok(Self::Human),
            _ => Err(InvalidToken::Role(text.to_owned())),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Worker => "worker",
            Self::Manager => "manager",
            Self::Director => "director",
            Self::Ceo => "ceo",
            Self::Human => "human",
        })
    }
}

pub(crate) fn parse_scope(text: &str) -> Result<Access, InvalidToken> {
    let scopes = [
        Access::Read,
        Access::Propose,
        Access::Write,
        Access::Spend,
        Access::Exec,
    ];
    let found = scopes
        .into_iter()
        .find(|scope| scope.as_str() == text.trim());
    found.ok_or_else(|| InvalidToken::Scope(text.to_owned()))
}

fn parse_workspaces(list: &str) -> Result<BTreeSet<WorkspaceId>, InvalidToken> {
    let ids = list.split(',').map(WorkspaceId::parse);
    ids.collect::<Result<_, _>>()
        .map_err(InvalidToken::Workspace)
}
