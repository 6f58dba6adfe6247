//! Applies the migration steps that a database does not have yet.

use data_encoding::HEXLOWER;
use sea_orm::{ConnectionTrait, DbErr, Statement};
use sha2::{Digest as _, Sha256};

use crate::steps::{MigrationStep, STEPS};

/// The reason a database cannot be migrated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database has a step that this version does not know, so a newer version has written it.
    #[error(
        "the database has the migration step `{0}`, which this version of ac does not know: use a newer version"
    )]
    Newer(String),
    /// The checksum of an applied step differs: a released step was changed afterwards.
    #[error("the migration step `{0}` differs from the one applied to this database")]
    Changed(String),
    /// A statement of a step failed.
    #[error("the migration step `{step}` failed")]
    Step {
        /// The name of the step.
        step: String,
        /// The error of the database.
        #[source]
        source: DbErr,
    },
}

/// Applies every missing step. The caller must hold an exclusive transaction. `now` is in Unix seconds.
pub fn apply(db: &impl ConnectionTrait, now: i64) -> Result<(), Error> {
    let failed = |step: &str| {
        let step = step.to_owned();
        move |source| Error::Step { step, source }
    };
    db.execute_unprepared(
        "CREATE TABLE IF NOT EXISTS migration \
         (name varchar NOT NULL PRIMARY KEY, checksum varchar NOT NULL, applied_at bigint NOT NULL)",
    )
    .map_err(failed("migration"))?;
    let applied = applied(db).map_err(failed("migration"))?;
    for (position, (name, checksum)) in applied.iter().enumerate() {
        let Some(step) = STEPS.get(position).filter(|step| step.name == name) else {
            return Err(Error::Newer(name.clone()));
        };
        if *checksum != self::checksum(step, db) {
            return Err(Error::Changed(name.clone()));
        }
    }
    for step in &STEPS[applied.len()..] {
        for statement in (step.statements)() {
            let sql = statement.sql(db.get_database_backend());
            db.execute_unprepared(&sql).map_err(failed(step.name))?;
        }
        let record = Statement::from_sql_and_values(
            db.get_database_backend(),
            "INSERT INTO migration (name, checksum, applied_at) VALUES ($1, $2, $3)",
            [step.name.into(), checksum(step, db).into(), now.into()],
        );
        db.execute_raw(record).map_err(failed(step.name))?;
    }
    Ok(())
}

/// Returns the name and checksum of every applied step, ordered by name, which starts with the date.
fn applied(db: &impl ConnectionTrait) -> Result<Vec<(String, String)>, DbErr> {
    let query = Statement::from_string(
        db.get_database_backend(),
        "SELECT name, checksum FROM migration ORDER BY name",
    );
    let rows = db.query_all_raw(query)?;
    rows.iter()
        .map(|row| Ok((row.try_get("", "name")?, row.try_get("", "checksum")?)))
        .collect()
}

fn checksum(step: &MigrationStep, db: &impl ConnectionTrait) -> String {
    let mut hash = Sha256::new();
    for statement in (step.statements)() {
        hash.update(statement.sql(db.get_database_backend()));
        hash.update(";\n");
    }
    HEXLOWER.encode(&hash.finalize())
}
