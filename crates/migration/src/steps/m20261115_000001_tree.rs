//! Workspaces, threads, folders and placements.

use sea_orm::sea_query::{
    ColumnDef, ConditionalStatement as _, Expr, ExprTrait as _, ForeignKey, ForeignKeyAction,
    Index, IndexOrder, Table, TableCreateStatement,
};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let mut current = Index::create();
    current
        .unique()
        .name("uq_workspace_current")
        .table("workspace")
        .col("is_current")
        .and_where(Expr::col("is_current").eq(true));
    let mut listed = Index::create();
    listed
        .name("ix_thread_listed")
        .table("thread")
        .col("workspace_id")
        .col("sidebar_visibility")
        .col(("updated_at", IndexOrder::Desc))
        .col("id");
    let mut drafts = Index::create();
    drafts
        .name("ix_thread_draft")
        .table("thread")
        .col("created_at")
        .and_where(Expr::col("materialized").eq(false));
    let mut children = Index::create();
    children
        .name("ix_thread_folder_parent")
        .table("thread_folder")
        .col("parent_folder_id");
    let mut folders = Index::create();
    folders
        .name("ix_thread_folder_name")
        .table("thread_folder")
        .col("workspace_id")
        .col("name")
        .col("id");
    let mut placed = Index::create();
    placed
        .name("ix_thread_placement_folder")
        .table("thread_placement")
        .col("folder_id");
    let mut placements = Index::create();
    placements
        .name("ix_thread_placement_workspace")
        .table("thread_placement")
        .col("workspace_id")
        .col("thread_id");
    vec![
        Ddl::Table(workspace()),
        Ddl::Index(current),
        Ddl::Table(thread()),
        Ddl::Index(listed),
        Ddl::Index(drafts),
        Ddl::Table(thread_folder()),
        Ddl::Index(children),
        Ddl::Index(folders),
        Ddl::Table(thread_placement()),
        Ddl::Index(placed),
        Ddl::Index(placements),
    ]
}

fn workspace() -> TableCreateStatement {
    Table::create()
        .table("workspace")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("name").string().not_null())
        .col(ColumnDef::new("is_active").boolean().not_null())
        .col(ColumnDef::new("is_current").boolean().not_null())
        // Incremented with every change of the tree.
        .col(ColumnDef::new("tree_version").big_integer().not_null())
        // The highest notification number that any process has reserved.
        .col(ColumnDef::new("reserved_seq").big_integer().not_null())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .col(ColumnDef::new("updated_at").big_integer().not_null())
        .to_owned()
}

fn thread() -> TableCreateStatement {
    Table::create()
        .table("thread")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("workspace_id").string().not_null())
        .col(ColumnDef::new("name").string())
        .col(ColumnDef::new("preview").string().not_null())
        .col(ColumnDef::new("mode").string().not_null())
        .col(ColumnDef::new("model").string().not_null())
        .col(ColumnDef::new("model_provider").string().not_null())
        .col(ColumnDef::new("status").string().not_null())
        .col(ColumnDef::new("origin_kind").string().not_null())
        .col(ColumnDef::new("sidebar_visibility").string().not_null())
        .col(ColumnDef::new("agent_nickname").string())
        .col(ColumnDef::new("agent_role").string())
        // False while the thread is a draft: it has no turn and no placement.
        .col(ColumnDef::new("materialized").boolean().not_null())
        // The connection that sees the draft.
        .col(ColumnDef::new("draft_owner").string())
        .col(ColumnDef::new("archived_at").big_integer())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .col(ColumnDef::new("updated_at").big_integer().not_null())
        .foreign_key(
            ForeignKey::create()
                .from("thread", "workspace_id")
                .to("workspace", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}

fn thread_folder() -> TableCreateStatement {
    Table::create()
        .table("thread_folder")
        .col(ColumnDef::new("id").string().not_null().primary_key())
        .col(ColumnDef::new("workspace_id").string().not_null())
        .col(ColumnDef::new("parent_folder_id").string())
        .col(ColumnDef::new("name").string().not_null())
        .col(ColumnDef::new("position").big_integer())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .col(ColumnDef::new("updated_at").big_integer().not_null())
        .foreign_key(
            ForeignKey::create()
                .from("thread_folder", "workspace_id")
                .to("workspace", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .foreign_key(
            ForeignKey::create()
                .from("thread_folder", "parent_folder_id")
                .to("thread_folder", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}

fn thread_placement() -> TableCreateStatement {
    Table::create()
        .table("thread_placement")
        .col(
            ColumnDef::new("thread_id")
                .string()
                .not_null()
                .primary_key(),
        )
        .col(ColumnDef::new("workspace_id").string().not_null())
        .col(ColumnDef::new("folder_id").string())
        .col(ColumnDef::new("created_at").big_integer().not_null())
        .col(ColumnDef::new("updated_at").big_integer().not_null())
        .foreign_key(
            ForeignKey::create()
                .from("thread_placement", "thread_id")
                .to("thread", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .foreign_key(
            ForeignKey::create()
                .from("thread_placement", "folder_id")
                .to("thread_folder", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .to_owned()
}
