//! Rows of `trash_item`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "trash_item")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub subject_id: String,
    pub workspace_id: String,
    pub name: String,
    pub folder_id: Option<String>,
    pub folder_name: Option<String>,
    pub promoted_to: Option<String>,
    pub position: Option<i64>,
    pub created_at: i64,
    pub doc_id: Option<String>,
    pub project_id: Option<String>,
    pub project_name: Option<String>,
    pub deleted_at: i64,
    pub deleted_by: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
