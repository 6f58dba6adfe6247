//! Serves the web desktop from files embedded in this binary. They contain no data, so they need no token.

use axum::{
    extract::Request,
    response::{IntoResponse as _, Response},
};
use data_encoding::HEXLOWER;
use hyper::{
    HeaderMap, Method, StatusCode, header,
    header::{HeaderName, HeaderValue},
};
use rust_embed::{Embed, EmbeddedFile};

use super::text;
use crate::VERSION;

#[derive(Embed)]
#[folder = "$CARGO_MANIFEST_DIR/../../web/dist"]
struct Files;

/// The page, whose own router interprets the rest of the path.
const PAGE: &str = "index.html";
/// The content security policy: allows scripts, styles and connections only of this origin, and forbids framing by
/// other pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// Returns a file of the desktop, or the page for paths that it handles.
pub(super) async fn serve(request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return text(StatusCode::METHOD_NOT_ALLOWED, "expected GET\n");
    }
    let path = request.uri().path().trim_start_matches('/');
    match Files::get(path).filter(|_| !path.is_empty()) {
        Some(file) => answer(path, file, request.headers()),
        None if is_address(path) && !request.headers().contains_key(header::UPGRADE) => {
            match Files::get(PAGE) {
                Some(page) => answer(PAGE, page, request.headers()),
                None => without_desktop(),
            }
        }
        None => text(StatusCode::NOT_FOUND, "there is nothing here\n"),
    }
}

/// Returns whether the page handles a path: the root, a workspace or a company folder.
fn is_address(path: &str) -> bool {
    path.is_empty() || path.starts_with("w/") || path.starts_with("c/")
}

fn answer(path: &str, file: EmbeddedFile, asked: &HeaderMap) -> Response {
    let tag = format!(
        "\"{}\"",
        HEXLOWER.encode(&file.metadata.sha256_hash()[..16])
    );
    // File names under `assets` contain a content hash.
    let keep = if path.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let mut headers = HeaderMap::new();
    let mut set = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    };
    set(header::ETAG, &tag);
    set(header::CACHE_CONTROL, keep);
    set(header::VARY, "Accept-Encoding");
    set(header::CONTENT_TYPE, content_type(path));
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::REFERRER_POLICY, "no-referrer");
    let is_known = asked
        .get(header::IF_NONE_MATCH)
        .is_some_and(|known| known.as_bytes() == tag.as_bytes());
    if is_known {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    match Files::get(&format!("{path}.gz")).filter(|_| takes_gzip(asked)) {
        Some(packed) => {
            let encoding = HeaderValue::from_static("gzip");
            headers.insert(header::CONTENT_ENCODING, encoding);
            (headers, packed.data).into_response()
        }
        None => (headers, file.data).into_response(),
    }
}

fn without_desktop() -> Response {
    let sentence = format!(
        "Accord gateway {VERSION}.\n\nThis binary was built without the web desktop, because Node was missing: install \
         Node 20 and build again.\nClients connect to this address by WebSocket with the token in the file `token` of \
         the home.\nSee /openrpc.json for the methods and /health for the state.\n"
    );
    text(StatusCode::OK, sentence)
}

fn takes_gzip(asked: &HeaderMap) -> bool {
    let encodings = asked.get(header::ACCEPT_ENCODING);
    encodings
        .and_then(|encodings| encodings.to_str().ok())
        .is_some_and(|encodings| {
            encodings
                .split(',')
                .any(|encoding| encoding.trim().split(';').next() == Some("gzip"))
        })
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("json" | "webmanifest") => "application/json",
        _ => "application/octet-stream",
    }
}
