//! Statements written by hand, where the builder would cost more than the query.
//!
//! Placeholders are `$1`, `$2`, … as PostgreSQL writes them. Everything goes through the cache of prepared statements,
//! also what changes rows; `RETURNING` is only for those who need an answer, because SQLite makes a table for it.

use sea_orm::{
    ConnectionTrait as _, DatabaseConnection, DbBackend, FromQueryResult, QueryResult, Statement,
    Value,
};

use crate::Error;

/// A change whose rows nobody needs.
pub(crate) fn run<const N: usize>(
    db: &DatabaseConnection,
    sql: &str,
    values: [Value; N],
) -> Result<(), Error> {
    one(db, sql, values).map(drop)
}

/// The first row.
pub(crate) fn one<const N: usize>(
    db: &DatabaseConnection,
    sql: &str,
    values: [Value; N],
) -> Result<Option<QueryResult>, Error> {
    Ok(db.query_one_raw(statement(db, sql, values))?)
}

/// Every row.
pub(crate) fn all<const N: usize>(
    db: &DatabaseConnection,
    sql: &str,
    values: [Value; N],
) -> Result<Vec<QueryResult>, Error> {
    Ok(db.query_all_raw(statement(db, sql, values))?)
}

/// Every row, for as many values as there are.
pub(crate) fn all_of(
    db: &DatabaseConnection,
    sql: &str,
    values: Vec<Value>,
) -> Result<Vec<QueryResult>, Error> {
    Ok(db.query_all_raw(statement(db, sql, values))?)
}

/// The first row as a type.
pub(crate) fn find<T: FromQueryResult, const N: usize>(
    db: &DatabaseConnection,
    sql: &str,
    values: [Value; N],
) -> Result<Option<T>, Error> {
    let row = one(db, sql, values)?;
    Ok(row.map(|row| T::from_query_result(&row, "")).transpose()?)
}

/// Every row as a type.
pub(crate) fn list<T: FromQueryResult, const N: usize>(
    db: &DatabaseConnection,
    sql: &str,
    values: [Value; N],
) -> Result<Vec<T>, Error> {
    let rows = all(db, sql, values)?;
    let rows: Result<_, sea_orm::DbErr> = rows
        .iter()
        .map(|row| T::from_query_result(row, ""))
        .collect();
    Ok(rows?)
}

fn statement(
    db: &DatabaseConnection,
    sql: &str,
    values: impl IntoIterator<Item = Value>,
) -> Statement {
    let backend = db.get_database_backend();
    // For SQLite `$2` is a name, numbered by where it first appears; `?2` is the second value wherever it stands.
    let sql = match backend {
        DbBackend::Sqlite => sql.replace('$', "?"),
        DbBackend::MySql | DbBackend::Postgres | _ => sql.to_owned(),
    };
    Statement::from_sql_and_values(backend, sql, values)
}
