//! `/uploads`: resumable uploads with tus 1.0 (core, creation, termination, checksum, expiration) on the same upload
//! sessions as `artifact/upload/*`.
//!
//! The rules are in [`artifacts`]; this module only maps them to HTTP. An upload belongs to the token
//! that started it; for other tokens it is reported as not found.

use std::sync::Arc;

use artifacts::limits;
use axum::{
    Extension, Router,
    extract::{Path, Request, State},
    middleware,
    response::{IntoResponse as _, Response},
    routing::{any, options},
};
use entity::artifact_upload_session as session;
use hyper::{
    HeaderMap, Method, StatusCode, header,
    header::{HeaderName, HeaderValue},
};
use protocol::{Access, Id as _, UploadId};
use rpc::{Failure, FailureKind};

mod checksum;
mod expires;
mod metadata;
mod receiving;

use super::{Http, RemoteClient, refusal::refuse, text};
use crate::{Principal, rows};
use checksum::Checksum;
use receiving::Receiving;

const VERSION: &str = "1.0.0";
const TUS_RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");
const TUS_VERSION: HeaderName = HeaderName::from_static("tus-version");
const TUS_EXTENSION: HeaderName = HeaderName::from_static("tus-extension");
const TUS_MAX_SIZE: HeaderName = HeaderName::from_static("tus-max-size");
const UPLOAD_LENGTH: HeaderName = HeaderName::from_static("upload-length");
const UPLOAD_OFFSET: HeaderName = HeaderName::from_static("upload-offset");
const UPLOAD_METADATA: HeaderName = HeaderName::from_static("upload-metadata");
const UPLOAD_CHECKSUM: HeaderName = HeaderName::from_static("upload-checksum");
const UPLOAD_EXPIRES: HeaderName = HeaderName::from_static("upload-expires");
const TUS_CHECKSUM_ALGORITHM: HeaderName = HeaderName::from_static("tus-checksum-algorithm");
const METHOD_OVERRIDE: HeaderName = HeaderName::from_static("x-http-method-override");
/// The id of the artifact created from the upload.
const ARTIFACT_ID: HeaderName = HeaderName::from_static("accord-artifact-id");

/// Builds the routes of uploads.
pub(super) fn routes() -> Router<Arc<Http>> {
    Router::new()
        .route("/uploads", options(capabilities).post(create))
        .route("/uploads/{upload}", any(one))
        .route_layer(middleware::map_response(mark))
}

/// Adds the tus version to every response.
async fn mark(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    headers.insert(TUS_RESUMABLE, HeaderValue::from_static(VERSION));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    answer
}

/// `OPTIONS`: returns the supported tus features. Needs no token, because it contains no data about uploads.
async fn capabilities() -> Response {
    let headers = [
        (TUS_VERSION, HeaderValue::from_static(VERSION)),
        (
            TUS_EXTENSION,
            HeaderValue::from_static("creation,termination,checksum,expiration"),
        ),
        (
            TUS_CHECKSUM_ALGORITHM,
            HeaderValue::from_static(checksum::ALGORITHMS),
        ),
        (TUS_MAX_SIZE, HeaderValue::from(limits::MAX_UPLOAD)),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// `POST /uploads`: starts an upload.
async fn create(
    State(http): State<Arc<Http>>,
    Extension(client): Extension<RemoteClient>,
    headers: HeaderMap,
) -> Response {
    let started = start(&http, &client, &headers).await;
    started.unwrap_or_else(|refusal| refusal)
}

/// `/uploads/{upload}`: dispatches on the method. Clients behind a proxy that blocks methods send `POST` with a method
/// override header.
async fn one(
    State(http): State<Arc<Http>>,
    Extension(client): Extension<RemoteClient>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let answered = match meant(&request).as_str() {
        "OPTIONS" => Ok(capabilities().await),
        "HEAD" => offset(&http, &client, &id, request.headers()).await,
        "PATCH" => append(&http, client, &id, request).await,
        "DELETE" => terminate(&http, &client, &id, request.headers()).await,
        _ => {
            let mut refusal = text(
                StatusCode::METHOD_NOT_ALLOWED,
                "an upload supports HEAD, PATCH and DELETE\n",
            );
            let methods = HeaderValue::from_static("HEAD, PATCH, DELETE, OPTIONS");
            refusal.headers_mut().insert(header::ALLOW, methods);
            Err(refusal)
        }
    };
    answered.unwrap_or_else(|refusal| refusal)
}

fn meant(request: &Request) -> Method {
    let named = request.headers().get(METHOD_OVERRIDE);
    let named = named.and_then(|method| Method::from_bytes(method.as_bytes()).ok());
    named.unwrap_or_else(|| request.method().clone())
}

async fn start(
    http: &Http,
    client: &RemoteClient,
    headers: &HeaderMap,
) -> Result<Response, Response> {
    let principal = admit(http, client, headers).await?;
    let size = number(headers, &UPLOAD_LENGTH).map_err(|complaint| bad(&complaint))?;
    let services = &http.services;
    let described = headers.get(UPLOAD_METADATA);
    let described = described.map_or(Ok(""), |value| value.to_str());
    let described = described.map_err(|_| bad("`Upload-Metadata` is not text"))?;
    let params = metadata::params(described, size, &services.sources)
        .map_err(|complaint| bad(&complaint))?;
    let allowed = principal.check_workspace(&params.workspace_id);
    allowed.map_err(refuse)?;
    check_room(http, &principal).await.map_err(refuse)?;
    let started = crate::uploads::start(services, principal.author(), params).await;
    let session = started.map_err(refuse)?.session;
    let location = format!("/uploads/{}", session.id);
    let expires = expires::value(session.expires_at);
    let mut answer = match size {
        // An empty upload receives no bytes, so it is complete.
        0 => {
            let receiving = Receiving::new(services, session, &principal, 0);
            receiving.finish().await?
        }
        _ => {
            let mut answer = StatusCode::CREATED.into_response();
            answer.headers_mut().insert(UPLOAD_EXPIRES, expires);
            answer
        }
    };
    *answer.status_mut() = StatusCode::CREATED;
    let location = HeaderValue::try_from(location);
    let location = location.map_err(|error| refuse(Failure::incident(&error)))?;
    answer.headers_mut().insert(header::LOCATION, location);
    Ok(answer)
}

/// Rejects the request if the token has too many open uploads.
async fn check_room(http: &Http, principal: &Principal) -> Result<(), Failure> {
    let limit = limits::MAX_OPEN_HTTP_UPLOADS;
    let artifacts = http.services.store.artifacts();
    let now = http.services.sources.clock.now();
    let open = artifacts.open_uploads(principal.author(), now, limit).await;
    if open.map_err(rows::failure)? < limit {
        Ok(())
    } else {
        Err(Failure::state(
            FailureKind::Busy,
            format!("{limit} uploads of this token are open: finish or delete one of them"),
        ))
    }
}

async fn offset(
    http: &Http,
    client: &RemoteClient,
    id: &str,
    headers: &HeaderMap,
) -> Result<Response, Response> {
    let principal = admit(http, client, headers).await?;
    let session = find(http, &principal, id).await?;
    let received = received(http, &session).await.map_err(refuse)?;
    let described = HeaderValue::try_from(metadata::of(&session));
    let described = described.map_err(|error| refuse(Failure::incident(&error)))?;
    let mut answer = StatusCode::OK.into_response();
    let headers = answer.headers_mut();
    let size = session.size_bytes.unsigned_abs();
    headers.insert(UPLOAD_OFFSET, HeaderValue::from(received));
    headers.insert(UPLOAD_LENGTH, HeaderValue::from(size));
    headers.insert(UPLOAD_METADATA, described);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    match session.artifact_id.map(HeaderValue::try_from) {
        Some(Ok(artifact)) => headers.insert(ARTIFACT_ID, artifact),
        Some(Err(_)) | None => headers.insert(UPLOAD_EXPIRES, expires::value(session.expires_at)),
    };
    Ok(answer)
}

async fn append(
    http: &Http,
    client: RemoteClient,
    id: &str,
    request: Request,
) -> Result<Response, Response> {
    let headers = request.headers();
    let principal = admit(http, &client, headers).await?;
    let is_expected = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|found| found == "application/offset+octet-stream");
    if !is_expected {
        return Err(text(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "expected the content type `application/offset+octet-stream`\n",
        ));
    }
    let offset = number(headers, &UPLOAD_OFFSET).map_err(|complaint| bad(&complaint))?;
    let checksum = Checksum::announced(headers).map_err(bad)?;
    let session = find(http, &principal, id).await?;
    let received = received(http, &session).await.map_err(refuse)?;
    if offset != received {
        return Err(conflict(received, offset));
    }
    let room = session.size_bytes.unsigned_abs() - received;
    let announced = headers.get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|announced| announced > room) {
        let sentence = format!("the upload expects {room} more bytes, and the request has more\n");
        return Err(text(StatusCode::PAYLOAD_TOO_LARGE, sentence));
    }
    let receiving = Receiving::new(&http.services, session, &principal, offset);
    // A separate task, so that received bytes are stored even if the connection is cut.
    let task = tokio::spawn(async move {
        let answer = receiving.take(request.into_body(), checksum).await;
        drop(client);
        answer
    });
    let answered = task.await;
    answered.map_err(|error| refuse(Failure::incident(&error)))?
}

async fn terminate(
    http: &Http,
    client: &RemoteClient,
    id: &str,
    headers: &HeaderMap,
) -> Result<Response, Response> {
    let principal = admit(http, client, headers).await?;
    let session = find(http, &principal, id).await?;
    let aborted = http.services.artifacts.abort_upload(session).await;
    aborted.map_err(|error| refuse(rows::artifact_failure(error)))?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Authenticates a caller with the scope `write` and checks the tus version.
async fn admit(
    http: &Http,
    client: &RemoteClient,
    headers: &HeaderMap,
) -> Result<Principal, Response> {
    let principal = http.admit(client, headers, Access::Write).await?;
    let version = headers.get(TUS_RESUMABLE);
    if version.is_some_and(|version| version == VERSION) {
        return Ok(principal);
    }
    let sentence = format!("expected `Tus-Resumable: {VERSION}`\n");
    let mut refusal = text(StatusCode::PRECONDITION_FAILED, sentence);
    let version = HeaderValue::from_static(VERSION);
    refusal.headers_mut().insert(TUS_VERSION, version);
    Err(refusal)
}

/// Returns an upload of the caller that has not expired.
async fn find(http: &Http, principal: &Principal, id: &str) -> Result<session::Model, Response> {
    let nothing = || text(StatusCode::NOT_FOUND, "there is no such upload\n");
    let id = UploadId::parse(id).map_err(|_| nothing())?;
    let now = http.services.sources.clock.now();
    let artifacts = http.services.store.artifacts();
    let found = artifacts
        .find_upload(id.as_str(), principal.author(), now)
        .await;
    let session = found.map_err(|error| refuse(rows::failure(error)))?;
    let workspace = rows::workspace_id(&session.workspace_id).map_err(refuse)?;
    let allowed = principal.check_workspace(&workspace);
    allowed.map_err(refuse)?;
    Ok(session)
}

async fn received(http: &Http, session: &session::Model) -> Result<u64, Failure> {
    match session.artifact_id {
        Some(_) => Ok(session.size_bytes.unsigned_abs()),
        None => {
            let received = http.services.artifacts.received(session.clone()).await;
            received.map_err(rows::artifact_failure)
        }
    }
}

/// Returns the number in a header that must occur exactly once.
fn number(headers: &HeaderMap, name: &HeaderName) -> Result<u64, String> {
    let mut values = headers.get_all(name).iter();
    let value = match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    };
    let is_number =
        |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    value
        .filter(is_number)
        // A number that overflows `u64` exceeds every limit.
        .map(|digits| digits.parse().unwrap_or(u64::MAX))
        .ok_or_else(|| format!("expected one `{name}` with a number"))
}

fn bad(complaint: &str) -> Response {
    text(StatusCode::BAD_REQUEST, format!("{complaint}\n"))
}

fn conflict(expected: u64, found: u64) -> Response {
    let sentence = format!("expected offset {expected}, found {found}\n");
    let mut refusal = text(StatusCode::CONFLICT, sentence);
    let expected = HeaderValue::from(expected);
    refusal.headers_mut().insert(UPLOAD_OFFSET, expected);
    refusal
}
