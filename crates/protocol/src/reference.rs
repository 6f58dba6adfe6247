//! Generates the protocol reference `docs/protocol/reference.md` from the declarations.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Map, Value};

use crate::{
    FAMILIES, TypeSpec,
    openrpc::{description, summary},
    schema,
};

/// Returns the whole reference as Markdown, with one sentence per line.
pub fn reference() -> String {
    let definitions = schema::definitions();
    let mut page = String::from(
        "# Protocol reference\n\n\
         Generated from `crates/protocol`; do not edit.\n\
         Methods use JSON-RPC 2.0 and are available on every transport.\n\
         The scope is the one that a token needs to call the method; where a role is listed as well, the token also needs at least that role.\n\
         The schema of each type is served under `/schemas/<type in snake_case>.json` and kept in `schemas/`.\n\n\
         | Method | Scope | Purpose |\n|---|---|---|\n",
    );
    let anchors = anchors();
    for (_, method) in crate::methods() {
        let _ = writeln!(
            page,
            "| [`{}`](#{}) | {}{} | {} |",
            method.name,
            anchors[method.name],
            method.access.as_str(),
            method
                .needs
                .map_or(String::new(), |role| format!(", {role}")),
            summary(method.doc)
        );
    }
    page.push_str("\n| Notification | When |\n|---|---|\n");
    for notification in FAMILIES.iter().flat_map(|family| family.notifications) {
        let _ = writeln!(
            page,
            "| [`{}`](#{}) | {} |",
            notification.name,
            anchors[notification.name],
            summary(notification.doc)
        );
    }
    for family in FAMILIES {
        let separator = family.dialect.separator();
        let _ = writeln!(page, "\n## `{}{separator}…`", family.prefix);
        for method in family.methods {
            let _ = writeln!(page, "\n### `{}`\n", method.name);
            page.push_str(&lines(&description(method.doc)));
            fields(&mut page, "Params", &method.params, &definitions);
            fields(&mut page, "Result", &method.response, &definitions);
        }
        for notification in family.notifications {
            let _ = writeln!(page, "\n### `{}`\n", notification.name);
            page.push_str(&lines(&description(notification.doc)));
            fields(&mut page, "Payload", &notification.payload, &definitions);
        }
    }
    page
}

fn fields(page: &mut String, title: &str, spec: &TypeSpec, definitions: &Map<String, Value>) {
    let name = spec.name();
    let (schema, shape) = described(&definitions[name.as_ref()], definitions);
    let Some(properties) = schema["properties"]
        .as_object()
        .filter(|all| !all.is_empty())
    else {
        let _ = writeln!(page, "\n{title} `{name}`: no members.");
        return;
    };
    let shape = shape.map_or(String::new(), |shape| format!(", {shape}"));
    let _ = writeln!(
        page,
        "\n{title} `{name}`{shape}:\n\n| Member | Type | Required | Meaning |\n|---|---|---|---|"
    );
    for (member, property) in properties {
        let required = schema["required"]
            .as_array()
            .is_some_and(|required| required.iter().any(|one| one == member));
        let _ = writeln!(
            page,
            "| `{member}` | {} | {} | {} |",
            type_name(property),
            if required { "yes" } else { "" },
            property["description"]
                .as_str()
                .unwrap_or_default()
                .replace('\n', " ")
        );
    }
}

/// Returns the object schema whose properties describe a type, and a phrase that relates the type to it: a list is
/// described by its element type, an alias by its target.
fn described<'a>(
    schema: &'a Value,
    definitions: &'a Map<String, Value>,
) -> (&'a Value, Option<String>) {
    let (mut schema, mut shape, mut is_list) = (schema, None, false);
    loop {
        if let Some(target) = schema["$ref"].as_str() {
            let name = target.trim_start_matches("#/$defs/");
            let kind = if is_list { "a list of" } else { "the same as" };
            shape = Some(format!("{kind} `{name}`"));
            schema = &definitions[name];
        } else if schema["type"] == "array" && schema["items"].is_object() {
            is_list = true;
            schema = &schema["items"];
        } else {
            return (schema, shape);
        }
    }
}

/// Returns the type of a property for display: `string`, `Thread`, `Thread list`. Alternatives are joined by `or`;
/// `null` is omitted.
fn type_name(schema: &Value) -> String {
    if let Some(target) = schema["$ref"].as_str() {
        return format!("`{}`", target.trim_start_matches("#/$defs/"));
    }
    if let Some(options) = schema["anyOf"].as_array() {
        let names: Vec<_> = options
            .iter()
            .filter(|option| option["type"] != "null")
            .map(type_name)
            .collect();
        return names.join(" or ");
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("{} list", type_name(&schema["items"])),
        Value::String(name) => name.clone(),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| *name != "null")
            .collect::<Vec<_>>()
            .join(" or "),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "any".to_owned(),
    }
}

/// Puts each sentence on its own line.
fn lines(text: &str) -> String {
    let mut result = text.replace(". ", ".\n");
    result.push('\n');
    result
}

/// Returns the anchor that Markdown viewers generate for each method and notification heading.
///
/// An anchor consists of the letters, digits and underscores of the name. A repeated anchor gets a numeric suffix, in
/// page order.
fn anchors() -> BTreeMap<&'static str, String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let names = FAMILIES.iter().flat_map(|family| {
        let methods = family.methods.iter().map(|method| method.name);
        methods.chain(
            family
                .notifications
                .iter()
                .map(|notification| notification.name),
        )
    });
    names
        .map(|name| {
            let plain: String = name
                .chars()
                .filter(|character| character.is_ascii_alphanumeric() || *character == '_')
                .collect();
            let times = seen.entry(plain.clone()).or_default();
            *times += 1;
            let anchor = match *times {
                1 => plain,
                repeated => format!("{plain}-{}", repeated - 1),
            };
            (name, anchor)
        })
        .collect()
}
