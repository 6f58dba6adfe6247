//! The hashes of the chunks in which bytes were received, for whoever downloads them.

use sea_orm::sea_query::{ColumnDef, ForeignKey, ForeignKeyAction, Table};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let table = Table::create()
        .table("artifact_chunk_hashes")
        .col(ColumnDef::new("blob_id").string().not_null().primary_key())
        // Every chunk but the last has this size.
        .col(ColumnDef::new("chunk_bytes").big_integer().not_null())
        // 64 hexadecimal digits for each chunk, in their order.
        .col(ColumnDef::new("hashes").text().not_null())
        .foreign_key(
            ForeignKey::create()
                .from("artifact_chunk_hashes", "blob_id")
                .to("artifact_blob", "id")
                .on_delete(ForeignKeyAction::Cascade),
        )
        .to_owned();
    vec![Ddl::Table(table)]
}
