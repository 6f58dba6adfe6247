//! Uploads under interruptions, kills, duplicates and attacks: acknowledged chunks are kept, and finished artifacts
//! have the correct content.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use testkit::ServeProcess;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, client::IntoClientRequest as _},
};

const WORKSPACE: &str = "ws_000000000000000000";
const CHUNK: usize = 16 << 10;

fn serve(home: &Path) -> ServeProcess {
    ServeProcess::start(Command::new(env!("CARGO_BIN_EXE_ac")), home)
}

async fn served() -> (TempDir, ServeProcess, Connection) {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let serving = serve(home.path());
    let mut connection = Connection::open(&serving).await;
    let default = connection.call("workspace/default", json!({})).await;
    default.expect("there is a workspace");
    (home, serving, connection)
}

/// A deterministic random number generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("there are 31 bits") % limit
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}

fn sha256(bytes: &[u8]) -> String {
    let digits = |byte: &u8| format!("{byte:02x}");
    Sha256::digest(bytes).iter().map(digits).collect()
}

/// A client that exposes every frame.
struct Connection {
    socket: WebSocketStream<TcpStream>,
    last_id: u64,
    /// The last acknowledged offset by upload.
    acknowledged: BTreeMap<String, u64>,
    /// The last binary frame.
    frame: Vec<u8>,
}

/// An error of the gateway. `None` if the connection was lost.
type Refusal = Option<Value>;

impl Connection {
    async fn open(serving: &ServeProcess) -> Self {
        let stream = TcpStream::connect(serving.address()).await;
        let request = serving.url().into_client_request();
        let mut request = request.expect("the url is one");
        let bearer = format!("Bearer {}", serving.token()).parse();
        let bearer = bearer.expect("a token is a header value");
        request.headers_mut().insert("authorization", bearer);
        let stream = stream.expect("it listens");
        let connected = tokio_tungstenite::client_async(request, stream).await;
        Self {
            socket: connected.expect("the token is valid").0,
            last_id: 0,
            acknowledged: BTreeMap::new(),
            frame: Vec::new(),
        }
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<Value, Refusal> {
        let id = self.ask(method, params).await?;
        self.answer(id).await
    }

    /// Sends a request without waiting for its response.
    async fn ask(&mut self, method: &str, mut params: Value) -> Result<u64, Refusal> {
        if params.get("workspace_id").is_none() {
            params["workspace_id"] = WORKSPACE.into();
        }
        self.last_id += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        let sent = self.socket.send(Message::text(request.to_string())).await;
        sent.map_err(|_| None)?;
        Ok(self.last_id)
    }

    async fn answer(&mut self, id: u64) -> Result<Value, Refusal> {
        loop {
            let mut message = self.next().await?;
            if message["id"] == id {
                return match message.get_mut("error") {
                    None => Ok(message["result"].take()),
                    Some(error) => Err(Some(error.take())),
                };
            }
        }
    }

    /// Returns the next text message. Records acknowledgements and frames that arrive before it.
    async fn next(&mut self) -> Result<Value, Refusal> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    let message: Value = serde_json::from_str(&text).expect("texts are JSON");
                    if message["method"] == "artifact/upload/chunk_ack" {
                        let params = &message["params"];
                        let upload = params["upload_id"].as_str().expect("it names its upload");
                        let next = params["next_offset"].as_u64().expect("it is a number");
                        self.acknowledged.insert(upload.to_owned(), next);
                    }
                    return Ok(message);
                }
                Some(Ok(Message::Binary(frame))) => self.frame = frame.to_vec(),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(None),
            }
        }
    }

    /// Waits until an upload is acknowledged up to this offset.
    async fn acknowledged(&mut self, upload: &str, offset: usize) -> Result<(), Refusal> {
        let offset = offset as u64;
        while offset > 0 && self.acknowledged.get(upload).is_none_or(|at| *at < offset) {
            let message = self.next().await?;
            let is_rejected = message["method"] == "artifact/upload/chunk_rejected";
            assert!(!is_rejected, "{message}");
        }
        Ok(())
    }

    async fn start(&mut self, name: &str, bytes: &[u8]) -> Result<String, Refusal> {
        let params = json!({
            "client_attachment_id": format!("{}", self.last_id), "file_name": name,
            "size_bytes": bytes.len(), "sha256": sha256(bytes), "source_kind": "api",
        });
        let started = self.call("artifact/upload/start", params).await?;
        let upload = started["upload_id"].as_str();
        Ok(upload.expect("an upload has an id").to_owned())
    }

    /// Sends the content from an offset on and finishes the upload. Returns the artifact.
    async fn complete(
        &mut self,
        upload: &str,
        bytes: &[u8],
        from: usize,
    ) -> Result<Value, Refusal> {
        for (offset, chunk) in chunks(bytes, from) {
            self.send_chunk(upload, offset, chunk).await?;
        }
        self.finish(upload).await
    }

    async fn finish(&mut self, upload: &str) -> Result<Value, Refusal> {
        let params = json!({"upload_id": upload});
        let mut finished = self.call("artifact/upload/finish", params).await?;
        Ok(finished["artifact"].take())
    }

    async fn send_chunk(
        &mut self,
        upload: &str,
        offset: usize,
        chunk: &[u8],
    ) -> Result<(), Refusal> {
        let frame = Message::binary(upload_frame(upload, offset, chunk));
        self.socket.send(frame).await.map_err(|_| None)
    }

    async fn status(&mut self, upload: &str) -> Value {
        let params = json!({"upload_id": upload});
        let status = self.call("artifact/upload/status", params).await;
        status.expect("the upload is known")
    }

    /// Downloads the content of an artifact.
    async fn download(&mut self, artifact: &Value) -> Vec<u8> {
        let params = json!({"artifact_id": artifact["artifact_id"]});
        let started = self.call("artifact/download/start", params).await;
        let started = started.expect("a ready artifact can be downloaded");
        let size = started["size_bytes"].as_u64().expect("it has a size");
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < size {
            let offset = bytes.len() as u64;
            let params = json!({
                "download_id": started["download_id"], "offset": offset,
                "len": (size - offset).min(1 << 20),
            });
            let chunk = self.call("artifact/download/chunk", params).await;
            chunk.expect("the range is inside");
            let length = self.frame[4..8].try_into().expect("there are four bytes");
            bytes.extend_from_slice(&self.frame[8 + u32::from_be_bytes(length) as usize..]);
        }
        let params = json!({"download_id": started["download_id"]});
        let finished = self.call("artifact/download/finish", params).await;
        finished.expect("the download is open");
        bytes
    }
}

/// Returns the chunks from an offset on, with their offsets.
fn chunks(bytes: &[u8], from: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let numbered = bytes[from..].chunks(CHUNK).enumerate();
    numbered.map(move |(number, chunk)| (from + number * CHUNK, chunk))
}

fn upload_frame(upload: &str, offset: usize, chunk: &[u8]) -> Vec<u8> {
    let header = json!({
        "workspace_id": WORKSPACE, "upload_id": upload, "offset": offset, "len": chunk.len(),
    });
    let header = header.to_string();
    let length = u32::try_from(header.len()).expect("a header is short");
    let mut frame = b"ARTU".to_vec();
    frame.extend(length.to_be_bytes());
    frame.extend(header.as_bytes());
    frame.extend(chunk);
    frame
}

/// Returns a binary message in wire format, with a zero mask.
fn on_the_wire(frame: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x82, 0x80 | 127];
    bytes.extend((frame.len() as u64).to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(frame);
    bytes
}

/// Returns the relative paths of all files below a folder. Links are not followed.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).expect("the folder is there") {
            let entry = entry.expect("the folder can be read");
            if entry.file_type().expect("it has a type").is_dir() {
                open.push(entry.path());
            } else {
                let path = entry.path();
                let path = path.strip_prefix(folder).expect("it is below");
                found.insert(path.to_owned());
            }
        }
    }
    found
}

/// Returns the path of the blob with this content.
fn blob_path(home: &Path, bytes: &[u8]) -> PathBuf {
    let hash = sha256(bytes);
    let shard = format!("artifacts/workspaces/{WORKSPACE}/blobs/sha256");
    let folder = home.join(shard).join(&hash[..2]).join(&hash[2..4]);
    folder.join(hash)
}

#[tokio::test]
async fn an_upload_that_is_cut_anywhere_continues_where_it_was() {
    let (_home, serving, mut connection) = served().await;
    let mut numbers = Numbers(1);
    for round in 0..12 {
        let bytes = numbers.bytes(9 * CHUNK + 5);
        let upload = connection.start("cut.bin", &bytes).await.unwrap();
        let frames: Vec<_> = chunks(&bytes, 0)
            .map(|(offset, chunk)| on_the_wire(&upload_frame(&upload, offset, chunk)))
            .collect();
        // Even rounds interrupt between two acknowledged frames, odd rounds at any byte without waiting.
        let whole = numbers.below(frames.len());
        let is_even = round % 2 == 0;
        let within = if is_even {
            0
        } else {
            numbers.below(frames[whole].len())
        };
        let mut sent = frames[..whole].concat();
        sent.extend(&frames[whole][..within]);
        let stream = connection.socket.get_mut();
        stream.write_all(&sent).await.unwrap();
        if is_even {
            let acknowledged = connection.acknowledged(&upload, whole * CHUNK).await;
            acknowledged.unwrap();
        }
        drop(connection);

        connection = Connection::open(&serving).await;
        let status = connection.status(&upload).await;
        assert_eq!(status["status"], "receiving");
        let next = status["next_offset"].as_u64().unwrap() as usize;
        let is_possible = if is_even {
            next == whole * CHUNK
        } else {
            next.is_multiple_of(CHUNK) && next <= whole * CHUNK
        };
        assert!(
            is_possible,
            "{next} after {whole} frames and {within} bytes"
        );
        let artifact = connection.complete(&upload, &bytes, next).await.unwrap();
        assert_eq!(artifact["sha256"], sha256(&bytes));
        assert_eq!(connection.download(&artifact).await, bytes);
    }
}

/// The state of an upload as known to its client.
struct Known {
    bytes: Vec<u8>,
    acknowledged: u64,
    artifact_id: Option<Value>,
}

/// Uploads files one after the other until the connection or the gateway ends.
async fn upload_on(
    connection: &mut Connection,
    numbers: &mut Numbers,
    known: &mut BTreeMap<String, Known>,
    mut messages: usize,
    serving: &ServeProcess,
) -> Result<(), Refusal> {
    // Count down the messages; after the last one the gateway is killed while it works.
    let mut tick = async |numbers: &mut Numbers| {
        messages = messages.saturating_sub(1);
        if messages == 0 {
            for _ in 0..numbers.below(4000) {
                tokio::task::yield_now().await;
            }
            serving.signal("KILL");
        }
    };
    loop {
        let bytes = numbers.bytes(3 * CHUNK + 1);
        let upload = connection.start("killed.bin", &bytes).await?;
        let entry = known.entry(upload.clone()).or_insert(Known {
            bytes,
            acknowledged: 0,
            artifact_id: None,
        });
        tick(numbers).await;
        for (offset, chunk) in chunks(&entry.bytes, 0) {
            connection.send_chunk(&upload, offset, chunk).await?;
            tick(numbers).await;
            connection
                .acknowledged(&upload, offset + chunk.len())
                .await?;
            entry.acknowledged = (offset + chunk.len()) as u64;
        }
        let params = json!({"upload_id": upload});
        let id = connection.ask("artifact/upload/finish", params).await?;
        tick(numbers).await;
        let mut finished = connection.answer(id).await?;
        entry.artifact_id = Some(finished["artifact"]["artifact_id"].take());
    }
}

#[tokio::test]
async fn a_killed_gateway_keeps_what_it_acknowledged_and_lists_only_what_it_has() {
    let (home, mut serving, mut connection) = served().await;
    let mut numbers = Numbers(2);
    for round in 0..8 {
        let mut known = BTreeMap::new();
        // An upload consists of six messages: each round ends at a different one.
        let messages = 6 + round;
        let ended = upload_on(
            &mut connection,
            &mut numbers,
            &mut known,
            messages,
            &serving,
        )
        .await;
        assert_eq!(ended, Err(None), "only the kill ends it");
        serving.wait();

        serving = serve(home.path());
        connection = Connection::open(&serving).await;
        for (upload, known) in known {
            let status = connection.status(&upload).await;
            let next = status["next_offset"].as_u64().unwrap();
            assert!(next >= known.acknowledged, "{status}");
            let completed = connection.complete(&upload, &known.bytes, next as usize);
            let artifact = completed.await.unwrap();
            if let Some(artifact_id) = known.artifact_id {
                assert_eq!(artifact["artifact_id"], artifact_id);
            }
            assert_eq!(connection.download(&artifact).await, known.bytes);
        }
        let listed = connection
            .call("artifact/list", json!({"limit": 200}))
            .await;
        let listed = listed.unwrap();
        for item in listed["items"].as_array().unwrap() {
            let artifact = &item["artifact"];
            assert_eq!(artifact["status"], "ready");
            let bytes = connection.download(artifact).await;
            assert_eq!(artifact["sha256"], sha256(&bytes));
        }
    }
    let left = files(&home.path().join("artifacts/upload_sessions"));
    assert_eq!(left, BTreeSet::new());
}

#[tokio::test]
async fn the_same_bytes_three_times_at_once_make_one_file() {
    let (home, serving, mut connection) = served().await;
    let bytes = Numbers(3).bytes(5 * CHUNK);
    let mut others = [
        Connection::open(&serving).await,
        Connection::open(&serving).await,
    ];
    let mut uploads = Vec::new();
    for (number, connection) in std::iter::once(&mut connection)
        .chain(&mut others)
        .enumerate()
    {
        connection.last_id += 100 * number as u64;
        let upload = connection.start("same.bin", &bytes).await.unwrap();
        uploads.push((upload, connection));
    }
    let finishing = uploads
        .into_iter()
        .map(|(upload, connection)| completed(connection, upload, &bytes));
    let artifacts = futures_util::future::join_all(finishing).await;
    let ids: BTreeSet<_> = artifacts.into_iter().collect();
    assert_eq!(ids.len(), 3);
    let expected = blob_path(home.path(), &bytes);
    let expected = expected
        .strip_prefix(home.path().join("artifacts"))
        .unwrap();
    let found = files(&home.path().join("artifacts"));
    assert_eq!(found, BTreeSet::from([expected.to_owned()]));
}

/// Returns the id of the artifact.
async fn completed(connection: &mut Connection, upload: String, bytes: &[u8]) -> String {
    let artifact = connection.complete(&upload, bytes, 0).await;
    artifact.expect("the bytes are right")["artifact_id"].to_string()
}

#[tokio::test]
async fn no_name_leads_out_of_the_artifact_folder() {
    let outer = tempfile::tempdir().unwrap();
    let home = outer.path().join("a/home");
    fs::create_dir_all(&home).unwrap();
    let serving = serve(&home);
    let mut connection = Connection::open(&serving).await;
    connection
        .call("workspace/default", json!({}))
        .await
        .unwrap();
    let outside = || {
        let is_outside = |path: &PathBuf| !path.starts_with("a/home/artifacts");
        let found = files(outer.path()).into_iter().filter(is_outside);
        found.collect::<Vec<_>>()
    };
    let before = outside();

    let names = ["../../x", "/etc/x", "..", "a\0b", "a\\..\\b", "\u{202e}x"];
    let mut numbers = Numbers(4);
    for name in names {
        let bytes = numbers.bytes(100);
        let upload = connection.start(name, &bytes).await.unwrap();
        let artifact = connection.complete(&upload, &bytes, 0).await.unwrap();
        let shown = artifact["display_name"].as_str().unwrap();
        assert!(!shown.contains(['/', '\\', '\0']), "{shown:?}");
        assert!(blob_path(&home, &bytes).is_file());
    }
    let long = connection.start(&"x".repeat(10_000), b"x").await;
    assert_eq!(long.unwrap_err().unwrap()["code"], -32602);
    for (workspace, upload) in [
        ("../../x", "upl_x"),
        (WORKSPACE, "../../x"),
        (WORKSPACE, "a\0b"),
    ] {
        let params = json!({"workspace_id": workspace, "upload_id": upload});
        let refused = connection.call("artifact/upload/status", params).await;
        assert!(matches!(refused, Err(Some(_))), "{workspace} {upload}");
        connection.send_chunk(upload, 0, b"x").await.unwrap();
        let rejected = connection.next().await.unwrap();
        assert_eq!(rejected["method"], "artifact/upload/chunk_rejected");
    }
    assert_eq!(outside(), before);
}

#[tokio::test]
async fn a_link_in_the_place_of_a_blob_is_refused() {
    let (home, _serving, mut connection) = served().await;
    let bytes = Numbers(5).bytes(100);
    let (secret, blob) = (home.path().join("secret"), blob_path(home.path(), &bytes));
    gateway::replace_file(&secret, &bytes).unwrap();
    fs::create_dir_all(blob.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&secret, &blob).unwrap();

    let upload = connection.start("link.bin", &bytes).await.unwrap();
    let refused = connection.complete(&upload, &bytes, 0).await;
    assert_eq!(refused.unwrap_err().unwrap()["data"]["kind"], "internal");
    assert!(fs::symlink_metadata(&blob).unwrap().is_symlink());

    // After the link is removed, the same upload can be finished.
    fs::remove_file(&blob).unwrap();
    let artifact = connection.finish(&upload).await.unwrap();
    assert_eq!(connection.download(&artifact).await, bytes);

    fs::remove_file(&blob).unwrap();
    std::os::unix::fs::symlink(&secret, &blob).unwrap();
    let params = json!({"artifact_id": artifact["artifact_id"]});
    let refused = connection.call("artifact/download/start", params).await;
    assert_eq!(refused.unwrap_err().unwrap()["data"]["kind"], "not_ready");
    assert_eq!(fs::read(&secret).unwrap(), bytes);
}
