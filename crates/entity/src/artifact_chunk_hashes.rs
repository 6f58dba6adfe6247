//! Rows of `artifact_chunk_hashes`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "artifact_chunk_hashes")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub blob_id: String,
    pub chunk_bytes: i64,
    pub hashes: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
