//! Access tokens for other clients. Only the hash of each secret is stored.

use entity::access_token::{ActiveModel, Column, Entity, Model};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DatabaseConnection,
    EntityTrait as _, QueryFilter as _, QueryOrder as _,
};

use crate::{CrudStore, Error};

/// The repository of access tokens.
#[derive(Debug)]
pub struct AccessTokenRepository<'a>(pub(crate) &'a CrudStore);

/// An access token to store.
#[derive(Clone, Debug)]
pub struct NewAccessToken {
    /// The id by which the token is revoked.
    pub id: String,
    /// The purpose of the token, as given by the owner.
    pub name: String,
    /// SHA-256 of the secret, lower-case hexadecimal.
    pub secret_sha256: String,
    /// The highest role that calls with this token may claim.
    pub role: String,
    /// The scopes of the token, comma-separated.
    pub scopes: String,
    /// The ids of the permitted workspaces, comma-separated. Absent if all are permitted.
    pub workspaces: Option<String>,
    /// The creation time, in Unix seconds.
    pub created_at: i64,
}

impl AccessTokenRepository<'_> {
    /// Stores a token.
    pub async fn create(&self, token: NewAccessToken) -> Result<Model, Error> {
        let row = ActiveModel {
            id: Set(token.id),
            name: Set(token.name),
            secret_sha256: Set(token.secret_sha256),
            role: Set(token.role),
            scopes: Set(token.scopes),
            workspaces: Set(token.workspaces),
            created_at: Set(token.created_at),
            revoked_at: Set(None),
        };
        self.0.write(move |db| Ok(row.insert(db)?)).await
    }

    /// Returns all tokens including revoked ones, oldest first.
    pub async fn list(&self) -> Result<Vec<Model>, Error> {
        let oldest_first = Entity::find()
            .order_by_asc(Column::CreatedAt)
            .order_by_asc(Column::Id);
        self.0.read(move |db| Ok(oldest_first.all(db)?)).await
    }

    /// Returns the token with this secret hash, unless it has been revoked.
    pub async fn find(&self, secret_sha256: &str) -> Result<Option<Model>, Error> {
        let found = Entity::find()
            .filter(Column::SecretSha256.eq(secret_sha256))
            .filter(Column::RevokedAt.is_null());
        self.0.read(move |db| Ok(found.one(db)?)).await
    }

    /// Revokes a token. Returns whether an active token was revoked.
    pub async fn revoke(&self, id: &str, now: i64) -> Result<bool, Error> {
        let id = id.to_owned();
        let work = move |db: &DatabaseConnection| {
            let revoked = Entity::update_many()
                .col_expr(Column::RevokedAt, now.into())
                .filter(Column::Id.eq(id))
                .filter(Column::RevokedAt.is_null())
                .exec(db)?;
            Ok(revoked.rows_affected > 0)
        };
        self.0.write(work).await
    }
}
