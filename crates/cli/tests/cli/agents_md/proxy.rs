//! A proxy between `ac` and the gateway of a home that injects a change before a certain call.

use std::path::Path;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use testkit::ServeProcess;
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest as _};

/// Starts a proxy for the next command. When it receives a call of the method, it saves a document and then forwards
/// the call.
pub(crate) async fn before(method: &'static str, home: &Path, serving: &ServeProcess, save: Value) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let serving_file = home.join("serving.json");
    let text = std::fs::read_to_string(&serving_file).expect("a gateway serves");
    let mut found: Value = serde_json::from_str(&text).expect("JSON");
    found["url"] = json!(
        serving
            .url()
            .replacen(serving.address(), &address.to_string(), 1)
    );
    super::desk::put(&serving_file, &found.to_string());

    let mut request = serving.url().into_client_request().expect("a url");
    let bearer = format!("Bearer {}", serving.token()).parse();
    let bearer = bearer.expect("a token is a header value");
    request.headers_mut().insert("authorization", bearer);
    let other = serving.client().await;
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("ac connects");
        let socket = tokio_tungstenite::accept_async(stream).await;
        let (mut to_ac, mut from_ac) = socket.expect("it speaks WebSocket").split();
        let gateway = tokio_tungstenite::connect_async(request).await;
        let (mut to_gateway, mut from_gateway) = gateway.expect("it listens").0.split();
        let back = tokio::spawn(async move {
            while let Some(Ok(message)) = from_gateway.next().await {
                if to_ac.send(message).await.is_err() {
                    return;
                }
            }
        });
        while let Some(Ok(message)) = from_ac.next().await {
            if matches!(&message, Message::Text(text) if text.contains(method)) {
                let saved = other.call_raw("thread/agents_doc/save", save.clone()).await;
                saved.expect("the text can be saved");
            }
            if to_gateway.send(message).await.is_err() {
                break;
            }
        }
        back.abort();
    });
}
