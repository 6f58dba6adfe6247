//! Uploads and downloads over a WebSocket in chunks.

use std::{fs::File, ops::Range, os::unix::fs::FileExt as _, time::Duration};

use protocol::artifact::{
    ArtifactUpdatedNotification, download::ArtifactDownloadProgressNotification,
    upload::ArtifactUploadChunkAckNotification, upload::ArtifactUploadChunkRejectedNotification,
};
use serde_json::Value;

use super::*;

impl Server {
    async fn call(&self, method: &str, params: Value) -> Value {
        let answered = self.client.call_raw(method, params).await;
        answered.expect("the call is right")
    }

    async fn refused(&self, method: &str, params: Value) -> (i64, Value) {
        match self.client.call_raw(method, params).await {
            Err(rpc::client::Error::Rpc { code, data, .. }) => (code, data["kind"].clone()),
            other => panic!("{other:?}"),
        }
    }

    async fn start(&self, name: &str, bytes: &[u8], more: Value) -> Value {
        let mut params = json!({"workspace_id": "ws_a", "client_attachment_id": name, "file_name": name,
            "size_bytes": bytes.len(), "sha256": sha256_hex(bytes), "source_kind": "api"});
        let object = params.as_object_mut().expect("it is one");
        object.extend(more.as_object().expect("it is one").clone());
        let started = self.call("artifact/upload/start", params).await;
        started["upload_id"].clone()
    }

    async fn chunk(&self, upload: &Value, offset: usize, bytes: &[u8]) {
        self.chunk_with(None, upload, offset, bytes).await;
    }

    async fn chunk_with(&self, hash: Option<&str>, upload: &Value, offset: usize, bytes: &[u8]) {
        let header = json!({"workspace_id": "ws_a", "upload_id": upload, "offset": offset,
            "len": bytes.len(), "chunk_sha256": hash});
        let header = header.to_string();
        let mut frame = b"ARTU".to_vec();
        frame.extend(
            u32::try_from(header.len())
                .expect("it is short")
                .to_be_bytes(),
        );
        frame.extend(header.as_bytes());
        frame.extend(bytes);
        let sent = self.client.send_binary(frame.into()).await;
        sent.expect("the gateway reads");
    }

    async fn finish(&self, upload: &Value) -> Value {
        let params = json!({"workspace_id": "ws_a", "upload_id": upload});
        self.call("artifact/upload/finish", params).await["artifact"].clone()
    }

    async fn put(&self, name: &str, bytes: &[u8], more: Value) -> Value {
        let upload = self.start(name, bytes, more).await;
        self.chunk(&upload, 0, bytes).await;
        self.finish(&upload).await
    }

    /// Downloads ranges of an artifact. Returns the header and the bytes of each.
    async fn ranges(
        &self,
        artifact: &Value,
        ranges: impl IntoIterator<Item = Range<usize>>,
    ) -> Vec<(Value, Vec<u8>)> {
        let params = json!({"workspace_id": "ws_a", "artifact_id": artifact["artifact_id"]});
        let download = self.call("artifact/download/start", params).await["download_id"].take();
        let mut found = Vec::new();
        for range in ranges {
            let params = json!({"workspace_id": "ws_a", "download_id": download,
                "offset": range.start, "len": range.len()});
            self.call("artifact/download/chunk", params).await;
            let frame = self.client.frame().await.expect("it comes with the answer");
            let length = frame[4..8].try_into().expect("there are four bytes");
            let begin = 8 + u32::from_be_bytes(length) as usize;
            let header = serde_json::from_slice(&frame[8..begin]).expect("it is JSON");
            found.push((header, frame[begin..].to_vec()));
        }
        let params = json!({"workspace_id": "ws_a", "download_id": download});
        self.call("artifact/download/finish", params).await;
        found
    }

    /// Flips a bit of the stored bytes.
    fn damage(&self, bytes: &[u8], at: usize) {
        let hash = sha256_hex(bytes);
        let blobs = self
            .home
            .path()
            .join("artifacts/workspaces/ws_a/blobs/sha256");
        let path = blobs.join(&hash[..2]).join(&hash[2..4]).join(hash);
        let file = File::options().write(true).open(path).expect("it is there");
        let damaged = [bytes[at] ^ 1];
        file.write_all_at(&damaged, at as u64)
            .expect("it is a file");
    }

    /// Asserts that the damaged bytes of an artifact are not served.
    async fn is_not_served(&self, artifact: &Value) {
        let params = json!({"workspace_id": "ws_a", "artifact_id": artifact["artifact_id"]});
        let refused = self.refused("artifact/download/start", params).await;
        assert_eq!(refused, (-32600, json!("not_ready")));
    }

    /// Opens another gateway on the same home, like a second process.
    async fn neighbour(&self) -> Self {
        let options = GatewayOptions::system(|sentence| panic!("{sentence}"));
        let home = Home::open(self.home.path()).expect("it is there");
        let gateway = Gateway::open(&home, &options).await.expect("it opens");
        Self {
            address: String::new(),
            owner: String::new(),
            reader: String::new(),
            other: String::new(),
            client: rpc::memory::connect(gateway.connect(gateway::Principal::owner())),
            home: tempfile::tempdir().expect("a temporary folder can be made"),
            sign_in: String::new(),
            _stop: oneshot::channel().0,
        }
    }

    async fn versions(&self, artifact: &Value) -> Vec<Value> {
        let params = json!({"workspace_id": "ws_a", "artifact_id": artifact["artifact_id"]});
        let found = self.call("artifact/versions/list", params).await;
        found["items"].as_array().expect("a list").clone()
    }
}

#[tokio::test]
async fn a_download_tells_how_far_it_is_behind_its_chunk() {
    let server = server().await;
    let bytes = noise(300_000);
    let artifact = server.put("a.bin", &bytes, json!({})).await;
    let params = json!({"workspace_id": "ws_a", "artifact_id": artifact["artifact_id"]});
    let started = server.call("artifact/download/start", params).await;
    let params = json!({"workspace_id": "ws_a", "download_id": started["download_id"],
        "offset": 0, "len": 100_000});
    server.call("artifact/download/chunk", params.clone()).await;
    let frame = server.client.frame().await.unwrap();
    assert!(frame.ends_with(&bytes[..100_000]));
    let told = server
        .client
        .wait_for::<ArtifactDownloadProgressNotification>();
    let told = told.await.unwrap();
    assert_eq!(
        (told.received_bytes, told.total_size_bytes),
        (100_000, 300_000)
    );
    assert_eq!(json!(told.artifact_id), artifact["artifact_id"]);
    // Progress is not reported for every chunk.
    for _ in 0..20 {
        server.call("artifact/download/chunk", params.clone()).await;
        server.client.frame().await.unwrap();
    }
    let progress = "artifact/download/progress";
    let unread = server.client.unread().await;
    let told = unread.iter().filter(|told| told.method == progress);
    assert!(told.count() < 20);
}

#[tokio::test]
async fn an_upload_may_add_a_version() {
    let server = server().await;
    let first = server.put("plan.txt", b"one", json!({})).await;
    let of = json!({"artifact_id": first["artifact_id"]});
    let second = server.put("other.json", b"{\"a\": 2}", of.clone()).await;
    assert_eq!(second["artifact_id"], first["artifact_id"]);
    assert_ne!(second["version_id"], first["version_id"]);
    assert_eq!(
        (&second["display_name"], &second["kind"]),
        (&json!("plan.txt"), &json!("json"))
    );
    let told = server
        .client
        .wait_for::<ArtifactUpdatedNotification>()
        .await
        .unwrap();
    assert_eq!(
        json!(told.artifact.artifact.version_id),
        second["version_id"]
    );
    let versions = server.versions(&first).await;
    let numbers = versions
        .iter()
        .map(|version| version["version_number"].clone());
    assert_eq!(numbers.collect::<Vec<_>>(), [2, 1]);
    // The old version is kept, and reading without a version returns the newest.
    let artifact = first["artifact_id"].as_str().unwrap();
    let current = format!("/artifacts/ws_a/{artifact}/current/content");
    assert_eq!(server.get(&current, &[]).await.text(), "{\"a\": 2}");
    let old = first["version_id"].as_str().unwrap();
    let old = format!("/artifacts/ws_a/{artifact}/{old}/content");
    assert_eq!(server.get(&old, &[]).await.text(), "one");
}

#[tokio::test]
async fn a_version_may_come_by_http() {
    let server = server().await;
    let first = server.put("a.txt", b"one", json!({})).await;
    let mut described = metadata("ws_a", "a.txt", "", &sha256_hex(b"two"));
    let id = first["artifact_id"].as_str().unwrap();
    described += &format!(",artifact_id {}", BASE64.encode(id));
    let created = server.create_as(&server.owner, &described, 3).await;
    let patched = server
        .patch(created.header("location").unwrap(), 0, b"two")
        .await;
    assert_eq!(patched.header("accord-artifact-id"), Some(id));
    assert_eq!(server.versions(&first).await.len(), 2);
}

#[tokio::test]
async fn finishing_twice_answers_the_version_of_the_upload() {
    let server = server().await;
    let first = server.put("a.txt", b"one", json!({})).await;
    let of = json!({"artifact_id": first["artifact_id"]});
    let upload = server.start("b.txt", b"two", of.clone()).await;
    server.chunk(&upload, 0, b"two").await;
    let second = server.finish(&upload).await;
    server.put("c.txt", b"three", of).await;
    assert_eq!(server.finish(&upload).await, second);
    assert_eq!(server.versions(&first).await.len(), 3);
}

#[tokio::test]
async fn an_artifact_that_is_not_there_gets_no_version() {
    let server = server().await;
    let first = server.put("a.txt", b"one", json!({})).await;
    let params = |artifact: &Value| {
        json!({"workspace_id": "ws_a", "client_attachment_id": "x", "file_name": "x", "size_bytes": 1,
            "sha256": sha256_hex(b"x"), "source_kind": "api", "artifact_id": artifact})
    };
    let unknown = server.refused("artifact/upload/start", params(&json!("art_none")));
    assert_eq!(unknown.await, (-32600, json!("unknown_artifact")));
    let named = json!({"workspace_id": "ws_a", "artifact_id": first["artifact_id"]});
    let upload = server
        .start(
            "b.txt",
            b"two",
            json!({"artifact_id": first["artifact_id"]}),
        )
        .await;
    server.chunk(&upload, 0, b"two").await;
    server.call("artifact/delete", named.clone()).await;
    let deleted = server.refused("artifact/upload/start", params(&first["artifact_id"]));
    assert_eq!(deleted.await.0, -32600);
    // An artifact deleted during the upload receives the new version after it is restored.
    let finish = json!({"workspace_id": "ws_a", "upload_id": upload});
    assert_eq!(
        server.refused("artifact/upload/finish", finish).await.0,
        -32600
    );
    server.call("artifact/restore", named).await;
    let second = server.finish(&upload).await;
    assert_eq!(second["artifact_id"], first["artifact_id"]);
}

#[tokio::test]
async fn chunks_behind_an_abort_are_refused_and_make_no_file() {
    let server = server().await;
    let upload = server.start("a.txt", b"0123456789", json!({})).await;
    server.chunk(&upload, 0, b"01234").await;
    server
        .client
        .wait_for::<ArtifactUploadChunkAckNotification>()
        .await
        .unwrap();
    let params = json!({"workspace_id": "ws_a", "upload_id": upload});
    server.call("artifact/upload/abort", params).await;
    server.chunk(&upload, 5, b"56789").await;
    let refused = server
        .client
        .wait_for::<ArtifactUploadChunkRejectedNotification>();
    assert_eq!(refused.await.unwrap().kind, "unknown_upload");
    let uploads = server.home.path().join("artifacts/upload_sessions/ws_a");
    assert_eq!(std::fs::read_dir(uploads).unwrap().count(), 0);
}

#[tokio::test]
async fn a_refused_chunk_does_not_hold_up_the_next() {
    let server = server().await;
    let upload = server.start("a.txt", b"0123456789", json!({})).await;
    server.chunk(&upload, 0, b"01234").await;
    server.chunk(&upload, 7, b"789").await;
    let refused = server
        .client
        .wait_for::<ArtifactUploadChunkRejectedNotification>();
    let refused = refused.await.unwrap();
    assert_eq!(
        (refused.kind.as_str(), refused.next_offset),
        ("offset_mismatch", Some(5))
    );
    server.chunk(&upload, 5, b"56789").await;
    let artifact = server.finish(&upload).await;
    assert_eq!(artifact["sha256"], sha256_hex(b"0123456789"));
}

#[tokio::test]
async fn another_process_may_go_on_with_an_upload_in_between() {
    let server = server().await;
    let neighbour = server.neighbour().await;
    let upload = server.start("a.txt", b"0123456789", json!({})).await;
    for (at, sender) in [&server, &neighbour, &server, &neighbour, &server]
        .iter()
        .enumerate()
    {
        sender
            .chunk(&upload, 2 * at, &b"0123456789"[2 * at..2 * at + 2])
            .await;
        let ack = sender
            .client
            .wait_for::<ArtifactUploadChunkAckNotification>();
        assert_eq!(ack.await.unwrap().next_offset, 2 * at as u64 + 2);
    }
    let artifact = neighbour.finish(&upload).await;
    assert_eq!(artifact["sha256"], sha256_hex(b"0123456789"));
}

const CHUNK: usize = 100_000;
const RANGES: [Range<usize>; 3] = [0..CHUNK, CHUNK..2 * CHUNK, 2 * CHUNK..2 * CHUNK + 7];

/// Uploads a file in chunks, each through the given server with or without its hash, and each twice, as after a lost
/// response.
async fn put_in_chunks(senders: [(&Server, bool); 3], bytes: &[u8]) -> Value {
    let [(server, _), ..] = senders;
    let upload = server.start("a.bin", bytes, json!({})).await;
    for ((sender, with_hash), range) in senders.into_iter().zip(RANGES) {
        let (offset, chunk) = (range.start, &bytes[range]);
        let hash = with_hash.then(|| sha256_hex(chunk));
        let hash = hash.as_deref();
        for _ in 0..2 {
            sender.chunk_with(hash, &upload, offset, chunk).await;
            let ack = sender
                .client
                .wait_for::<ArtifactUploadChunkAckNotification>();
            let ack = ack.await.expect("the gateway answers");
            assert_eq!(ack.offset, offset as u64);
        }
    }
    server.finish(&upload).await
}

#[tokio::test]
async fn a_chunk_comes_with_the_hash_it_was_uploaded_with_until_the_disk_damages_it() {
    let server = server().await;
    let bytes = noise(RANGES[2].end);
    let artifact = put_in_chunks([(&server, true); 3], &bytes).await;
    let hashes = RANGES.map(|range| sha256_hex(&bytes[range]));
    let found = server.ranges(&artifact, RANGES).await;
    for ((header, sent), hash) in found.iter().zip(&hashes) {
        assert_eq!(header["chunk_sha256"], *hash);
        assert_eq!(sha256_hex(sent), *hash, "{header}");
    }
    // Ranges that are not chunks are hashed when they are sent.
    let other = std::iter::once(CHUNK + 1..2 * CHUNK);
    for (header, sent) in server.ranges(&artifact, other).await {
        assert_eq!(header["chunk_sha256"], sha256_hex(&sent));
    }
    server.damage(&bytes, CHUNK + 5);
    server.is_not_served(&artifact).await;
}

#[tokio::test]
async fn chunks_that_did_not_all_come_to_one_process_with_a_hash_are_hashed_as_they_are_sent() {
    let server = server().await;
    let neighbour = server.neighbour().await;
    // The files are too short for the gateway to compute chunk hashes afterwards.
    let different = [
        [(&server, false); 3],
        [(&server, true), (&server, false), (&server, true)],
        [(&server, true), (&neighbour, true), (&server, true)],
    ];
    for (first, senders) in (0..).zip(different) {
        let mut bytes = noise(RANGES[2].end);
        bytes[0] = first;
        let artifact = put_in_chunks(senders, &bytes).await;
        for (header, sent) in server.ranges(&artifact, RANGES).await {
            assert_eq!(header["chunk_sha256"], sha256_hex(&sent));
        }
    }
    let database = rusqlite::Connection::open(server.home.path().join("gateway.db")).unwrap();
    let kept = database.query_row("SELECT COUNT(*) FROM artifact_chunk_hashes", [], |row| {
        row.get::<_, i64>(0)
    });
    assert_eq!(kept, Ok(0));
}

#[tokio::test]
async fn chunks_come_with_the_hashes_the_gateway_made_after_the_upload() {
    const MADE: usize = 256 << 10;
    let server = server().await;
    let bytes = noise(2 * MADE + 7);
    let ranges = [0..MADE, MADE..2 * MADE, 2 * MADE..2 * MADE + 7];
    let path = server.upload("a.bin", "", &bytes).await;
    let database = rusqlite::Connection::open(server.home.path().join("gateway.db")).unwrap();
    let are_made = || {
        let sql = "SELECT COUNT(*) FROM artifact_chunk_hashes";
        database.query_row(sql, [], |row| row.get::<_, i64>(0)) == Ok(1)
    };
    let made = async {
        while !are_made() {
            tokio::task::yield_now().await;
        }
    };
    let made = tokio::time::timeout(Duration::from_secs(60), made).await;
    made.expect("the gateway makes them soon");
    let artifact = json!({"artifact_id": path.split('/').nth(3)});
    let found = server.ranges(&artifact, ranges.clone()).await;
    for ((header, sent), range) in found.iter().zip(ranges) {
        let hash = sha256_hex(&bytes[range]);
        assert_eq!(header["chunk_sha256"], hash);
        assert_eq!(sha256_hex(sent), hash, "{header}");
    }
    server.damage(&bytes, MADE + 5);
    server.is_not_served(&artifact).await;
}

#[tokio::test]
async fn a_damaged_file_is_not_served_over_http() {
    let server = server().await;
    let bytes = noise(3000);
    let path = server.upload("a.bin", "", &bytes).await;
    let artifact = json!({"artifact_id": path.split('/').nth(3)});
    server.damage(&bytes, 5);
    let answer = server.get(&path, &[]).await;
    assert_ne!(answer.status, 200);
    assert!(
        answer.body.len() < bytes.len(),
        "none of its bytes are sent"
    );
    server.is_not_served(&artifact).await;
}

#[tokio::test]
async fn hashes_of_other_bytes_cannot_be_smuggled_in_behind_a_file_that_is_there() {
    let server = server().await;
    let bytes = noise(RANGES[2].end);
    let artifact = put_in_chunks([(&server, false); 3], &bytes).await;
    // The blob already exists, so the bytes sent now are not inspected.
    let upload = server.start("b.bin", &bytes, json!({})).await;
    for range in RANGES {
        let (offset, other) = (range.start, vec![7; range.len()]);
        let hash = sha256_hex(&other);
        let hash = Some(hash.as_str());
        server.chunk_with(hash, &upload, offset, &other).await;
    }
    server.finish(&upload).await;
    for (header, sent) in server.ranges(&artifact, RANGES).await {
        assert_eq!(header["chunk_sha256"], sha256_hex(&sent));
    }
}
