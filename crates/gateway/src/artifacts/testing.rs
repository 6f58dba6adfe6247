//! Test helpers: a gateway, a client and access to the stored files.

use std::{path::PathBuf, sync::Arc};

use rpc::Client;
use serde_json::{Value, json};

use crate::{Gateway, GatewayOptions, Home, Principal, sha256_hex};

/// Opens a gateway with the workspace `ws_a` and connects a client.
pub(super) async fn opened(home: &Home) -> (Arc<Gateway>, Client) {
    let options = GatewayOptions::system(|sentence| panic!("{sentence}"));
    let gateway = Gateway::open(home, &options).await.expect("a home");
    let client = rpc::memory::connect(gateway.connect(Principal::owner()));
    call(&client, "workspace/create", json!({"workspace_id": "ws_a"})).await;
    (gateway, client)
}

pub(super) async fn call(client: &Client, method: &str, params: Value) -> Value {
    let answer = client.call_raw(method, params).await;
    answer.expect("the request is good")
}

/// Returns the params of `artifact/upload/start` for a file.
pub(super) fn start(name: &str, bytes: &[u8]) -> Value {
    json!({"workspace_id": "ws_a", "client_attachment_id": name, "file_name": name,
        "size_bytes": bytes.len(), "sha256": sha256_hex(bytes), "source_kind": "api"})
}

/// Uploads bytes, in hashed chunks of the given size or otherwise in 1 MiB chunks without hashes. Returns the id of the
/// artifact and the id of its blob.
pub(super) async fn upload(
    gateway: &Arc<Gateway>,
    client: &Client,
    bytes: &[u8],
    hashed_chunk: Option<usize>,
) -> (String, String) {
    let started = call(client, "artifact/upload/start", start("a.bin", bytes)).await;
    let upload = &started["upload_id"];
    let mut offset = 0;
    for chunk in bytes.chunks(hashed_chunk.unwrap_or(1 << 20)) {
        let hash = hashed_chunk.map(|_| sha256_hex(chunk));
        let header = json!({"workspace_id": "ws_a", "upload_id": upload, "offset": offset,
            "len": chunk.len(), "chunk_sha256": hash});
        let header = header.to_string();
        let length = u32::try_from(header.len()).expect("a short header");
        let frame = [b"ARTU", &length.to_be_bytes()[..], header.as_bytes(), chunk].concat();
        let sent = client.send_binary(frame.into()).await;
        sent.expect("the gateway reads");
        offset += chunk.len();
    }
    let finish = json!({"workspace_id": "ws_a", "upload_id": upload});
    let finished = call(client, "artifact/upload/finish", finish).await;
    let artifact = finished["artifact"]["artifact_id"].as_str();
    let artifact = artifact.expect("an id").to_owned();
    let detail = gateway.store.artifacts().get("ws_a", &artifact, None).await;
    (artifact, detail.expect("it was made").blob.id)
}

/// Returns the path of the file of a blob.
pub(super) fn path(home: &Home, sha256: &str) -> PathBuf {
    let (outer, inner) = (&sha256[..2], &sha256[2..4]);
    let blobs = home.path().join("artifacts/workspaces/ws_a/blobs/sha256");
    blobs.join(outer).join(inner).join(sha256)
}
