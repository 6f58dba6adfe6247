//! Artifacts: blobs, versions, bindings, projections and upload sessions.

use sea_orm::sea_query::{
    ColumnDef, ForeignKey, ForeignKeyAction, Index, Table, TableCreateStatement,
};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let index = |name: &str, table: &str, columns: &[&str]| {
        let mut index = Index::create();
        index.name(name).table(table.to_owned());
        for column in columns {
            index.col(column.to_string());
        }
        index
    };
    let mut blob = index(
        "uq_artifact_blob_content",
        "artifact_blob",
        &["workspace_id", "sha256"],
    );
    blob.unique();
    let mut version = index(
        "uq_artifact_version_number",
        "artifact_version",
        &["artifact_id", "version_number"],
    );
    version.unique();
    let mut projection = index(
        "uq_artifact_projection_kind",
        "artifact_projection",
        &["artifact_version_id", "projection_kind"],
    );
    projection.unique();
    vec![
        Ddl::Table(artifact_blob()),
        Ddl::Index(blob),
        Ddl::Table(artifact()),
        Ddl::Index(index(
            "ix_artifact_recent",
            "artifact",
            &["workspace_id", "updated_at", "id"],
        )),
        Ddl::Table(artifact_version()),
        Ddl::Index(version),
        Ddl::Index(index(
            "ix_artifact_version_blob",
            "artifact_version",
            &["blob_id"],
        )),
        Ddl::Table(artifact_binding()),
        Ddl::Index(index(
            "ix_artifact_binding_artifact",
            "artifact_binding",
            &["artifact_id"],
        )),
        Ddl::Index(index(
            "ix_artifact_binding_thread",
            "artifact_binding",
            &["thread_id"],
        )),
        Ddl::Index(index(
            "ix_artifact_binding_turn",
            "artifact_binding",
            &["turn_id"],
        )),
        Ddl::Index(index(
            "ix_artifact_binding_message",
            "artifact_binding",
            &["message_id"],
        )),
        Ddl::Table(artifact_projection()),
        Ddl::Index(projection),
        Ddl::Index(index(
            "ix_artifact_projection_blob",
            "artifact_projection",
            &["blob_id"],
        )),
        Ddl::Table(artifact_upload_session()),
        Ddl::Index(index(
            "ix_artifact_upload_session_client",
            "artifact_upload_session",
            &["workspace_id", "client_attachment_id"],
        )),
        Ddl::Index(index(
            "ix_artifact_upload_session_expiry",
            "artifact_upload_session",
            &["expires_at"],
        )),
    ]
}

fn artifact_blob() -> TableCreateStatement {
    Table::create()
        .table("artifact_blob")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("workspace_id").string().not_null())
        .col(ColumnDef::new("sha256").string().not_null())
        .col(ColumnDef::new("size_bytes").big_integer().not_null())
        // `ready`, `quarantined` or `missing`.
        .col(ColumnDef::new("status").string().not_null())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .col(ColumnDef::new("last_verified_at").big_integer())
        .foreign_key(
            ForeignKey::create()
                .from("artifact_blob", "workspace_id")
                .to("workspace", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}

fn artifact() -> TableCreateStatement {
    Table::create()
        .table("artifact")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("workspace_id").string().not_null())
        .col(ColumnDef::new("primary_thread_id").string())
        .col(ColumnDef::new("current_version_id").string().not_null())
        .col(ColumnDef::new("display_name").string().not_null())
        .col(ColumnDef::new("kind").string().not_null())
        .col(ColumnDef::new("mime_type").string())
        .col(ColumnDef::new("status").string().not_null())
        // The status that a restore returns to.
        .col(ColumnDef::new("status_before_delete").string())
        .col(ColumnDef::new("created_by_kind").string().not_null())
        .col(ColumnDef::new("created_by_actor_id").string())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .col(ColumnDef::new("updated_at").big_integer().not_null())
        .col(ColumnDef::new("deleted_at").big_integer())
        // JSON.
        .col(ColumnDef::new("metadata").text().not_null())
        .foreign_key(
            ForeignKey::create()
                .from("artifact", "workspace_id")
                .to("workspace", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}

fn artifact_version() -> TableCreateStatement {
    Table::create()
        .table("artifact_version")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("workspace_id").string().not_null())
        .col(ColumnDef::new("artifact_id").string().not_null())
        .col(ColumnDef::new("version_number").big_integer().not_null())
        .col(ColumnDef::new("blob_id").string().not_null())
        .col(ColumnDef::new("mime_type").string())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .foreign_key(
            ForeignKey::create()
                .from("artifact_version", "artifact_id")
                .to("artifact", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .foreign_key(
            ForeignKey::create()
                .from("artifact_version", "blob_id")
                .to("artifact_blob", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}

fn artifact_binding() -> TableCreateStatement {
    Table::create()
        .table("artifact_binding")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("workspace_id").string().not_null())
        .col(ColumnDef::new("artifact_id").string().not_null())
        .col(ColumnDef::new("artifact_version_id").string())
        .col(ColumnDef::new("thread_id").string())
        .col(ColumnDef::new("turn_id").string())
        .col(ColumnDef::new("message_id").string())
        .col(ColumnDef::new("turn_item_id").string())
        .col(ColumnDef::new("tool_call_id").string())
        .col(ColumnDef::new("task_id").string())
        .col(ColumnDef::new("task_run_id").string())
        .col(ColumnDef::new("binding_kind").string().not_null())
        .col(ColumnDef::new("direction").string().not_null())
        .col(ColumnDef::new("item_index").big_integer())
        .col(ColumnDef::new("role").string())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .foreign_key(
            ForeignKey::create()
                .from("artifact_binding", "artifact_id")
                .to("artifact", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}

fn artifact_projection() -> TableCreateStatement {
    Table::create()
        .table("artifact_projection")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("workspace_id").string().not_null())
        .col(ColumnDef::new("artifact_id").string().not_null())
        .col(ColumnDef::new("artifact_version_id").string().not_null())
        .col(ColumnDef::new("projection_kind").string().not_null())
        .col(ColumnDef::new("status").string().not_null())
        // Texts are stored here, images as blobs.
        .col(ColumnDef::new("text_content").text())
        .col(ColumnDef::new("blob_id").string())
        .col(ColumnDef::new("mime_type").string())
        .col(ColumnDef::new("size_bytes").big_integer())
        .col(ColumnDef::new("sha256").string())
        .col(ColumnDef::new("error_class").string())
        // JSON.
        .col(ColumnDef::new("metadata").text().not_null())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .col(ColumnDef::new("updated_at").big_integer().not_null())
        .foreign_key(
            ForeignKey::create()
                .from("artifact_projection", "artifact_version_id")
                .to("artifact_version", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}

/// Upload sessions. The received size is not stored; it is the length of the payload file.
fn artifact_upload_session() -> TableCreateStatement {
    Table::create()
        .table("artifact_upload_session")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("workspace_id").string().not_null())
        // The principal that may continue the upload.
        .col(ColumnDef::new("owner").string().not_null())
        .col(ColumnDef::new("client_attachment_id").string().not_null())
        .col(ColumnDef::new("thread_id").string())
        .col(ColumnDef::new("planned_turn_id").string())
        .col(ColumnDef::new("file_name").string().not_null())
        .col(ColumnDef::new("mime_type").string())
        .col(ColumnDef::new("size_bytes").big_integer().not_null())
        .col(ColumnDef::new("sha256").string().not_null())
        .col(ColumnDef::new("source_kind").string().not_null())
        .col(ColumnDef::new("status").string().not_null())
        .col(ColumnDef::new("artifact_id").string())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .col(ColumnDef::new("expires_at").big_integer().not_null())
        .foreign_key(
            ForeignKey::create()
                .from("artifact_upload_session", "workspace_id")
                .to("workspace", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}
