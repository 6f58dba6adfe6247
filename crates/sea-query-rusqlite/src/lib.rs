//! Binds the statement values of SeaORM to `rusqlite`.
//!
//! SeaORM accesses SQLite only through a crate of this name, and the published one requires `rusqlite` 0.38. That
//! bundles SQLite 3.51.1, in which two connections that write and checkpoint concurrently can corrupt a database in WAL
//! mode. This crate has the same interface and requires a `rusqlite` with a fixed SQLite. Remove it, together with its
//! line under `[patch.crates-io]`, when a published version does the same.

use rusqlite::{
    ToSql,
    types::{ToSqlOutput, Value as Stored, ValueRef},
};
use sea_query::{QueryBuilder, SelectStatement, Value};

pub use rusqlite;

/// A value of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct RusqliteValue(pub Value);

/// The values of a statement, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct RusqliteValues(pub Vec<RusqliteValue>);

impl RusqliteValues {
    /// Returns the values as `rusqlite` params.
    pub fn as_params(&self) -> Vec<&dyn ToSql> {
        let params = self.0.iter().map(|value| value as &dyn ToSql);
        params.collect()
    }
}

/// A statement that can be executed by `rusqlite`.
pub trait RusqliteBinder {
    /// Returns the SQL text and the values for its placeholders.
    fn build_rusqlite<B: QueryBuilder>(&self, builder: B) -> (String, RusqliteValues);
}

impl RusqliteBinder for SelectStatement {
    fn build_rusqlite<B: QueryBuilder>(&self, builder: B) -> (String, RusqliteValues) {
        let (text, values) = self.build(builder);
        let values = values.into_iter().map(RusqliteValue).collect();
        (text, RusqliteValues(values))
    }
}

impl ToSql for RusqliteValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let integer = |value: Option<i64>| {
            let stored = value.map_or(Stored::Null, Stored::Integer);
            Ok(ToSqlOutput::Owned(stored))
        };
        let real = |value: Option<f64>| {
            let stored = value.map_or(Stored::Null, Stored::Real);
            Ok(ToSqlOutput::Owned(stored))
        };
        match &self.0 {
            Value::Bool(value) => integer(value.map(i64::from)),
            Value::TinyInt(value) => integer(value.map(i64::from)),
            Value::SmallInt(value) => integer(value.map(i64::from)),
            Value::Int(value) => integer(value.map(i64::from)),
            Value::BigInt(value) => integer(*value),
            Value::TinyUnsigned(value) => integer(value.map(i64::from)),
            Value::SmallUnsigned(value) => integer(value.map(i64::from)),
            Value::Unsigned(value) => integer(value.map(i64::from)),
            // Fails for a value beyond the integer range of SQLite.
            Value::BigUnsigned(value) => value.to_sql(),
            Value::Float(value) => real(value.map(f64::from)),
            Value::Double(value) => real(*value),
            Value::String(value) => Ok(value.as_deref().map_or(NULL, text)),
            Value::Char(value) => {
                let stored = value.map_or(Stored::Null, |value| Stored::Text(value.to_string()));
                Ok(ToSqlOutput::Owned(stored))
            }
            Value::Bytes(value) => Ok(value
                .as_deref()
                .map_or(NULL, |bytes| ToSqlOutput::Borrowed(ValueRef::Blob(bytes)))),
            other => {
                let error = format!("SQLite has no place for the value {other:?}");
                Err(rusqlite::Error::ToSqlConversionFailure(error.into()))
            }
        }
    }
}

const NULL: ToSqlOutput<'static> = ToSqlOutput::Owned(Stored::Null);

fn text(text: &str) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn stored(values: Vec<Value>) -> Vec<Stored> {
        let connection = Connection::open_in_memory().unwrap();
        let values = RusqliteValues(values.into_iter().map(RusqliteValue).collect());
        let names: Vec<_> = (1..=values.0.len())
            .map(|place| format!("?{place}"))
            .collect();
        let sql = format!("SELECT {}", names.join(", "));
        let read = |row: &rusqlite::Row<'_>| {
            let columns = 0..values.0.len();
            columns.map(|column| row.get(column)).collect()
        };
        connection
            .query_row(&sql, &*values.as_params(), read)
            .unwrap()
    }

    #[test]
    fn every_kind_of_value_is_stored_as_what_it_is() {
        let values = vec![
            Value::Bool(Some(true)),
            Value::TinyInt(Some(-8)),
            Value::BigInt(Some(i64::MIN)),
            Value::BigUnsigned(Some(7)),
            Value::Double(Some(0.5)),
            Value::from("text"),
            Value::Char(Some('é')),
            Value::from(vec![0u8, 255]),
        ];
        let expected = [
            Stored::Integer(1),
            Stored::Integer(-8),
            Stored::Integer(i64::MIN),
            Stored::Integer(7),
            Stored::Real(0.5),
            Stored::Text("text".to_owned()),
            Stored::Text("é".to_owned()),
            Stored::Blob(vec![0, 255]),
        ];
        assert_eq!(stored(values), expected);
    }

    #[test]
    fn nothing_is_stored_as_null() {
        let values = vec![
            Value::Bool(None),
            Value::BigInt(None),
            Value::BigUnsigned(None),
            Value::Double(None),
            Value::String(None),
            Value::Char(None),
            Value::Bytes(None),
        ];
        assert!(stored(values).iter().all(|value| *value == Stored::Null));
    }

    #[test]
    fn a_number_that_is_too_large_is_refused() {
        let value = RusqliteValue(Value::BigUnsigned(Some(u64::MAX)));
        assert!(value.to_sql().is_err());
    }
}
