//! CORS for pages of allowed origins that use the artifact routes, and `/ws` without an upgrade, which reports why a
//! token is rejected.
//!
//! Foreign origins are rejected earlier (see [`super::guard`]), so every origin seen here is allowed. Cookies are not
//! involved: a page of another origin sends its token as a header.

use axum::{extract::Request, middleware::Next, response::IntoResponse as _, response::Response};
use hyper::{
    HeaderMap, Method, StatusCode, header,
    header::{HeaderName, HeaderValue},
};

const METHODS: &str = "GET, HEAD, POST, PATCH, DELETE, OPTIONS";
/// The request headers allowed in addition to those that CORS always allows.
const REQUEST_HEADERS: &str = "Authorization, Content-Type, If-None-Match, If-Range, Range, Tus-Resumable, \
     Upload-Checksum, Upload-Length, Upload-Metadata, Upload-Offset, X-HTTP-Method-Override, X-Requested-With";
/// The response headers exposed in addition to those that CORS always exposes.
const ANSWER_HEADERS: &str = "Accept-Ranges, Accord-Artifact-Id, Content-Disposition, Content-Length, \
     Content-Range, ETag, Location, Tus-Checksum-Algorithm, Tus-Extension, Tus-Max-Size, Tus-Resumable, Tus-Version, \
     Upload-Expires, Upload-Length, Upload-Metadata, Upload-Offset, WWW-Authenticate";
/// The lifetime of a cached preflight response, in seconds.
const MAX_AGE: &str = "7200";

/// Answers preflight requests and adds the CORS headers to every response.
pub(super) async fn share(request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let is_question = request.method() == Method::OPTIONS
        && origin.is_some()
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut answer = if is_question {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    let headers = answer.headers_mut();
    // A cache must not serve the response for one origin to another.
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if is_question {
            permit(headers)
        } else {
            insert(
                headers,
                header::ACCESS_CONTROL_EXPOSE_HEADERS,
                ANSWER_HEADERS,
            )
        }
    }
    answer
}

fn permit(headers: &mut HeaderMap) {
    insert(headers, header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    insert(
        headers,
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        REQUEST_HEADERS,
    );
    insert(headers, header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}
