//! Rows of `hook_run`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "hook_run")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub subscription_id: String,
    pub hook_id: String,
    pub contract_version: i64,
    pub phase: String,
    pub status: String,
    pub is_background: bool,
    pub idempotency_key: String,
    pub scope_kind: Option<String>,
    pub scope_id: Option<String>,
    pub workspace_id: Option<String>,
    pub thread_id: Option<String>,
    pub turn_id: Option<String>,
    pub context: String,
    pub earlier: String,
    pub attempts: String,
    pub contribution_hashes: String,
    pub diagnostics: String,
    pub error: Option<String>,
    pub queued_at_ms: i64,
    pub started_at_ms: Option<i64>,
    pub completed_at_ms: Option<i64>,
    pub deadline_at_ms: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
