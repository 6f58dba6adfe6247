//! Desktop sessions of browsers, and the one-time codes for signing in. Only hashes are stored.

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
        // The hash of the owner's token at the time; the session is valid only while the home has that token.
        .col(ColumnDef::new("owner_sha256").string().not_null())
        .col(ColumnDef::new("user_agent").string().not_null())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        // Updated at most once an hour.
        .col(ColumnDef::new("last_used_at").big_integer().not_null())
        // Extended with `last_used_at`, up to a limit counted from `created_at`.
        .col(ColumnDef::new("expires_at").big_integer().not_null())
        .to_owned();
    // A row is deleted when its code is redeemed, so exactly one request can sign in with it.
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
