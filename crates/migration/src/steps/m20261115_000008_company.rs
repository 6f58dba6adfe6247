//! Company folders as workspaces, and the tree folders of their projects.

use sea_orm::sea_query::{
    ColumnDef, ConditionalStatement as _, Expr, ExprTrait as _, ForeignKey, ForeignKeyAction,
    Index, Table, TableCreateStatement,
};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    // The path of the company folder of a workspace.
    let dir = Table::alter()
        .table("workspace")
        .add_column(ColumnDef::new("dir").string())
        .to_owned();
    let mut dirs = Index::create();
    dirs.unique()
        .name("uq_workspace_dir")
        .table("workspace")
        .col("dir")
        .and_where(Expr::col("dir").is_not_null());
    let mut folders = Index::create();
    folders
        .unique()
        .name("uq_company_project_folder")
        .table("company_project")
        .col("folder_id");
    vec![
        Ddl::Column(dir),
        Ddl::Index(dirs),
        Ddl::Table(company_project()),
        Ddl::Index(folders),
    ]
}

fn company_project() -> TableCreateStatement {
    Table::create()
        .table("company_project")
        .col(ColumnDef::new("workspace_id").string().not_null())
        .col(ColumnDef::new("project_id").string().not_null())
        .col(ColumnDef::new("folder_id").string().not_null())
        // The name of the project when the folder was named after it.
        .col(ColumnDef::new("name").string().not_null())
        .primary_key(Index::create().col("workspace_id").col("project_id"))
        // When a user deletes the folder, the project has no folder.
        .foreign_key(
            ForeignKey::create()
                .from("company_project", "folder_id")
                .to("thread_folder", "id")
                .on_delete(ForeignKeyAction::Cascade),
        )
        .to_owned()
}
