//! Turns and their durable event logs.

use sea_orm::sea_query::{
    ColumnDef, ConditionalStatement as _, Expr, ExprTrait as _, ForeignKey, ForeignKeyAction,
    Index, Table, TableCreateStatement,
};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let mut order = Index::create();
    order
        .unique()
        .name("uq_turn_ordinal")
        .table("turn")
        .col("thread_id")
        .col("ordinal");
    let mut running = Index::create();
    running
        .unique()
        .name("uq_turn_running")
        .table("turn")
        .col("thread_id")
        .and_where(Expr::col("status").eq("InProgress"));
    vec![
        Ddl::Table(turn()),
        Ddl::Index(order),
        Ddl::Index(running),
        Ddl::Table(turn_event()),
    ]
}

fn turn() -> TableCreateStatement {
    Table::create()
        .table("turn")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("thread_id").string().not_null())
        .col(ColumnDef::new("workspace_id").string().not_null())
        // The position among the turns of the thread, starting at 1.
        .col(ColumnDef::new("ordinal").big_integer().not_null())
        .col(ColumnDef::new("status").string().not_null())
        .col(ColumnDef::new("error").text())
        // Distinguishes a repeated start from a different one.
        .col(ColumnDef::new("input_sha256").string().not_null())
        .col(ColumnDef::new("model").string().not_null())
        .col(ColumnDef::new("model_provider").string().not_null())
        // The process that runs the turn, used to recover turns of a process that ended.
        .col(ColumnDef::new("owner").string().not_null())
        .col(ColumnDef::new("prompt_manifest").text())
        .col(ColumnDef::new("last_sequence").big_integer().not_null())
        // Unix milliseconds.
        .col(ColumnDef::new("created_at_ms").big_integer().not_null())
        .col(ColumnDef::new("updated_at_ms").big_integer().not_null())
        .foreign_key(
            ForeignKey::create()
                .from("turn", "thread_id")
                .to("thread", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}

fn turn_event() -> TableCreateStatement {
    Table::create()
        .table("turn_event")
        .col(ColumnDef::new("turn_id").string().not_null())
        .col(ColumnDef::new("sequence").big_integer().not_null())
        // Unix milliseconds.
        .col(ColumnDef::new("created_at_ms").big_integer().not_null())
        // The name of the payload type, to select events by kind.
        .col(ColumnDef::new("kind").string().not_null())
        .col(ColumnDef::new("payload").text().not_null())
        .primary_key(Index::create().col("turn_id").col("sequence"))
        .foreign_key(
            ForeignKey::create()
                .from("turn_event", "turn_id")
                .to("turn", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}
