//! Uploads that add a version to an existing artifact.

use sea_orm::sea_query::{ColumnDef, Table};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    // SQLite adds only one column per statement.
    let column = |name: &str| {
        Ddl::Column(
            Table::alter()
                .table("artifact_upload_session")
                .add_column(ColumnDef::new(name.to_owned()).string())
                .to_owned(),
        )
    };
    // The artifact that gets a version, and the version created by the upload.
    vec![column("version_of"), column("version_id")]
}
