//! Tokens created by `ac token create`. Only a hash of the secret is stored.

use sea_orm::sea_query::{ColumnDef, Table};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let table = Table::create()
        .table("access_token")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("name").string().not_null())
        .col(
            ColumnDef::new("secret_sha256")
                .string()
                .not_null()
                .unique_key(),
        )
        .col(ColumnDef::new("role").string().not_null())
        // Comma-separated scopes, such as read, write and exec.
        .col(ColumnDef::new("scopes").string().not_null())
        // Comma-separated workspace ids; null for all.
        .col(ColumnDef::new("workspaces").string())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .col(ColumnDef::new("revoked_at").big_integer())
        .to_owned();
    vec![Ddl::Table(table)]
}
