//! Browsers that are signed in to the web desktop, and the one-time codes they sign in with. Only hashes are kept.

use sea_orm::sea_query::{ColumnDef, Table};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let session = Table::create()
        .table("desktop_session")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(
            ColumnDef::new("cookie_sha256")
                .string()
                .not_null()
                .unique_key(),
        )
        .col(ColumnDef::new("page_key_sha256").string().not_null())
        // The owner's token at the time; the session counts only while the home has that token.
        .col(ColumnDef::new("owner_sha256").string().not_null())
        .col(ColumnDef::new("user_agent").string().not_null())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        // Written at most once an hour.
        .col(ColumnDef::new("last_used_at").big_integer().not_null())
        // Moves with `last_used_at`, up to a limit counted from `created_at`.
        .col(ColumnDef::new("expires_at").big_integer().not_null())
        .to_owned();
    // A row is deleted when its code is used, so whoever deletes it has signed in.
    let code = Table::create()
        .table("desktop_sign_in_code")
        .col(
            ColumnDef::new("code_sha256")
                .string()
                .not_null()
                .primary_key(),
        )
        .col(ColumnDef::new("owner_sha256").string().not_null())
        .col(ColumnDef::new("expires_at").big_integer().not_null())
        .to_owned();
    vec![Ddl::Table(session), Ddl::Table(code)]
}
