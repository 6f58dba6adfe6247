//! The WebSocket upgrade on `/` and `/ws`.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use hyper::{
    HeaderMap, StatusCode, header,
    header::{HeaderName, HeaderValue},
    upgrade::{OnUpgrade, Upgraded},
};
use hyper_util::rt::TokioIo;
use rpc::websocket;
use tokio::net::TcpStream;

use super::{Http, RemoteClient, text, web};
use crate::Principal;

/// The supported sub-protocol. A token or page key offered as a second sub-protocol is never echoed.
const PROTOCOL: &str = "accord";

/// Handles `/`: upgrades to a WebSocket or serves the desktop.
pub(super) async fn root(
    state: State<Arc<Http>>,
    client: Extension<RemoteClient>,
    request: Request,
) -> Response {
    if request.headers().contains_key(header::UPGRADE) {
        return upgrade(state, client, request).await;
    }
    web::serve(request).await
}

/// Handles `/ws`: upgrades to a WebSocket.
pub(super) async fn upgrade(
    State(http): State<Arc<Http>>,
    Extension(client): Extension<RemoteClient>,
    mut request: Request,
) -> Response {
    if !is_supported_version(request.headers()) {
        return text(StatusCode::BAD_REQUEST, "supported protocol versions: 1\n");
    }
    let principal = match http.principal(&client, request.headers()).await {
        Ok(principal) => principal,
        Err(refusal) => return refusal,
    };
    let answer = match handshake(request.headers()) {
        Ok(answer) => answer,
        Err(complaint) => return text(StatusCode::BAD_REQUEST, format!("{complaint}\n")),
    };
    let Some(upgrading) = request.extensions_mut().remove::<OnUpgrade>() else {
        return text(
            StatusCode::UPGRADE_REQUIRED,
            "this connection cannot become a WebSocket\n",
        );
    };
    tokio::spawn(async move {
        match upgrading.await {
            Ok(upgraded) => converse(&http, principal, upgraded).await,
            Err(error) => tracing::debug!(%error, "a connection ended before its upgrade"),
        }
        drop(client);
    });
    answer
}

async fn converse(http: &Http, principal: Principal, upgraded: Upgraded) {
    // The connection is a plain TCP socket; the HTTP layers are no longer needed.
    let Ok(parts) = upgraded.downcast::<TokioIo<TcpStream>>() else {
        tracing::error!("the upgraded connection is not a TCP socket");
        return;
    };
    let socket = parts.io.into_inner().into_split();
    let peer = http.gateway.connect(principal);
    websocket::run(socket, &parts.read_buf, peer).await;
}

/// Builds the handshake response, or returns what the request lacks (RFC 6455, section 4.2).
fn handshake(headers: &HeaderMap) -> Result<Response, &'static str> {
    if !has_word(headers, &header::CONNECTION, "upgrade") {
        return Err("expected `Connection: Upgrade`");
    }
    if !has_word(headers, &header::UPGRADE, "websocket") {
        return Err("expected `Upgrade: websocket`");
    }
    let version = headers.get(header::SEC_WEBSOCKET_VERSION);
    if version.is_none_or(|version| version != "13") {
        return Err("expected `Sec-WebSocket-Version: 13`");
    }
    let key = headers.get(header::SEC_WEBSOCKET_KEY);
    let key = key.ok_or("expected a `Sec-WebSocket-Key`")?;
    let accepted = websocket::accept_key(key.as_bytes());
    let accepted = HeaderValue::try_from(accepted).map_err(|_| "the key is unusable")?;
    let mut answer = StatusCode::SWITCHING_PROTOCOLS.into_response();
    let lines = answer.headers_mut();
    lines.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    lines.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    lines.insert(header::SEC_WEBSOCKET_ACCEPT, accepted);
    if has_word(headers, &header::SEC_WEBSOCKET_PROTOCOL, PROTOCOL) {
        let protocol = HeaderValue::from_static(PROTOCOL);
        lines.insert(header::SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    Ok(answer)
}

/// Returns whether a comma-separated header contains a token, ignoring case.
fn has_word(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    let lists = headers.get_all(name).iter();
    lists
        .filter_map(|list| list.to_str().ok())
        .flat_map(|list| list.split(','))
        .any(|word| word.trim().eq_ignore_ascii_case(wanted))
}

/// Returns whether the protocol version requested by the client is supported. A missing header selects the only
/// version.
fn is_supported_version(headers: &HeaderMap) -> bool {
    let mut versions = headers.get_all("pioneer-protocol-version").iter();
    match (versions.next(), versions.next()) {
        (None, _) => true,
        (Some(version), None) => version == "1",
        (Some(_), Some(_)) => false,
    }
}
