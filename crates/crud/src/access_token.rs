//! Tokens made for other clients. Only the hash of a secret is stored.

use entity::access_token::{ActiveModel, Column, Entity, Model};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, DatabaseConnection,
    EntityTrait as _, QueryFilter as _, QueryOrder as _,
};

use crate::{CrudStore, Error};

/// The operations on tokens.
#[derive(Debug)]
pub struct AccessTokenRepository<'a>(pub(crate) &'a CrudStore);

/// A token to store.
#[derive(Clone, Debug)]
pub struct NewAccessToken {
    /// The id people revoke it by.
    pub id: String,
    /// What it is for.
    pub name: String,
    /// SHA-256 of the secret, lower-case hexadecimal.
    pub secret_sha256: String,
    /// The highest role its calls may claim.
    pub role: String,
    /// Comma-separated.
    pub scopes: String,
    /// Comma-separated workspace ids; none means all.
    pub workspaces: Option<String>,
    /// Unix seconds.
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

    /// Every token, oldest first, the revoked ones included.
    pub async fn list(&self) -> Result<Vec<Model>, Error> {
        let oldest_first = Entity::find()
            .order_by_asc(Column::CreatedAt)
            .order_by_asc(Column::Id);
        self.0.read(move |db| Ok(oldest_first.all(db)?)).await
    }

    /// The token with this secret, unless it was revoked.
    pub async fn find(&self, secret_sha256: &str) -> Result<Option<Model>, Error> {
        let found = Entity::find()
            .filter(Column::SecretSha256.eq(secret_sha256))
            .filter(Column::RevokedAt.is_null());
        self.0.read(move |db| Ok(found.one(db)?)).await
    }

    /// Ends a token. Answers whether there was one to end.
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
