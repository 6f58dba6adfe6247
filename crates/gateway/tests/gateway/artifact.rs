//! Tests of `artifact/*` through a client: damaged files, limits, notifications, connections without binary frames, and
//! files attached to turns.

mod attachments;
mod damage;
mod notifications;
mod quota;
mod stdio;
mod values;

use std::path::PathBuf;

use rpc::Client;
use serde_json::{Value, json};
use testkit::TestGateway;

async fn call(client: &Client, method: &str, params: Value) -> Value {
    let answer = client.call_raw(method, params).await;
    answer.unwrap_or_else(|error| panic!("{method}: {error:?}"))
}

/// Calls a method that must fail. Returns the code and the data of the error.
async fn refused(client: &Client, method: &str, params: Value) -> (i64, Value) {
    match client.call_raw(method, params).await {
        Err(rpc::client::Error::Rpc { code, data, .. }) => (code, data),
        other => panic!("{method}: {other:?}"),
    }
}

fn start(name: &str, bytes: &[u8]) -> Value {
    json!({"workspace_id": "ws_a", "client_attachment_id": name, "file_name": name,
        "size_bytes": bytes.len(), "sha256": gateway::sha256_hex(bytes), "source_kind": "api"})
}

async fn send(client: &Client, upload: &Value, bytes: &[u8]) {
    let mut offset = 0;
    for chunk in bytes.chunks(1 << 20) {
        let header = json!({"workspace_id": "ws_a", "upload_id": upload, "offset": offset, "len": chunk.len()});
        let header = header.to_string();
        let length = u32::try_from(header.len()).expect("a header is short");
        let frame = [b"ARTU", &length.to_be_bytes()[..], header.as_bytes(), chunk].concat();
        let sent = client.send_binary(frame.into()).await;
        sent.expect("the gateway reads frames");
        offset += chunk.len();
    }
}

async fn finish(client: &Client, upload: &Value) -> Value {
    let params = json!({"workspace_id": "ws_a", "upload_id": upload});
    call(client, "artifact/upload/finish", params).await["artifact"].clone()
}

/// Uploads a file and returns its artifact. `more` is added to the params of `artifact/upload/start`.
async fn put(client: &Client, name: &str, bytes: &[u8], more: Value) -> Value {
    let mut params = start(name, bytes);
    let members = params.as_object_mut().expect("params are an object");
    members.extend(more.as_object().cloned().unwrap_or_default());
    let started = call(client, "artifact/upload/start", params).await;
    if started["already_present"] != true {
        send(client, &started["upload_id"], bytes).await;
    }
    finish(client, &started["upload_id"]).await
}

fn of(artifact: &Value) -> Value {
    json!({"workspace_id": "ws_a", "artifact_id": artifact["artifact_id"]})
}

/// Returns the path of a blob of the workspace `ws_a`.
fn blob_path(running: &TestGateway, bytes: &[u8]) -> PathBuf {
    let sha256 = gateway::sha256_hex(bytes);
    let blobs = running
        .home()
        .join("artifacts/workspaces/ws_a/blobs/sha256");
    blobs.join(&sha256[..2]).join(&sha256[2..4]).join(&sha256)
}

/// Returns a client with the workspace `ws_a` and the thread `thr_a`.
async fn client(running: &TestGateway) -> Client {
    let client = running.client();
    call(&client, "workspace/create", json!({"workspace_id": "ws_a"})).await;
    let thread = json!({"workspace_id": "ws_a", "thread_id": "thr_a", "model": "some-model", "model_provider": "openai"});
    call(&client, "thread/start", thread).await;
    client
}
