//! Rows of `artifact_upload_session`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "artifact_upload_session")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub workspace_id: String,
    pub owner: String,
    pub client_attachment_id: String,
    pub thread_id: Option<String>,
    pub planned_turn_id: Option<String>,
    pub file_name: String,
    pub mime_type: Option<String>,
    pub size_bytes: i64,
    pub sha256: String,
    pub source_kind: String,
    pub status: String,
    pub artifact_id: Option<String>,
    pub created_at: i64,
    pub expires_at: i64,
    pub version_of: Option<String>,
    pub version_id: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
