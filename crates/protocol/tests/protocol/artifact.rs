//! The JSON examples of the Artifacts document, read and printed by our types and checked by our schemas.

use protocol::artifact::{binding::*, download::*, upload::*, *};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// Reads an example into its type and prints it.
type Print = fn(Value) -> Value;

/// The types of the examples in the order of the document.
const EXAMPLES: &[(&str, Print)] = &[
    ("artifact_summary", printed::<ArtifactSummary>),
    (
        "artifact_capabilities_params",
        printed::<ArtifactCapabilitiesParams>,
    ),
    (
        "artifact_capabilities_response",
        printed::<ArtifactCapabilitiesResponse>,
    ),
    (
        "artifact_list_for_thread_params",
        printed::<ArtifactListForThreadParams>,
    ),
    ("artifact_list_response", printed::<ArtifactListResponse>),
    ("artifact_read_params", printed::<ArtifactReadParams>),
    ("artifact_read_response", printed::<ArtifactReadResponse>),
    (
        "artifact_upload_start_params",
        printed::<ArtifactUploadStartParams>,
    ),
    (
        "artifact_upload_start_response",
        printed::<ArtifactUploadStartResponse>,
    ),
    (
        "artifact_upload_chunk_header",
        printed::<ArtifactUploadChunkHeader>,
    ),
    (
        "artifact_upload_chunk_ack_notification",
        printed::<ArtifactUploadChunkAckNotification>,
    ),
    (
        "artifact_upload_finish_params",
        printed::<ArtifactUploadFinishParams>,
    ),
    (
        "artifact_upload_finish_response",
        printed::<ArtifactUploadFinishResponse>,
    ),
    (
        "artifact_download_start_params",
        printed::<ArtifactDownloadStartParams>,
    ),
    (
        "artifact_download_start_response",
        printed::<ArtifactDownloadStartResponse>,
    ),
    (
        "artifact_download_chunk_params",
        printed::<ArtifactDownloadChunkParams>,
    ),
    (
        "artifact_download_chunk_response",
        printed::<ArtifactDownloadChunkResponse>,
    ),
    (
        "artifact_download_chunk_header",
        printed::<ArtifactDownloadChunkHeader>,
    ),
    ("artifact_bind_params", printed::<ArtifactBindParams>),
    ("artifact_bind_response", printed::<ArtifactBindResponse>),
];

/// What a type makes of an example.
fn printed<T: Serialize + DeserializeOwned>(example: Value) -> Value {
    let parsed: T = serde_json::from_value(example).expect("the type reads its example");
    serde_json::to_value(parsed).expect("a wire type can be printed")
}

/// The examples with the names of their types; of a request or notification the params.
fn examples() -> Vec<(&'static str, Print, Value)> {
    let text = include_str!("../../../../conformance/gateway/examples.json");
    let mut documents: Value = serde_json::from_str(text).expect("the examples are JSON");
    let Value::Array(found) = documents["artifacts-api.md"].take() else {
        panic!("the document has examples");
    };
    assert_eq!(found.len(), EXAMPLES.len());
    let payload = |mut example: Value| match example.get("jsonrpc") {
        Some(_) => example["params"].take(),
        None => example,
    };
    let named = found.into_iter().zip(EXAMPLES);
    named
        .map(|(example, (name, print))| (*name, *print, payload(example)))
        .collect()
}

/// Leaves out what may as well be absent: a member that is `null`, and metadata without entries, which the document
/// prints in one summary and not in the other.
fn without_nothings(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .filter(|(name, member)| {
                let is_empty = name == "metadata" && *member == Value::Object(Map::new());
                !member.is_null() && !is_empty
            })
            .map(|(name, member)| (name, without_nothings(member)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nothings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

#[test]
fn every_example_prints_back_unchanged() {
    for (name, print, example) in examples() {
        let printed = print(example.clone());
        assert_eq!(
            without_nothings(printed),
            without_nothings(example),
            "{name}"
        );
    }
}

#[test]
fn every_example_fits_its_schema() {
    let schemas = protocol::schemas();
    for (name, _, example) in examples() {
        let validator = jsonschema::validator_for(&schemas[name]).unwrap();
        let problems: Vec<_> = validator.iter_errors(&example).collect();
        assert!(problems.is_empty(), "{name}: {problems:?}");
    }
}
