//! Generates the JSON Schema of every wire type, each as a self-contained document.

use std::collections::{BTreeMap, BTreeSet};

use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

use crate::{FAMILIES, TypeSpec};

const REFERENCE_PREFIX: &str = "#/$defs/";

/// Returns the schema of every wire type by the name of its schema file, which is the type's name in snake_case.
pub fn schemas() -> BTreeMap<String, Value> {
    let definitions = definitions();
    definitions
        .keys()
        .map(|name| (snake_case(name), document(name, &definitions)))
        .collect()
}

/// Returns the schema of one wire type without generating all others.
pub fn schema_of(wire_type: &TypeSpec) -> Value {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    wire_type.register(&mut generator);
    document(&wire_type.name(), &generator.take_definitions(true))
}

/// Returns the schema of every wire type by its Rust name. References point to `#/$defs/<name>`.
pub(crate) fn definitions() -> Map<String, Value> {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    for family in FAMILIES {
        for method in family.methods {
            method.params.register(&mut generator);
            method.response.register(&mut generator);
        }
        for notification in family.notifications {
            notification.payload.register(&mut generator);
        }
        for published in family.types {
            published.register(&mut generator);
        }
    }
    generator.take_definitions(true)
}

/// Returns the schema of one type with all definitions it refers to, directly or indirectly.
pub(crate) fn document(name: &str, definitions: &Map<String, Value>) -> Value {
    let mut needed = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(next) = open.pop() {
        let Some(schema) = definitions.get(&next) else {
            continue;
        };
        visit_references(schema, &mut |reference| {
            if needed.insert(reference.to_owned()) {
                open.push(reference.to_owned());
            }
        });
    }
    let mut document = Map::new();
    document.insert(
        "$schema".into(),
        "https://json-schema.org/draft/2020-12/schema".into(),
    );
    document.insert("title".into(), name.into());
    if let Some(Value::Object(schema)) = definitions.get(name) {
        document.extend(schema.clone());
    }
    if !needed.is_empty() {
        let chosen = needed
            .into_iter()
            .filter_map(|name| definitions.get(&name).cloned().map(|schema| (name, schema)));
        document.insert("$defs".into(), Value::Object(chosen.collect()));
    }
    Value::Object(document)
}

fn visit_references(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(target) if key == "$ref" => {
                        if let Some(name) = target.strip_prefix(REFERENCE_PREFIX) {
                            found(name);
                        }
                    }
                    Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Array(_)
                    | Value::Object(_) => visit_references(member, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| visit_references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Converts `ThreadAgentsDocSummary` to `thread_agents_doc_summary`.
fn snake_case(name: &str) -> String {
    let mut result = String::with_capacity(name.len() + 8);
    for character in name.chars() {
        if character.is_ascii_uppercase() && !result.is_empty() {
            result.push('_');
        }
        result.push(character.to_ascii_lowercase());
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_stands_alone() {
        let schemas = schemas();
        let tree = &schemas["thread_tree_response"];
        let definitions = tree["$defs"].as_object().unwrap();
        visit_references(tree, &mut |name| {
            assert!(definitions.contains_key(name), "{name} is missing");
        });
        assert!(
            definitions.contains_key("ThreadMode"),
            "indirect references are included"
        );
    }

    #[test]
    fn no_two_types_share_a_schema_name() {
        let numbered: Vec<_> = definitions()
            .keys()
            .filter(|name| name.ends_with(|last: char| last.is_ascii_digit()))
            .cloned()
            .collect();
        assert_eq!(
            numbered,
            Vec::<String>::new(),
            "schemars appends a number to a duplicate name"
        );
    }
}
