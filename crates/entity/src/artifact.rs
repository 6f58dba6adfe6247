//! Rows of `artifact`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "artifact")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub workspace_id: String,
    pub primary_thread_id: Option<String>,
    pub current_version_id: String,
    pub display_name: String,
    pub kind: String,
    pub mime_type: Option<String>,
    pub status: String,
    pub status_before_delete: Option<String>,
    pub created_by_kind: String,
    pub created_by_actor_id: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
    pub deleted_at: Option<i64>,
    pub metadata: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
