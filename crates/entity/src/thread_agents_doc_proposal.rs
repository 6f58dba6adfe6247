//! Rows of `thread_agents_doc_proposal`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "thread_agents_doc_proposal")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub workspace_id: String,
    pub folder_id: Option<String>,
    pub status: String,
    pub base_version: i64,
    pub content: String,
    pub content_sha256: String,
    pub char_count: i64,
    pub diff: String,
    pub rationale: String,
    pub author: String,
    pub decided_by: Option<String>,
    pub decided_at: Option<i64>,
    pub note: Option<String>,
    pub saved_doc_id: Option<String>,
    pub saved_version: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
    pub decided_via: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
