//! Drops an index of documents by time, which no query used and every save had to update.

use sea_orm::sea_query::Index;

use super::Ddl;

pub(super) fn statements() -> Vec<Ddl> {
    let recent = Index::drop()
        .name("ix_thread_agents_doc_recent")
        .table("thread_agents_doc")
        .to_owned();
    vec![Ddl::DropIndex(recent)]
}
