//! Desktop sessions of browsers, and the one-time codes for signing in. Only hashes are stored.

use entity::{
    desktop_session::{ActiveModel, Column, Entity, Model},
    desktop_sign_in_code as code,
};
use sea_orm::{
    ActiveModelTrait as _, ActiveValue::Set, ColumnTrait as _, Condition, DatabaseConnection,
    EntityTrait as _, QueryFilter as _, QueryOrder as _,
};

use crate::{CrudStore, Error};

/// The repository of desktop sessions.
#[derive(Debug)]
pub struct DesktopSessionRepository<'a>(pub(crate) &'a CrudStore);

/// A desktop session to store. Hashes are lower-case hexadecimal.
#[derive(Clone, Debug)]
pub struct NewDesktopSession {
    /// The id by which the session is ended.
    pub id: String,
    /// SHA-256 of the secret in the cookie.
    pub cookie_sha256: String,
    /// SHA-256 of the secret in the storage of the page.
    pub page_key_sha256: String,
    /// SHA-256 of the owner's token. The session is valid only while the owner has this token.
    pub owner_sha256: String,
    /// The `User-Agent` of the browser.
    pub user_agent: String,
    /// The creation time, in Unix seconds; also the time of the first use.
    pub created_at: i64,
    /// The expiry time, in Unix seconds.
    pub expires_at: i64,
}

impl DesktopSessionRepository<'_> {
    /// Stores a one-time code and deletes expired codes.
    pub async fn create_code(
        &self,
        code_sha256: String,
        owner_sha256: String,
        expires_at: i64,
        now: i64,
    ) -> Result<(), Error> {
        let row = code::ActiveModel {
            code_sha256: Set(code_sha256),
            owner_sha256: Set(owner_sha256),
            expires_at: Set(expires_at),
        };
        let work = move |db: &DatabaseConnection| {
            code::Entity::delete_many()
                .filter(code::Column::ExpiresAt.lte(now))
                .exec(db)?;
            row.insert(db)?;
            Ok(())
        };
        self.0.write(work).await
    }

    /// Redeems a code. Returns true for exactly one of any number of requests with the same code.
    pub async fn redeem_code(
        &self,
        code_sha256: &str,
        owner_sha256: &str,
        now: i64,
    ) -> Result<bool, Error> {
        let usable = code::Entity::delete_many()
            .filter(code::Column::CodeSha256.eq(code_sha256))
            .filter(code::Column::OwnerSha256.eq(owner_sha256))
            .filter(code::Column::ExpiresAt.gt(now));
        let work = move |db: &DatabaseConnection| Ok(usable.exec(db)?.rows_affected > 0);
        self.0.write(work).await
    }

    /// Stores a session.
    pub async fn create(&self, session: NewDesktopSession) -> Result<Model, Error> {
        let row = ActiveModel {
            id: Set(session.id),
            cookie_sha256: Set(session.cookie_sha256),
            page_key_sha256: Set(session.page_key_sha256),
            owner_sha256: Set(session.owner_sha256),
            user_agent: Set(session.user_agent),
            created_at: Set(session.created_at),
            last_used_at: Set(session.created_at),
            expires_at: Set(session.expires_at),
        };
        self.0.write(move |db| Ok(row.insert(db)?)).await
    }

    /// Returns the session with this cookie if it is valid: not expired, and of the current owner token.
    pub async fn find(
        &self,
        cookie_sha256: &str,
        owner_sha256: &str,
        now: i64,
    ) -> Result<Option<Model>, Error> {
        let found = Entity::find()
            .filter(Column::CookieSha256.eq(cookie_sha256))
            .filter(Column::OwnerSha256.eq(owner_sha256))
            .filter(Column::ExpiresAt.gt(now));
        self.0.read(move |db| Ok(found.one(db)?)).await
    }

    /// Returns the valid sessions, most recently used first.
    pub async fn list(&self, owner_sha256: &str, now: i64) -> Result<Vec<Model>, Error> {
        let found = Entity::find()
            .filter(Column::OwnerSha256.eq(owner_sha256))
            .filter(Column::ExpiresAt.gt(now))
            .order_by_desc(Column::LastUsedAt)
            .order_by_desc(Column::Id);
        self.0.read(move |db| Ok(found.all(db)?)).await
    }

    /// Records the use of a session and its new expiry time.
    pub async fn used(&self, id: &str, last_used_at: i64, expires_at: i64) -> Result<(), Error> {
        let used = Entity::update_many()
            .col_expr(Column::LastUsedAt, last_used_at.into())
            .col_expr(Column::ExpiresAt, expires_at.into())
            .filter(Column::Id.eq(id));
        let work = move |db: &DatabaseConnection| {
            used.exec(db)?;
            Ok(())
        };
        self.0.write(work).await
    }

    /// Ends a session. Returns whether it existed.
    pub async fn end(&self, id: &str) -> Result<bool, Error> {
        let ended = Entity::delete_many().filter(Column::Id.eq(id));
        let work = move |db: &DatabaseConnection| Ok(ended.exec(db)?.rows_affected > 0);
        self.0.write(work).await
    }

    /// Deletes invalid sessions and returns their number.
    pub async fn forget_ended(&self, owner_sha256: &str, now: i64) -> Result<u64, Error> {
        let ended = Entity::delete_many().filter(
            Condition::any()
                .add(Column::ExpiresAt.lte(now))
                .add(Column::OwnerSha256.ne(owner_sha256)),
        );
        let work = move |db: &DatabaseConnection| Ok(ended.exec(db)?.rows_affected);
        self.0.write(work).await
    }
}
