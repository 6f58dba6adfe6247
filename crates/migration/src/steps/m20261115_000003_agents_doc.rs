//! The agents doc of each scope and all its revisions.

use sea_orm::sea_query::{
    ColumnDef, ConditionalStatement as _, Expr, ExprTrait as _, ForeignKey, ForeignKeyAction,
    Index, Table, TableCreateStatement,
};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let is_kept = || Expr::col("status").is_in(["draft", "active"]);
    let mut root = Index::create();
    root.unique()
        .name("uq_thread_agents_doc_root_active")
        .table("thread_agents_doc")
        .col("workspace_id")
        .and_where(Expr::col("folder_id").is_null())
        .and_where(is_kept());
    let mut folder = Index::create();
    folder
        .unique()
        .name("uq_thread_agents_doc_folder_active")
        .table("thread_agents_doc")
        .col("workspace_id")
        .col("folder_id")
        .and_where(Expr::col("folder_id").is_not_null())
        .and_where(is_kept());
    let mut scope = Index::create();
    scope
        .name("ix_thread_agents_doc_scope")
        .table("thread_agents_doc")
        .col("workspace_id")
        .col("folder_id")
        .col("status");
    let mut recent = Index::create();
    recent
        .name("ix_thread_agents_doc_recent")
        .table("thread_agents_doc")
        .col("workspace_id")
        .col("status")
        .col("updated_at");
    let mut version = Index::create();
    version
        .unique()
        .name("uq_thread_agents_doc_revision_version")
        .table("thread_agents_doc_revision")
        .col("doc_id")
        .col("version");
    vec![
        Ddl::Table(thread_agents_doc()),
        Ddl::Index(root),
        Ddl::Index(folder),
        Ddl::Index(scope),
        Ddl::Index(recent),
        Ddl::Table(thread_agents_doc_revision()),
        Ddl::Index(version),
    ]
}

fn thread_agents_doc() -> TableCreateStatement {
    Table::create()
        .table("thread_agents_doc")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("workspace_id").string().not_null())
        // Null for the root. No foreign key: the archived document of a deleted folder is kept.
        .col(ColumnDef::new("folder_id").string())
        .col(ColumnDef::new("status").string().not_null())
        .col(
            ColumnDef::new("title")
                .string()
                .not_null()
                .default("AGENTS.md"),
        )
        .col(ColumnDef::new("content").text().not_null().default(""))
        .col(ColumnDef::new("content_sha256").string().not_null())
        // Stored so that summaries need not read the text.
        .col(ColumnDef::new("char_count").big_integer().not_null())
        .col(
            ColumnDef::new("version")
                .big_integer()
                .not_null()
                .default(1),
        )
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .col(ColumnDef::new("updated_at").big_integer().not_null())
        .col(ColumnDef::new("archived_at").big_integer())
        .col(ColumnDef::new("created_by").string())
        .col(ColumnDef::new("updated_by").string())
        .foreign_key(
            ForeignKey::create()
                .from("thread_agents_doc", "workspace_id")
                .to("workspace", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}

fn thread_agents_doc_revision() -> TableCreateStatement {
    Table::create()
        .table("thread_agents_doc_revision")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("doc_id").string().not_null())
        .col(ColumnDef::new("version").big_integer().not_null())
        .col(ColumnDef::new("content_sha256").string().not_null())
        .col(ColumnDef::new("content").text().not_null())
        .col(ColumnDef::new("char_count").big_integer().not_null())
        .col(ColumnDef::new("saved_at").big_integer().not_null())
        .col(ColumnDef::new("saved_by").string())
        .col(ColumnDef::new("save_reason").string().not_null())
        .foreign_key(
            ForeignKey::create()
                .from("thread_agents_doc_revision", "doc_id")
                .to("thread_agents_doc", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}
