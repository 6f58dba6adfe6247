//! The rows follow the migrated schema: each file is written from it, and a stale one fails here.

use std::fmt::Write as _;

use rusqlite::Connection;
use sea_orm::{
    ConnectionTrait as _, DatabaseConnection, DatabaseConnectionType, QueryResult, Statement, Value,
};

/// Tables that are read without an entity.
const WITHOUT_ENTITY: &[&str] = &["migration"];

#[test]
fn every_table_has_its_entity() {
    let connection = Connection::open_in_memory().unwrap();
    let schema = DatabaseConnection::from(DatabaseConnectionType::RusqliteSharedConnection(
        connection.into(),
    ));
    migration::apply(&schema, 0).unwrap();

    let tables = rows(
        &schema,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
        [],
    );
    let tables: Vec<String> = tables
        .iter()
        .map(|row| row.try_get("", "name").unwrap())
        .collect();
    let tables: Vec<_> = tables
        .iter()
        .filter(|table| !WITHOUT_ENTITY.contains(&table.as_str()))
        .collect();
    let mut library = String::from(
        "//! The rows of the gateway database, generated from the migrated schema; do not edit.\n\
         //!\n\
         //! `UPDATE_GENERATED=1 cargo test -p entity` writes them anew. No serde here: a row is never a wire type.\n\
         #![expect(missing_docs, reason = \"the columns are described in `migration`\")]\n\n",
    );
    for table in &tables {
        let _ = writeln!(library, "pub mod {table};");
        testkit::assert_generated(
            &format!("crates/entity/src/{table}.rs"),
            &entity(&schema, table),
        );
    }
    testkit::assert_generated("crates/entity/src/lib.rs", &library);
}

fn entity(schema: &DatabaseConnection, table: &str) -> String {
    let mut columns = String::new();
    let query = "SELECT name, type, \"notnull\", pk FROM pragma_table_info($1)";
    for row in rows(schema, query, [table.into()]) {
        let name: String = row.try_get("", "name").expect("the schema can be read");
        let declared: String = row.try_get("", "type").expect("the schema can be read");
        let not_null: bool = row.try_get("", "notnull").expect("the schema can be read");
        let is_key: bool = row.try_get("", "pk").expect("the schema can be read");
        let rust = match declared.to_ascii_lowercase().as_str() {
            "varchar" | "text" => "String",
            "bigint" | "integer" => "i64",
            "boolean" => "bool",
            "blob" => "Vec<u8>",
            other => {
                panic!("`{table}.{name}` has the type `{other}`, which no Rust type stands for yet")
            }
        };
        if is_key {
            columns.push_str("    #[sea_orm(primary_key, auto_increment = false)]\n");
        }
        let rust = match not_null {
            true => rust.to_owned(),
            false => format!("Option<{rust}>"),
        };
        let _ = writeln!(columns, "    pub {name}: {rust},");
    }
    format!(
        "//! Rows of `{table}`.\n\n\
         use sea_orm::entity::prelude::*;\n\n\
         #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]\n\
         #[sea_orm(table_name = \"{table}\")]\n\
         pub struct Model {{\n{columns}}}\n\n\
         #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]\n\
         pub enum Relation {{}}\n\n\
         impl ActiveModelBehavior for ActiveModel {{}}\n"
    )
}

fn rows<const N: usize>(
    schema: &DatabaseConnection,
    query: &str,
    values: [Value; N],
) -> Vec<QueryResult> {
    let statement = Statement::from_sql_and_values(schema.get_database_backend(), query, values);
    schema
        .query_all_raw(statement)
        .expect("the schema can be read")
}
