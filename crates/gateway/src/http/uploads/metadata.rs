//! `Upload-Metadata`: parses the keys and base64 values that describe an upload.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use entity::artifact_upload_session as session;
use protocol::{
    ArtifactId, Id, ThreadId, WorkspaceId,
    artifact::upload::{ArtifactUploadSourceKind, ArtifactUploadStartParams},
};

use sources::Sources;

/// Returns the start params for the metadata and size of an upload, or a message if they are invalid.
///
/// Unknown keys are ignored, because clients send additional ones.
pub(super) fn params(
    header: &str,
    size_bytes: u64,
    sources: &Sources,
) -> Result<ArtifactUploadStartParams, String> {
    let mut values = parse(header)?;
    let mut needed = |word: &str| {
        let value = values.remove(word).filter(|value| !value.is_empty());
        value.ok_or_else(|| format!("`Upload-Metadata` has no `{word}`"))
    };
    let workspace_id = id::<WorkspaceId>(&needed("workspace_id")?)?;
    let file_name = needed("filename")?;
    let sha256 = needed("sha256")?;
    let mut optional = |word: &str| values.remove(word).filter(|value| !value.is_empty());
    Ok(ArtifactUploadStartParams {
        workspace_id,
        thread_id: optional("thread_id")
            .map(|value| id::<ThreadId>(&value))
            .transpose()?,
        planned_turn_id: None,
        artifact_id: optional("artifact_id")
            .map(|value| id::<ArtifactId>(&value))
            .transpose()?,
        client_attachment_id: optional("client_attachment_id")
            .unwrap_or_else(|| format!("tus_{}", sources.ids.suffix())),
        file_name,
        mime_type: optional("filetype"),
        size_bytes,
        sha256,
        source_kind: ArtifactUploadSourceKind::Api,
    })
}

/// Returns the metadata of an upload, whichever protocol started it.
pub(super) fn of(session: &session::Model) -> String {
    let known = [
        ("workspace_id", Some(&session.workspace_id)),
        ("filename", Some(&session.file_name)),
        ("filetype", session.mime_type.as_ref()),
        ("sha256", Some(&session.sha256)),
        ("client_attachment_id", Some(&session.client_attachment_id)),
        ("thread_id", session.thread_id.as_ref()),
        ("artifact_id", session.version_of.as_ref()),
    ];
    let pairs = known
        .into_iter()
        .filter_map(|(word, value)| Some(format!("{word} {}", BASE64.encode(value?))));
    pairs.collect::<Vec<_>>().join(",")
}

fn parse(header: &str) -> Result<BTreeMap<String, String>, String> {
    let mut values = BTreeMap::new();
    for pair in header.split(',').map(str::trim) {
        if pair.is_empty() {
            continue;
        }
        let (word, encoded) = pair.split_once(' ').unwrap_or((pair, ""));
        let decoded = BASE64.decode(encoded.trim()).ok();
        let value = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        let value = value.ok_or("`Upload-Metadata` has a value that is not text in base64")?;
        if values.insert(word.to_owned(), value).is_some() {
            return Err("`Upload-Metadata` has a key twice".to_owned());
        }
    }
    Ok(values)
}

fn id<I: Id>(text: &str) -> Result<I, String> {
    I::parse(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_words_and_base64() {
        let check = |header, expected: &[(&str, &str)]| {
            let found = parse(header).unwrap();
            let found: Vec<_> = found
                .iter()
                .map(|(a, b)| (a.as_str(), b.as_str()))
                .collect();
            assert_eq!(found, expected, "{header}");
        };
        check("", &[]);
        check("a aGk=", &[("a", "hi")]);
        check("a aGk=, b , c", &[("a", "hi"), ("b", ""), ("c", "")]);
        check("a 4piD", &[("a", "☃")]);
        for wrong in ["a hi!", "a /w==", "a aGk=,a aGk="] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
