//! The migration steps in order of application.

use sea_orm::DbBackend;
use sea_orm::sea_query::{
    IndexCreateStatement, IndexDropStatement, PostgresQueryBuilder, SqliteQueryBuilder,
    TableAlterStatement, TableCreateStatement,
};

mod m20261115_000001_tree;
mod m20261115_000002_access_token;
mod m20261115_000003_agents_doc;
mod m20261115_000004_turn;
mod m20261115_000005_hook_run;
mod m20261115_000006_artifact;
mod m20261115_000007_artifact_version_upload;
mod m20261115_000008_company;
mod m20261115_000009_agents_doc_proposal;
mod m20261116_000010_artifact_chunk_hashes;
mod m20261116_000011_agents_doc_recent;
mod m20261117_000012_trash;
mod m20261118_000013_agents_doc_proposal_presence;
mod m20261118_000014_desktop_session;

/// One migration step.
pub(crate) struct MigrationStep {
    /// The name of the step, which is also its file name.
    pub(crate) name: &'static str,
    pub(crate) statements: fn() -> Vec<Ddl>,
}

/// All steps, oldest first.
pub(crate) const STEPS: &[MigrationStep] = &[
    MigrationStep {
        name: "m20261115_000001_tree",
        statements: m20261115_000001_tree::statements,
    },
    MigrationStep {
        name: "m20261115_000002_access_token",
        statements: m20261115_000002_access_token::statements,
    },
    MigrationStep {
        name: "m20261115_000003_agents_doc",
        statements: m20261115_000003_agents_doc::statements,
    },
    MigrationStep {
        name: "m20261115_000004_turn",
        statements: m20261115_000004_turn::statements,
    },
    MigrationStep {
        name: "m20261115_000005_hook_run",
        statements: m20261115_000005_hook_run::statements,
    },
    MigrationStep {
        name: "m20261115_000006_artifact",
        statements: m20261115_000006_artifact::statements,
    },
    MigrationStep {
        name: "m20261115_000007_artifact_version_upload",
        statements: m20261115_000007_artifact_version_upload::statements,
    },
    MigrationStep {
        name: "m20261115_000008_company",
        statements: m20261115_000008_company::statements,
    },
    MigrationStep {
        name: "m20261115_000009_agents_doc_proposal",
        statements: m20261115_000009_agents_doc_proposal::statements,
    },
    MigrationStep {
        name: "m20261116_000010_artifact_chunk_hashes",
        statements: m20261116_000010_artifact_chunk_hashes::statements,
    },
    MigrationStep {
        name: "m20261116_000011_agents_doc_recent",
        statements: m20261116_000011_agents_doc_recent::statements,
    },
    MigrationStep {
        name: "m20261117_000012_trash",
        statements: m20261117_000012_trash::statements,
    },
    MigrationStep {
        name: "m20261118_000013_agents_doc_proposal_presence",
        statements: m20261118_000013_agents_doc_proposal_presence::statements,
    },
    MigrationStep {
        name: "m20261118_000014_desktop_session",
        statements: m20261118_000014_desktop_session::statements,
    },
];

/// One statement, independent of the database backend.
#[expect(
    clippy::large_enum_variant,
    reason = "a handful exist, for a moment at start"
)]
pub(crate) enum Ddl {
    Table(TableCreateStatement),
    Index(IndexCreateStatement),
    Column(TableAlterStatement),
    DropIndex(IndexDropStatement),
}

impl Ddl {
    pub(crate) fn sql(&self, backend: DbBackend) -> String {
        match (self, backend) {
            (Self::Table(table), DbBackend::Postgres) => table.to_string(PostgresQueryBuilder),
            (Self::Index(index), DbBackend::Postgres) => index.to_string(PostgresQueryBuilder),
            (Self::Column(column), DbBackend::Postgres) => column.to_string(PostgresQueryBuilder),
            (Self::DropIndex(index), DbBackend::Postgres) => index.to_string(PostgresQueryBuilder),
            (Self::Table(table), _) => table.to_string(SqliteQueryBuilder),
            (Self::Index(index), _) => index.to_string(SqliteQueryBuilder),
            (Self::Column(column), _) => column.to_string(SqliteQueryBuilder),
            (Self::DropIndex(index), _) => index.to_string(SqliteQueryBuilder),
        }
    }
}
