//! The WebSocket upgrade on `/` and `/ws`.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{State, ws::WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    response::{IntoResponse as _, Response},
};
use hyper::{HeaderMap, StatusCode, header};
use rpc::websocket;

use super::{Guest, Http, text};
use crate::VERSION;

type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

/// `/`: an upgrade, or a sentence for whoever opens the address in a browser.
pub(super) async fn root(
    state: State<Arc<Http>>,
    guest: Extension<Guest>,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Response {
    if headers.contains_key(header::UPGRADE) {
        return self::upgrade(state, guest, headers, upgrade).await;
    }
    let sentence = format!(
        "Accord gateway {VERSION}.\n\nClients connect to this address by WebSocket with the token in the file `token` \
         of the home.\nSee /openrpc.json for the methods and /health for the state.\n"
    );
    text(StatusCode::OK, sentence)
}

/// `/ws`: an upgrade.
pub(super) async fn upgrade(
    State(http): State<Arc<Http>>,
    Extension(guest): Extension<Guest>,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Response {
    if !is_supported_version(&headers) {
        return text(StatusCode::BAD_REQUEST, "supported protocol versions: 1\n");
    }
    let principal = match http.principal(&guest, &headers).await {
        Ok(principal) => principal,
        Err(refusal) => return refusal,
    };
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    upgrade
        // The token that came as a second protocol is never echoed.
        .protocols(["accord"])
        .read_buffer_size(websocket::READ_BUFFER_BYTES)
        .max_message_size(websocket::MAX_MESSAGE_BYTES)
        .max_frame_size(websocket::MAX_MESSAGE_BYTES)
        .on_upgrade(move |socket| async move {
            let peer = http.gateway.connect(principal);
            websocket::run(socket, peer).await;
            drop(guest);
        })
}

/// The version of the protocol a client insists on; none means the one there is.
fn is_supported_version(headers: &HeaderMap) -> bool {
    let mut versions = headers.get_all("pioneer-protocol-version").iter();
    match (versions.next(), versions.next()) {
        (None, _) => true,
        (Some(version), None) => version == "1",
        (Some(_), Some(_)) => false,
    }
}
