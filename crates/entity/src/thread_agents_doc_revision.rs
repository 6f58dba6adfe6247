//! Rows of `thread_agents_doc_revision`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "thread_agents_doc_revision")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub doc_id: String,
    pub version: i64,
    pub content_sha256: String,
    pub content: String,
    pub char_count: i64,
    pub saved_at: i64,
    pub saved_by: Option<String>,
    pub save_reason: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
