//! Rows of `thread`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "thread")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub workspace_id: String,
    pub name: Option<String>,
    pub preview: String,
    pub mode: String,
    pub model: String,
    pub model_provider: String,
    pub status: String,
    pub origin_kind: String,
    pub sidebar_visibility: String,
    pub agent_nickname: Option<String>,
    pub agent_role: Option<String>,
    pub materialized: bool,
    pub draft_owner: Option<String>,
    pub archived_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
    pub trashed_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
