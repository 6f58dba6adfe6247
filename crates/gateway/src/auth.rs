//! Who may do what: tokens become principals, and a principal is asked before every call.

use std::{collections::BTreeSet, fmt, str::FromStr};

use company::review::{Present, PresentToken};
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
pub(crate) use throttle::{Throttle, Verdict};
pub use tokens::{NewToken, StoredTokens};

/// Turns a credential into whoever it stands for. `StoredTokens` implements it; the HTTP side calls it.
pub trait Authenticator: Send + Sync {
    /// Answers nobody for a credential that is not valid.
    fn authenticate(
        &self,
        credential: &Credential,
    ) -> impl Future<Output = Result<Option<Principal>, crud::Error>> + Send;
}

/// A secret somebody sent. It has no `Debug` and no `Display`, so that it reaches no log.
pub struct Credential(String);

impl Credential {
    /// The secret as it was sent.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }
}

/// Whoever makes calls, and what they may do.
#[derive(Clone, Debug, PartialEq)]
pub struct Principal {
    grant: Grant,
    /// The highest role the calls may claim.
    role: Role,
    scopes: BTreeSet<Access>,
    /// The workspaces that exist for the principal; none means all.
    workspaces: Option<BTreeSet<WorkspaceId>>,
    /// How the principal is present, which decisions record.
    presence: Present,
}

/// What a principal has its rights from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Grant {
    /// The process, or the owner's token; neither can be revoked while the gateway runs.
    Home,
    /// A browser in which the owner signed in.
    Session(DesktopSessionId),
    /// A stored token, by its id.
    Token(String),
}

/// Roles of the company family, lowest first. The role of a token is the highest its calls may claim.
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
    /// A person.
    Human,
}

impl Principal {
    /// Whoever owns the process or the home's token: everything is allowed.
    pub fn owner() -> Self {
        Self::owner_by(Grant::Home, Presence::Terminal)
    }

    /// The owner, in a browser that signed in.
    pub(crate) fn of_session(id: DesktopSessionId) -> Self {
        Self::owner_by(Grant::Session(id), Presence::Desktop)
    }

    fn owner_by(grant: Grant, via: Presence) -> Self {
        Self {
            grant,
            role: Role::Human,
            scopes: [Access::Read, Access::Write, Access::Exec].into(),
            workspaces: None,
            presence: Present { via, token: None },
        }
    }

    /// A principal of a stored token.
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
            presence: Present {
                via: Presence::Token,
                token: Some(token),
            },
            grant: Grant::Token(row.id),
            role: row.role.parse()?,
            scopes,
            workspaces: ids,
        })
    }

    /// The highest role the calls may claim.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The role of whoever does not say what they are; none for those who may be anything.
    pub(crate) fn ceiling(&self) -> Option<ActorRole> {
        match self.role {
            Role::Human => None,
            Role::Ceo => Some(ActorRole::Ceo),
            Role::Director => Some(ActorRole::Director),
            Role::Manager => Some(ActorRole::Manager),
            Role::Worker => Some(ActorRole::Worker),
        }
    }

    /// Whether the principal sees what runs printed and left. A worker's token belongs to no team, so it sees none.
    pub(crate) fn sees_run_outputs(&self) -> bool {
        self.role >= Role::Manager
    }

    /// Refuses an artifact that the principal may not see.
    pub(crate) fn check_artifact(&self, artifact: &entity::artifact::Model) -> Result<(), Failure> {
        if crud::is_run_output(artifact) && !self.sees_run_outputs() {
            return Err(Failure::forbidden(format!(
                "artifact `{}` is the output of a run: expected a token of the role manager or above",
                artifact.id
            )));
        }
        Ok(())
    }

    /// Who is named as the author of a change.
    pub(crate) fn author(&self) -> &str {
        self.token_id().unwrap_or("owner")
    }

    /// How the principal is present, for the record of a decision.
    pub(crate) fn presence(&self) -> &Present {
        &self.presence
    }

    /// Whether this is the owner of the gateway and not a token made for somebody.
    pub(crate) fn is_owner(&self) -> bool {
        self.token_id().is_none()
    }

    pub(crate) fn token_id(&self) -> Option<&str> {
        match &self.grant {
            Grant::Token(id) => Some(id),
            Grant::Home | Grant::Session(_) => None,
        }
    }

    /// The session of the owner's browser, if the calls come from one.
    pub(crate) fn session_id(&self) -> Option<&DesktopSessionId> {
        match &self.grant {
            Grant::Session(id) => Some(id),
            Grant::Home | Grant::Token(_) => None,
        }
    }

    pub(crate) fn grant(&self) -> &Grant {
        &self.grant
    }

    /// What is for the owner alone is refused to every token.
    pub(crate) fn check_owner(&self) -> Result<(), Failure> {
        if self.is_owner() {
            return Ok(());
        }
        Err(Failure::forbidden(
            "this is for the owner of the gateway alone, and the call has a token made for another client",
        ))
    }

    /// Whether only some workspaces exist for the principal.
    pub(crate) fn is_limited(&self) -> bool {
        self.workspaces.is_some()
    }

    /// Whether a workspace exists for the principal.
    pub(crate) fn may_see(&self, workspace: &str) -> bool {
        self.workspaces
            .as_ref()
            .is_none_or(|workspaces| workspaces.iter().any(|one| one.as_str() == workspace))
    }

    pub(crate) fn check_scope(&self, access: Access) -> Result<(), Failure> {
        let is_allowed = match access {
            // Whoever may change something may propose to.
            Access::Propose => {
                self.scopes.contains(&Access::Propose) || self.scopes.contains(&Access::Write)
            }
            // Whoever may start workers may spend.
            Access::Spend => {
                self.scopes.contains(&Access::Spend) || self.scopes.contains(&Access::Exec)
            }
            Access::Read | Access::Write | Access::Exec => self.scopes.contains(&access),
        };
        match is_allowed {
            true => Ok(()),
            false => Err(Failure::forbidden(format!(
                "the token has no scope `{}`, which this method needs",
                access.as_str()
            ))),
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

    /// Nobody acts above the role of their token.
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
        match self.is_limited() {
            false => Ok(()),
            true => Err(Failure::forbidden(
                "the token is made for some workspaces, and this changes something they all share",
            )),
        }
    }

    pub(crate) fn check_workspace(&self, workspace: &WorkspaceId) -> Result<(), Failure> {
        match self.may_see(workspace.as_str()) {
            true => Ok(()),
            false => Err(Failure::forbidden(format!(
                "the token is not made for workspace `{workspace}`"
            ))),
        }
    }
}

/// Why a token cannot be made or read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidToken {
    /// No such role.
    #[error("`{0}` is not a role: expected worker, manager, director, ceo or human")]
    Role(String),
    /// No such scope.
    #[error("`{0}` is not a scope: expected read, propose, write, spend or exec")]
    Scope(String),
    /// No workspace id.
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
