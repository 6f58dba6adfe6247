//! The presence of the principal that decided a proposal.

use sea_orm::sea_query::{ColumnDef, Table};

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let column = Table::alter()
        .table("thread_agents_doc_proposal")
        .add_column(ColumnDef::new("decided_via").string())
        .to_owned();
    vec![Ddl::Column(column)]
}
