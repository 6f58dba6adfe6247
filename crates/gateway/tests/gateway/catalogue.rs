//! Checks that apply to every method.

use std::collections::BTreeSet;

use protocol::{FAMILIES, methods};
use serde_json::{Value, json};

#[test]
fn every_method_has_exactly_one_handler() {
    let declared: Vec<_> = methods().map(|(_, method)| method.name).collect();
    let unique: BTreeSet<_> = declared.iter().copied().collect();
    assert_eq!(declared.len(), unique.len(), "a method is declared twice");
    // The router itself rejects a second handler.
    let answered: BTreeSet<_> = gateway::router().names().collect();
    assert_eq!(unique, answered);
}

#[test]
fn names_follow_their_family() {
    for family in FAMILIES {
        for method in family.methods {
            let rest = method.name.strip_prefix(family.prefix).expect(method.name);
            assert!(
                rest.starts_with(family.dialect.separator()),
                "{}",
                method.name
            );
        }
    }
}

#[test]
fn every_type_is_named_after_its_method() {
    for (_, method) in methods() {
        let (params, response) = (method.params.name(), method.response.name());
        assert!(params.ends_with("Params"), "{} takes {params}", method.name);
        assert!(
            response.ends_with("Response"),
            "{} answers {response}",
            method.name
        );
    }
    for notification in FAMILIES.iter().flat_map(|family| family.notifications) {
        let payload = notification.payload.name();
        assert!(
            payload.ends_with("Notification"),
            "{} carries {payload}",
            notification.name
        );
    }
}

#[tokio::test]
async fn no_method_dies_of_bad_params() {
    let running = testkit::gateway().await;
    let client = running.client();
    let junk = [
        json!({}),
        json!([]),
        json!("text"),
        json!(7),
        json!({"workspace_id": null, "thread_id": {}, "folder_id": [], "name": 1, "after_seq": -1, "limit": -1}),
        json!({"workspace_id": "../../x", "thread_id": "a\u{0}b", "name": "\u{202e}", "cursor": "'; drop table"}),
        json!({"workspace_id": "ws_none", "thread_id": "thr_none", "threadId": "thr_none", "folder_id": "fld_none",
               "name": "x", "after_seq": u64::MAX, "limit": u32::MAX, "cursor": "9.9"}),
    ];
    for (_, method) in methods() {
        for params in &junk {
            let answer = client.call_raw(method.name, params.clone()).await;
            let Err(error) = answer else { continue };
            let rpc::client::Error::Rpc {
                code,
                message,
                data,
            } = error
            else {
                panic!("{}({params}): {error}", method.name);
            };
            assert!(
                [-32600, -32602].contains(&code),
                "{}({params}): {code} {message}",
                method.name
            );
            assert_ne!(
                data["kind"], "internal",
                "{}({params}): {message}",
                method.name
            );
        }
    }
}

#[test]
fn schemas_are_up_to_date() {
    for (name, schema) in protocol::schemas() {
        testkit::assert_generated(&format!("schemas/{name}.json"), &format!("{schema:#}\n"));
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas");
    let kept = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(
        kept,
        protocol::schemas().len(),
        "`schemas/` has a file that nothing makes any more"
    );
}

#[test]
fn the_reference_is_up_to_date() {
    testkit::assert_generated("docs/protocol/reference.md", &protocol::reference());
}

#[test]
fn the_reference_shows_the_members_of_every_result() {
    let reference = protocol::reference();
    let bare: Vec<_> = reference
        .lines()
        .filter(|line| line.starts_with("Result ") && line.contains("no members"))
        .collect();
    assert_eq!(bare, [""; 0]);
    assert!(reference.contains("Result `RunListResponse`, a list of `RunRow`:"));
}

#[test]
fn the_openrpc_document_names_every_method_and_resolves_every_reference() {
    let document = protocol::openrpc("0");
    let names: Vec<_> = document["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["name"])
        .collect();
    assert_eq!(names.len(), methods().count());
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"").skip(1) {
        let target = reference.split('"').next().unwrap();
        assert!(
            document.pointer(&target[1..]).is_some(),
            "{target} leads nowhere"
        );
    }
}

#[test]
fn a_role_somebody_claims_is_held_against_their_token() {
    let schemas = protocol::schemas();
    for (_, method) in methods() {
        let schema = &schemas[&snake_case(&method.params.name())];
        let mut roles = Vec::new();
        roles_in(schema, schema, "", 0, &mut roles);
        let claimed: Vec<_> = method.claims.into_iter().collect();
        assert_eq!(
            claimed, roles,
            "`{}` takes a role: declare it with `as`",
            method.name
        );
    }
}

/// Collects the paths at which params can contain the role of an actor, at any depth, such as `job.manager_role`. A
/// path through a list contains `[]`, which no declaration can name, so that a role in a list fails the test.
fn roles_in(root: &Value, schema: &Value, path: &str, depth: usize, found: &mut Vec<String>) {
    // Limits the depth for recursive types.
    if depth > 12 {
        return;
    }
    if let Some(name) = schema["$ref"].as_str() {
        if name.ends_with("/ActorRole") {
            found.push(path.to_owned());
            return;
        }
        let target = root.pointer(name.trim_start_matches('#')).expect(name);
        roles_in(root, target, path, depth + 1, found);
    }
    for options in ["anyOf", "oneOf", "allOf"] {
        for option in schema[options].as_array().into_iter().flatten() {
            roles_in(root, option, path, depth + 1, found);
        }
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let below = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        // A field with one of these names is a role, whatever its type.
        let is_named = ["actor_role", "author_role", "manager_role"].contains(&name.as_str());
        let before = found.len();
        roles_in(root, property, &below, depth + 1, found);
        if is_named && found.len() == before {
            found.push(below);
        }
    }
    for inner in ["items", "additionalProperties"] {
        if schema[inner].is_object() {
            roles_in(root, &schema[inner], &format!("{path}[]"), depth + 1, found);
        }
    }
}

#[test]
fn a_role_inside_of_something_is_found() {
    let schema = json!({
        "$defs": {
            "ActorRole": {"oneOf": []},
            "Job": {"properties": {"by": {"anyOf": [{"$ref": "#/$defs/ActorRole"}, {"type": "null"}]}}},
        },
        "properties": {
            "job": {"$ref": "#/$defs/Job"},
            "jobs": {"type": "array", "items": {"$ref": "#/$defs/Job"}},
            "actor_role": {"type": "string"},
        },
    });
    let mut found = Vec::new();
    roles_in(&schema, &schema, "", 0, &mut found);
    assert_eq!(found, ["actor_role", "job.by", "jobs[].by"]);
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(character.to_lowercase());
    }
    snake
}
