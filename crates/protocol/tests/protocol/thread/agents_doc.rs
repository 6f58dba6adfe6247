//! Every JSON example of the published AGENTS.md document.

use protocol::thread::{ThreadTreeResponse, agents_doc::*};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Reads an example as its type and prints it.
type Again = fn(Value) -> Value;

/// The type of each example in the order of the document, by the name of its schema.
const TYPES: &[(&str, Again)] = &[
    ("thread_agents_doc_payload", again::<ThreadAgentsDocPayload>),
    ("thread_agents_doc_summary", again::<ThreadAgentsDocSummary>),
    (
        "thread_agents_doc_resolved_payload",
        again::<ThreadAgentsDocResolvedPayload>,
    ),
    (
        "thread_agents_doc_get_params",
        again::<ThreadAgentsDocGetParams>,
    ),
    (
        "thread_agents_doc_get_response",
        again::<ThreadAgentsDocGetResponse>,
    ),
    (
        "thread_agents_doc_get_params",
        again::<ThreadAgentsDocGetParams>,
    ),
    (
        "thread_agents_doc_save_params",
        again::<ThreadAgentsDocSaveParams>,
    ),
    (
        "thread_agents_doc_save_response",
        again::<ThreadAgentsDocSaveResponse>,
    ),
    (
        "thread_agents_doc_archive_params",
        again::<ThreadAgentsDocArchiveParams>,
    ),
    (
        "thread_agents_doc_archive_response",
        again::<ThreadAgentsDocArchiveResponse>,
    ),
    (
        "thread_agents_doc_resolve_for_thread_params",
        again::<ThreadAgentsDocResolveForThreadParams>,
    ),
    (
        "thread_agents_doc_resolve_for_thread_response",
        again::<ThreadAgentsDocResolveForThreadResponse>,
    ),
    ("thread_tree_response", again::<ThreadTreeResponse>),
    (
        "thread_agents_doc_changed_notification",
        again::<ThreadAgentsDocChangedNotification>,
    ),
];

fn again<T: DeserializeOwned + Serialize>(example: Value) -> Value {
    let read: T = serde_json::from_value(example).expect("an example can be read");
    serde_json::to_value(read).expect("what was read can be printed")
}

/// The payload of each example: what requests and notifications carry, and everything else as it is.
fn examples() -> Vec<Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../conformance/gateway/examples.json"
    );
    let text = std::fs::read_to_string(path).expect("the examples are there");
    let mut documents: Value = serde_json::from_str(&text).expect("the examples are JSON");
    let examples = documents["agents-md-api.md"].take();
    let examples: Vec<Value> = serde_json::from_value(examples).expect("a list of examples");
    let payload = |mut example: Value| match example.get("jsonrpc") {
        Some(_) => example["params"].take(),
        None => example,
    };
    examples.into_iter().map(payload).collect()
}

#[test]
fn every_example_is_read_and_printed_unchanged() {
    assert_eq!(examples().len(), TYPES.len());
    for (example, (name, again)) in examples().into_iter().zip(TYPES) {
        assert_eq!(again(example.clone()), example, "{name}");
    }
}

#[test]
fn every_example_fits_its_schema() {
    let schemas = protocol::schemas();
    for (example, (name, _)) in examples().iter().zip(TYPES) {
        let validator = jsonschema::validator_for(&schemas[*name]).unwrap();
        let problems: Vec<_> = validator
            .iter_errors(example)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(problems, [""; 0], "{name}");
    }
}

#[test]
fn a_root_scope_may_be_left_out_or_null() {
    for root in [
        r#"{"workspace_id":"ws_a"}"#,
        r#"{"workspace_id":"ws_a","folder_id":null}"#,
    ] {
        let params: ThreadAgentsDocGetParams = serde_json::from_str(root).unwrap();
        assert_eq!(params.folder_id, None);
        assert_eq!(
            serde_json::to_string(&params).unwrap(),
            r#"{"workspace_id":"ws_a"}"#
        );
    }
}
