//! Proposed changes of agents docs and the decisions on them.

use sea_orm::sea_query::{
    ColumnDef, ForeignKey, ForeignKeyAction, Index, Table, TableCreateStatement,
};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let mut listed = Index::create();
    listed
        .name("ix_thread_agents_doc_proposal_listed")
        .table("thread_agents_doc_proposal")
        .col("workspace_id")
        .col("status")
        .col("created_at");
    vec![Ddl::Table(thread_agents_doc_proposal()), Ddl::Index(listed)]
}

fn thread_agents_doc_proposal() -> TableCreateStatement {
    Table::create()
        .table("thread_agents_doc_proposal")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("workspace_id").string().not_null())
        // Null for the root. No foreign key: proposals for a deleted folder are kept.
        .col(ColumnDef::new("folder_id").string())
        // `pending`, `approved`, `denied` or `withdrawn`.
        .col(ColumnDef::new("status").string().not_null())
        // The base version of the scope; 0 for no document. Versions of a scope never repeat.
        .col(ColumnDef::new("base_version").big_integer().not_null())
        .col(ColumnDef::new("content").text().not_null())
        .col(ColumnDef::new("content_sha256").string().not_null())
        .col(ColumnDef::new("char_count").big_integer().not_null())
        // The diff against the base, so that lists need not read and compare the texts.
        .col(ColumnDef::new("diff").text().not_null())
        .col(ColumnDef::new("rationale").text().not_null())
        .col(ColumnDef::new("author").string().not_null())
        .col(ColumnDef::new("decided_by").string())
        .col(ColumnDef::new("decided_at").big_integer())
        .col(ColumnDef::new("note").text())
        // The document and version in which an approved text was saved.
        .col(ColumnDef::new("saved_doc_id").string())
        .col(ColumnDef::new("saved_version").big_integer())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .col(ColumnDef::new("updated_at").big_integer().not_null())
        .foreign_key(
            ForeignKey::create()
                .from("thread_agents_doc_proposal", "workspace_id")
                .to("workspace", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}
