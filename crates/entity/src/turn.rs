//! Rows of `turn`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "turn")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub thread_id: String,
    pub workspace_id: String,
    pub ordinal: i64,
    pub status: String,
    pub error: Option<String>,
    pub input_sha256: String,
    pub model: String,
    pub model_provider: String,
    pub owner: String,
    pub prompt_manifest: Option<String>,
    pub last_sequence: i64,
    pub created_at_ms: i64,
    pub updated_at_ms: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
