//! Rows of `trash_binding`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "trash_binding")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub workspace_id: String,
    pub artifact_id: String,
    pub artifact_version_id: Option<String>,
    pub thread_id: String,
    pub turn_id: Option<String>,
    pub message_id: Option<String>,
    pub turn_item_id: Option<String>,
    pub tool_call_id: Option<String>,
    pub task_id: Option<String>,
    pub task_run_id: Option<String>,
    pub binding_kind: String,
    pub direction: String,
    pub item_index: Option<i64>,
    pub role: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
