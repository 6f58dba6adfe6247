//! Records of hook runs.

use sea_orm::sea_query::{
    ColumnDef, ConditionalStatement as _, Expr, ExprTrait as _, Index, Table, TableCreateStatement,
};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let mut turn = Index::create();
    turn.name("ix_hook_run_turn")
        .table("hook_run")
        .col("turn_id");
    let mut workspace = Index::create();
    workspace
        .name("ix_hook_run_workspace")
        .table("hook_run")
        .col("workspace_id")
        .col("queued_at_ms")
        .col("id");
    let mut unfinished = Index::create();
    unfinished
        .name("ix_hook_run_unfinished")
        .table("hook_run")
        .col("queued_at_ms")
        .and_where(Expr::col("status").is_in(["queued", "running"]));
    vec![
        Ddl::Table(hook_run()),
        Ddl::Index(turn),
        Ddl::Index(workspace),
        Ddl::Index(unfinished),
    ]
}

fn hook_run() -> TableCreateStatement {
    Table::create()
        .table("hook_run")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("subscription_id").string().not_null())
        .col(ColumnDef::new("hook_id").string().not_null())
        .col(ColumnDef::new("contract_version").big_integer().not_null())
        .col(ColumnDef::new("phase").string().not_null())
        .col(ColumnDef::new("status").string().not_null())
        .col(ColumnDef::new("is_background").boolean().not_null())
        .col(ColumnDef::new("idempotency_key").string().not_null())
        .col(ColumnDef::new("scope_kind").string())
        .col(ColumnDef::new("scope_id").string())
        .col(ColumnDef::new("workspace_id").string())
        .col(ColumnDef::new("thread_id").string())
        .col(ColumnDef::new("turn_id").string())
        // JSON.
        .col(ColumnDef::new("context").text().not_null())
        .col(ColumnDef::new("earlier").text().not_null())
        .col(ColumnDef::new("attempts").text().not_null())
        .col(ColumnDef::new("contribution_hashes").text().not_null())
        .col(ColumnDef::new("diagnostics").text().not_null())
        .col(ColumnDef::new("error").text())
        // Unix milliseconds.
        .col(ColumnDef::new("queued_at_ms").big_integer().not_null())
        .col(ColumnDef::new("started_at_ms").big_integer())
        .col(ColumnDef::new("completed_at_ms").big_integer())
        .col(ColumnDef::new("deadline_at_ms").big_integer())
        .to_owned()
}
