//! The hashes of the chunks of blobs, for verifying downloads.

use sea_orm::sea_query::{ColumnDef, ForeignKey, ForeignKeyAction, Table};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let table = Table::create()
        .table("artifact_chunk_hashes")
        .col(ColumnDef::new("blob_id").string().not_null().primary_key())
        // The size of every chunk but the last, in bytes.
        .col(ColumnDef::new("chunk_bytes").big_integer().not_null())
        // The concatenated hashes in order, 64 hexadecimal digits per chunk.
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
