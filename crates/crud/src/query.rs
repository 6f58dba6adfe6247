//! Handwritten SQL statements, for queries where the query builder would cost more than the query.
//!
//! Placeholders are `$1`, `$2`, … as in PostgreSQL. All statements, including changes, use the prepared-statement
//! cache. `RETURNING` is reserved for callers that need the rows, because SQLite creates a temporary table for it.

use sea_orm::{
    ConnectionTrait as _, DatabaseConnection, DbBackend, FromQueryResult, QueryResult, Statement,
    Value,
};

use crate::Error;

/// Runs a statement and discards its rows.
pub(crate) fn run<const N: usize>(
    db: &DatabaseConnection,
    sql: &str,
    values: [Value; N],
) -> Result<(), Error> {
    one(db, sql, values).map(drop)
}

/// Returns the first row.
pub(crate) fn one<const N: usize>(
    db: &DatabaseConnection,
    sql: &str,
    values: [Value; N],
) -> Result<Option<QueryResult>, Error> {
    Ok(db.query_one_raw(statement(db, sql, values))?)
}

/// Returns all rows.
pub(crate) fn all<const N: usize>(
    db: &DatabaseConnection,
    sql: &str,
    values: [Value; N],
) -> Result<Vec<QueryResult>, Error> {
    Ok(db.query_all_raw(statement(db, sql, values))?)
}

/// Returns all rows, for a variable number of values.
pub(crate) fn all_of(
    db: &DatabaseConnection,
    sql: &str,
    values: Vec<Value>,
) -> Result<Vec<QueryResult>, Error> {
    Ok(db.query_all_raw(statement(db, sql, values))?)
}

/// Returns the first row, converted to `T`.
pub(crate) fn find<T: FromQueryResult, const N: usize>(
    db: &DatabaseConnection,
    sql: &str,
    values: [Value; N],
) -> Result<Option<T>, Error> {
    let row = one(db, sql, values)?;
    Ok(row.map(|row| T::from_query_result(&row, "")).transpose()?)
}

/// Returns all rows, converted to `T`.
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
    // In SQLite `$2` is a named parameter, numbered by first appearance; `?2` always is the second value.
    let sql = match backend {
        DbBackend::Sqlite => sql.replace('$', "?"),
        DbBackend::MySql | DbBackend::Postgres | _ => sql.to_owned(),
    };
    Statement::from_sql_and_values(backend, sql, values)
}
