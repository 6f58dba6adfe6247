//! Rows of `desktop_sign_in_code`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "desktop_sign_in_code")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub code_sha256: String,
    pub owner_sha256: String,
    pub expires_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
