//! The tokens of a home: the owner's token in its file, the others as hashes in the database.

use std::{fs, path::PathBuf};

use crud::{CrudStore, NewAccessToken};
use entity::access_token;
use protocol::{Access, WorkspaceId};
use sources::{Sources, random_text};
use subtle::ConstantTimeEq as _;

use super::{Authenticator, Credential, InvalidToken, Principal, Role, parse_scope};
use crate::sha256::{digest, sha256_hex};

/// Authenticates opaque random tokens.
pub struct StoredTokens {
    owner: Credential,
    /// The file from which the owner's token was read when this process started.
    owner_file: PathBuf,
    store: CrudStore,
}

/// The validated parameters of a new token.
#[derive(Clone, Debug)]
pub struct NewToken {
    name: String,
    role: Role,
    scopes: Vec<Access>,
    workspaces: Vec<WorkspaceId>,
}

impl StoredTokens {
    pub(crate) fn new(owner: String, owner_file: PathBuf, store: CrudStore) -> Self {
        Self {
            owner: Credential(owner),
            owner_file,
            store,
        }
    }

    /// Returns the reason, as one sentence, why a token unknown to [`Authenticator::authenticate`] is rejected.
    ///
    /// A caller that sends the content of the token file learns that the file has changed, which reveals nothing the
    /// caller does not have.
    pub(crate) async fn why_unknown(&self, credential: Credential) -> &'static str {
        let file = self.owner_file.clone();
        let found = tokio::task::spawn_blocking(move || fs::read_to_string(file)).await;
        let is_in_file = matches!(found, Ok(Ok(text)) if bool::from(
            digest(text.trim()).ct_eq(&digest(&credential.0))
        ));
        if is_in_file {
            "the token is not valid: the file `token` of the home has changed since this gateway started; start the \
             gateway again"
        } else {
            "the token is not valid: it was revoked, or the owner's token has changed; the owner's token is in the file \
             `token` of the home"
        }
    }
}

impl Authenticator for StoredTokens {
    async fn authenticate(
        &self,
        credential: &Credential,
    ) -> Result<Option<Principal>, crud::Error> {
        let (given, owner) = (digest(&credential.0), digest(&self.owner.0));
        // Compares hashes of equal length in constant time, so that timing reveals nothing about the token.
        if bool::from(given.ct_eq(&owner)) {
            return Ok(Some(Principal::owner()));
        }
        let found = self
            .store
            .access_tokens()
            .find(&sha256_hex(&credential.0))
            .await?;
        Ok(found.and_then(|row| {
            let id = row.id.clone();
            Principal::of_token(row)
                .inspect_err(
                    |error| tracing::error!(token = id, %error, "a stored token cannot be used"),
                )
                .ok()
        }))
    }
}

impl NewToken {
    /// Validates the parameters. An empty list of workspaces allows all workspaces.
    pub fn new(
        name: impl Into<String>,
        role: &str,
        scopes: &[String],
        workspaces: &[String],
    ) -> Result<Self, InvalidToken> {
        use protocol::Id as _;
        let ids = workspaces.iter().map(|id| WorkspaceId::parse(id));
        Ok(Self {
            name: name.into(),
            role: role.parse()?,
            scopes: scopes
                .iter()
                .map(|scope| parse_scope(scope))
                .collect::<Result<_, _>>()?,
            workspaces: ids
                .collect::<Result<_, _>>()
                .map_err(InvalidToken::Workspace)?,
        })
    }

    /// Stores the token and returns its row and its secret. Only the hash of the secret is stored.
    pub async fn create(
        self,
        store: &CrudStore,
        sources: &Sources,
    ) -> Result<(access_token::Model, String), crud::Error> {
        let secret = random_text(43);
        let join = |words: Vec<&str>| words.join(",");
        let row = NewAccessToken {
            id: format!("tok_{}", sources.ids.suffix()),
            name: self.name,
            // The secret is long and random, so an unsalted hash is sufficient.
            secret_sha256: sha256_hex(&secret),
            role: self.role.to_string(),
            scopes: join(self.scopes.iter().map(|scope| scope.as_str()).collect()),
            workspaces: (!self.workspaces.is_empty())
                .then(|| join(self.workspaces.iter().map(WorkspaceId::as_str).collect())),
            created_at: sources.clock.now(),
        };
        Ok((store.access_tokens().create(row).await?, secret))
    }
}

impl std::fmt::Debug for StoredTokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("StoredTokens")
    }
}
