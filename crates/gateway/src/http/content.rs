//! `GET /artifacts/{workspace}/{artifact}/{version}/content`: serves the bytes of an artifact to browsers and `curl`.
//!
//! The content is untrusted: the response headers disable type sniffing and scripts, and only harmless types are shown
//! inline. The file is read in pieces, at the speed at which the client receives them.

use std::{io, ops::Range, sync::Arc};

use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse as _, Response},
};
use blobs::store::BlobReader;
use crud::ArtifactDetail;
use futures_util::stream;
use hyper::{HeaderMap, Method, StatusCode, header, header::HeaderValue};
use protocol::{Access, ArtifactId, ArtifactVersionId, Id as _, WorkspaceId};
use rpc::Bytes;

use super::{
    Http, RemoteClient,
    disposition::disposition,
    range::{self, Selection},
    refusal::refuse,
    text,
};
use crate::rows;

/// The number of bytes read at a time.
const PIECE: u64 = 256 << 10;
/// The path segment that selects the newest version.
const CURRENT: &str = "current";

/// The parsed path of a request.
struct ContentRequest {
    workspace: WorkspaceId,
    artifact: ArtifactId,
    /// The requested version; `None` for the newest.
    version: Option<ArtifactVersionId>,
}

/// Returns the content, the requested range, or 304 if the client has the content already.
pub(super) async fn serve(
    State(http): State<Arc<Http>>,
    Extension(client): Extension<RemoteClient>,
    Path(path): Path<(String, String, String)>,
    method: Method,
    headers: HeaderMap,
) -> Response {
    let found = match find(&http, &client, &headers, path).await {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    let etag = format!("\"{}\"", found.blob.sha256);
    if range::is_known(&headers, &etag) {
        let mut answer = StatusCode::NOT_MODIFIED.into_response();
        answer.headers_mut().extend(describe(&found, &etag));
        answer.headers_mut().remove(header::CONTENT_TYPE);
        return answer;
    }
    let blob = match http.services.artifacts.open_bytes(&found.blob).await {
        Ok(opened) => opened,
        Err(error) => return refuse(rows::artifact_failure(error)),
    };
    let size = blob.size();
    let selection = if method == Method::GET {
        range::select(&headers, &etag, size)
    } else {
        Selection::Whole
    };
    let (status, range) = match selection {
        Selection::Whole => (StatusCode::OK, 0..size),
        Selection::Part(range) => (StatusCode::PARTIAL_CONTENT, range),
        Selection::Unsatisfiable => {
            let sentence = format!("the artifact has {size} bytes\n");
            let mut answer = text(StatusCode::RANGE_NOT_SATISFIABLE, sentence);
            insert(
                &mut answer,
                header::CONTENT_RANGE,
                format!("bytes */{size}"),
            );
            return answer;
        }
    };
    let body = if method == Method::GET {
        pieces(blob, range.clone())
    } else {
        Body::empty()
    };
    let mut answer = (status, body).into_response();
    answer.headers_mut().extend(describe(&found, &etag));
    if status == StatusCode::PARTIAL_CONTENT {
        let value = format!("bytes {}-{}/{size}", range.start, range.end - 1);
        insert(&mut answer, header::CONTENT_RANGE, value);
    }
    let length = HeaderValue::from(range.end - range.start);
    answer.headers_mut().insert(header::CONTENT_LENGTH, length);
    answer
}

/// Returns the requested artifact, or an error response if the caller may not read it or it is not ready.
async fn find(
    http: &Http,
    client: &RemoteClient,
    headers: &HeaderMap,
    path: (String, String, String),
) -> Result<ArtifactDetail, Response> {
    let nothing = || text(StatusCode::NOT_FOUND, "there is no such artifact\n");
    let principal = http.admit(client, headers, Access::Read).await?;
    let request = ContentRequest::parse(&path).ok_or_else(nothing)?;
    let allowed = principal.check_workspace(&request.workspace);
    allowed.map_err(refuse)?;
    let version = request.version.as_ref().map(|version| version.as_str());
    let artifacts = http.services.store.artifacts();
    let found = artifacts
        .get(
            request.workspace.as_str(),
            request.artifact.as_str(),
            version,
        )
        .await
        .map_err(|error| refuse(rows::failure(error)))?;
    principal.check_artifact(&found.artifact).map_err(refuse)?;
    // An older version may be damaged although the newest is not.
    let status = match (found.artifact.status.as_str(), found.blob.status.as_str()) {
        ("ready", of_version) => of_version,
        (status, _) => status,
    };
    match status {
        "ready" => Ok(found),
        "quarantined" => Err(text(
            StatusCode::CONFLICT,
            "the artifact is quarantined: its bytes do not match its hash\n",
        )),
        // Deleted and incomplete artifacts are reported as not found.
        _ => Err(nothing()),
    }
}

impl ContentRequest {
    fn parse((workspace, artifact, version): &(String, String, String)) -> Option<Self> {
        let version = match version.as_str() {
            CURRENT => None,
            version => Some(ArtifactVersionId::parse(version).ok()?),
        };
        Some(Self {
            workspace: WorkspaceId::parse(workspace).ok()?,
            artifact: ArtifactId::parse(artifact).ok()?,
            version,
        })
    }
}

/// Streams a range of a blob. If the file changes meanwhile it is verified again; if it is damaged, the connection ends
/// before the announced length.
fn pieces(blob: BlobReader, range: Range<u64>) -> Body {
    let pieces = stream::try_unfold((Arc::new(blob), range), |(blob, range)| async move {
        let length = PIECE.min(range.end - range.start);
        if length == 0 {
            return Ok(None);
        }
        let (reading, start) = (Arc::clone(&blob), range.start);
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = Vec::new();
            reading.append_range(start, usize::try_from(length).unwrap_or(0), &mut piece)?;
            if !reading.is_unchanged() {
                reading.verify_again().map_err(io::Error::other)?;
            }
            Ok::<_, io::Error>(piece)
        });
        let piece = read.await.map_err(io::Error::other)??;
        let rest = start + length..range.end;
        Ok::<_, io::Error>(Some((Bytes::from(piece), (blob, rest))))
    });
    Body::from_stream(pieces)
}

/// Returns the headers that describe the content, for full, partial and 304 responses.
fn describe(found: &ArtifactDetail, etag: &str) -> HeaderMap {
    const UNKNOWN: &str = "application/octet-stream";
    let mime = found.version.mime_type.as_deref().unwrap_or(UNKNOWN);
    let name = blobs::name::download_name(&found.artifact.display_name, Some(mime));
    let of_text = |text: &str| HeaderValue::from_str(text).ok();
    let fixed = HeaderValue::from_static;
    HeaderMap::from_iter([
        (
            header::CONTENT_TYPE,
            of_text(mime).unwrap_or_else(|| fixed(UNKNOWN)),
        ),
        (header::ETAG, of_text(etag).unwrap_or_else(|| fixed("\"\""))),
        (header::CONTENT_DISPOSITION, disposition(mime, &name)),
        (header::ACCEPT_RANGES, fixed("bytes")),
        (header::CACHE_CONTROL, fixed("private, no-cache")),
        (header::X_CONTENT_TYPE_OPTIONS, fixed("nosniff")),
        (
            header::CONTENT_SECURITY_POLICY,
            fixed("sandbox; default-src 'none'"),
        ),
    ])
}

fn insert(answer: &mut Response, name: header::HeaderName, value: String) {
    if let Ok(value) = HeaderValue::try_from(value) {
        answer.headers_mut().insert(name, value);
    }
}
