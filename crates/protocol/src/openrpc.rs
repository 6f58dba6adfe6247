//! Machine-readable descriptions of all methods: the OpenRPC document and the rows of `system/methods`.

use serde_json::{Map, Value, json};

use crate::{MethodSpec, methods, schema, system::SystemMethod};

/// Returns the OpenRPC document served at `/openrpc.json`; `version` is the version of the gateway.
pub fn openrpc(version: &str) -> Value {
    let definitions = schema::definitions();
    let methods: Vec<_> = methods()
        .map(|(_, method)| describe(method, &definitions))
        .collect();
    let mut document = json!({
        "openrpc": "1.3.2",
        "info": {"title": "Accord gateway", "version": version},
        "methods": methods,
        "components": {"schemas": definitions},
    });
    point_to_components(&mut document);
    document
}

fn describe(method: &MethodSpec, definitions: &Map<String, Value>) -> Value {
    let params = &definitions[method.params.name().as_ref()];
    let required = params["required"].as_array();
    let rows = params["properties"].as_object().into_iter().flatten();
    let rows: Vec<_> = rows
        .map(|(name, schema)| {
            let needed = required.is_some_and(|required| required.iter().any(|one| one == name));
            json!({"name": name, "required": needed, "schema": schema})
        })
        .collect();
    let response = method.response.name();
    json!({
        "name": method.name,
        "summary": summary(method.doc),
        "description": description(method.doc),
        "paramStructure": "by-name",
        "params": rows,
        "result": {"name": response, "schema": {"$ref": format!("#/$defs/{response}")}},
    })
}

/// Returns every method with its schemas, for `system/methods`.
pub fn describe_methods() -> Vec<SystemMethod> {
    let definitions = schema::definitions();
    methods()
        .map(|(family, method)| SystemMethod {
            name: method.name.to_owned(),
            method: method.name.to_owned(),
            family: family.dialect.as_str().to_owned(),
            scope: method.access.as_str().to_owned(),
            summary: summary(method.doc),
            params_schema: schema::document(&method.params.name(), &definitions),
            result_schema: schema::document(&method.response.name(), &definitions),
        })
        .collect()
}

/// Returns the first line of a method's doc comment, which is its first sentence.
pub fn summary(doc: &str) -> String {
    doc.lines().next().unwrap_or_default().trim().to_owned()
}

/// Returns the whole doc comment, with each paragraph joined into one line.
pub(crate) fn description(doc: &str) -> String {
    let mut paragraphs = vec![String::new()];
    for line in doc.lines().map(str::trim) {
        match (line, paragraphs.last_mut()) {
            ("", _) => paragraphs.push(String::new()),
            (text, Some(paragraph)) if paragraph.is_empty() => paragraph.push_str(text),
            (text, Some(paragraph)) => {
                paragraph.push(' ');
                paragraph.push_str(text);
            }
            (_, None) => {}
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs.join("\n\n")
}

/// Rewrites `#/$defs/…` references to `#/components/schemas/…`, where OpenRPC expects definitions.
fn point_to_components(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(point_to_components),
        Value::Array(items) => items.iter_mut().for_each(point_to_components),
        Value::String(text) => {
            if let Some(name) = text.strip_prefix("#/$defs/") {
                *text = format!("#/components/schemas/{name}");
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
