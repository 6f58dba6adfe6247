//! The trash: deleted threads, folders and agents docs that can be restored.
//!
//! A trashed thread keeps its row and its turns and is marked by `thread.trashed_at`. A trashed folder is a snapshot of
//! its row, because its contents stay in the tree. A trashed document is its archived row.

use sea_orm::sea_query::{
    ColumnDef, ForeignKey, ForeignKeyAction, Index, IndexOrder, Table, TableCreateStatement,
};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let trashed_at = Table::alter()
        .table("thread")
        .add_column(ColumnDef::new("trashed_at").big_integer())
        .to_owned();
    let mut listed = Index::create();
    listed
        .name("ix_trash_item_listed")
        .table("trash_item")
        .col("workspace_id")
        .col(("deleted_at", IndexOrder::Desc));
    let mut expired = Index::create();
    expired
        .name("ix_trash_item_expired")
        .table("trash_item")
        .col("deleted_at");
    let mut bindings = Index::create();
    bindings
        .name("ix_trash_binding_thread")
        .table("trash_binding")
        .col("thread_id");
    vec![
        Ddl::Column(trashed_at),
        Ddl::Table(trash_item()),
        Ddl::Index(listed),
        Ddl::Index(expired),
        Ddl::Table(trash_member()),
        Ddl::Table(trash_binding()),
        Ddl::Index(bindings),
    ]
}

fn trash_item() -> TableCreateStatement {
    Table::create()
        .table("trash_item")
        // `thread`, `folder` or `agents_doc`.
        .col(ColumnDef::new("kind").string().not_null())
        // The id of the thread, folder or document.
        .col(ColumnDef::new("subject_id").string().not_null())
        .col(ColumnDef::new("workspace_id").string().not_null())
        .col(ColumnDef::new("name").string().not_null())
        // The former folder, or for a document the folder it belongs to; null for the root. No foreign key: that folder
        // may be deleted too.
        .col(ColumnDef::new("folder_id").string())
        // The name of that folder at the time of deletion, for display.
        .col(ColumnDef::new("folder_name").string())
        // Folders only: the folder that its contents moved to; null for the root.
        .col(ColumnDef::new("promoted_to").string())
        // Folders only: values of its former row.
        .col(ColumnDef::new("position").big_integer())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        // Folders only: its agents doc, archived with it.
        .col(ColumnDef::new("doc_id").string())
        // Folders only: the project of the company folder that it belonged to.
        .col(ColumnDef::new("project_id").string())
        .col(ColumnDef::new("project_name").string())
        .col(ColumnDef::new("deleted_at").big_integer().not_null())
        .col(ColumnDef::new("deleted_by").string().not_null())
        .primary_key(Index::create().col("kind").col("subject_id"))
        .foreign_key(
            ForeignKey::create()
                .from("trash_item", "workspace_id")
                .to("workspace", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}

/// The objects that were directly in a trashed folder.
fn trash_member() -> TableCreateStatement {
    Table::create()
        .table("trash_member")
        .col(ColumnDef::new("folder_id").string().not_null())
        // `thread` or `folder`.
        .col(ColumnDef::new("kind").string().not_null())
        .col(ColumnDef::new("member_id").string().not_null())
        .primary_key(
            Index::create()
                .col("folder_id")
                .col("kind")
                .col("member_id"),
        )
        .to_owned()
}

/// The artifact bindings of a trashed thread, with the columns of `artifact_binding`.
fn trash_binding() -> TableCreateStatement {
    let mut table = Table::create();
    table
        .table("trash_binding")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("workspace_id").string().not_null())
        .col(ColumnDef::new("artifact_id").string().not_null())
        .col(ColumnDef::new("artifact_version_id").string())
        .col(ColumnDef::new("thread_id").string().not_null());
    for column in [
        "turn_id",
        "message_id",
        "turn_item_id",
        "tool_call_id",
        "task_id",
        "task_run_id",
    ] {
        table.col(ColumnDef::new(column).string());
    }
    table
        .col(ColumnDef::new("binding_kind").string().not_null())
        .col(ColumnDef::new("direction").string().not_null())
        .col(ColumnDef::new("item_index").big_integer())
        .col(ColumnDef::new("role").string())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .to_owned()
}
