//! Artifact content over HTTP on a real socket: downloads by browsers and `curl`, and tus uploads.

use std::{net::SocketAddr, sync::Arc};

mod pages;
mod sign_in;
mod transfers;
mod tus;

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use gateway::{
    Gateway, GatewayOptions, Home, NewToken, ServeOptions, Serving, Sources, sha256_hex,
};
use protocol::artifact::{ArtifactCreatedNotification, ThreadArtifactsChangedNotification};
use rpc::Client;
use serde_json::json;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::oneshot,
};

/// A gateway on a free port with the workspaces `ws_a` and `ws_b`. Dropping it stops the gateway.
struct Server {
    address: String,
    /// The owner's token.
    owner: String,
    /// A token that may read `ws_a`.
    reader: String,
    /// A token that may read and write `ws_b`.
    other: String,
    /// A connection of the owner.
    client: Client,
    home: TempDir,
    /// The one-time link that signs a browser in.
    sign_in: String,
    _stop: oneshot::Sender<()>,
}

/// A raw HTTP response.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(one, _)| one == name);
        let first = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "`{name}` is there twice");
        first
    }

    fn text(&self) -> &str {
        str::from_utf8(&self.body).expect("the body is text")
    }

    fn number(&self, name: &str) -> usize {
        let value = self.header(name).expect("the header is there");
        value.parse().expect("the header is a number")
    }
}

async fn server() -> Server {
    server_for(&[]).await
}

/// Starts a gateway that accepts pages of the given origins.
async fn server_for(origins: &[&str]) -> Server {
    server_with(origins, Sources::system()).await
}

/// Starts a gateway with the given clock and id generator.
async fn server_with(origins: &[&str], sources: Sources) -> Server {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let mut options = GatewayOptions::system(|sentence| panic!("{sentence}"));
    options.sources = sources;
    let reader = token(&home, &options, &["read"], "ws_a").await;
    let other = token(&home, &options, &["read", "write"], "ws_b").await;
    let serve_options = ServeOptions {
        home: home.path().to_owned(),
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        ready_file: None,
        allowed_hosts: vec![],
        allowed_origins: origins.iter().map(ToString::to_string).collect(),
    };
    let (ready, serving) = oneshot::channel::<Serving>();
    let (stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(async move {
        let on_ready = |serving: &Serving| {
            let _ = ready.send(serving.clone());
        };
        let until = async {
            let _ = stopped.await;
        };
        gateway::serve(serve_options, &options, on_ready, until).await
    });
    let serving = serving.await.expect("the gateway serves");
    let owner = std::fs::read_to_string(&serving.token_file).expect("there is a token");
    let client = rpc::websocket::connect(&serving.url, &owner).await;
    let client = client.expect("the owner can connect");
    for workspace in ["ws_a", "ws_b"] {
        let params = json!({"workspace_id": workspace});
        let created = client.call_raw("workspace/create", params).await;
        created.expect("the owner may create workspaces");
    }
    let address = serving.http.trim_start_matches("http://");
    Server {
        address: address.trim_end_matches('/').to_owned(),
        owner,
        reader,
        other,
        client,
        home,
        sign_in: serving.sign_in,
        _stop: stop,
    }
}

async fn token(
    home: &TempDir,
    options: &GatewayOptions,
    scopes: &[&str],
    workspace: &str,
) -> String {
    let folder = Home::open(home.path()).expect("a temporary folder can be a home");
    let opened = Gateway::open(&folder, options).await;
    let gateway: Arc<Gateway> = opened.expect("a gateway starts on its own home");
    let scopes: Vec<_> = scopes.iter().map(ToString::to_string).collect();
    let token = NewToken::new("test", "worker", &scopes, &[workspace.to_owned()]);
    let token = token.expect("the test names scopes that can be");
    let created = token.create(gateway.store(), &Sources::system()).await;
    created.expect("a token can be stored").1
}

impl Server {
    /// Sends one request as the owner and returns the response.
    async fn send(&self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.send_as(Some(&self.owner), line, headers, body).await
    }

    async fn send_as(
        &self,
        token: Option<&str>,
        line: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut stream = self.begin(token, line, headers, body.len()).await;
        // The gateway may reject the request before it has read the whole body.
        let _ = stream.write_all(body).await;
        let mut raw = Vec::new();
        let read = stream.read_to_end(&mut raw).await;
        assert!(read.is_ok() || !raw.is_empty(), "{line}: {read:?}");
        parse(&raw)
    }

    /// Sends the head of a request.
    async fn begin(
        &self,
        token: Option<&str>,
        line: &str,
        headers: &[(&str, &str)],
        length: usize,
    ) -> TcpStream {
        let mut head = format!(
            "{line} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
            self.address
        );
        if length > 0 {
            head += &format!("Content-Length: {length}\r\n");
        }
        if let Some(token) = token {
            head += &format!("Authorization: Bearer {token}\r\n");
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        let connected = TcpStream::connect(&self.address).await;
        let mut stream = connected.expect("the gateway listens");
        let sent = stream.write_all(head.as_bytes()).await;
        sent.expect("the gateway reads");
        stream
    }

    /// Starts an upload in `ws_a` and returns its path.
    async fn create(&self, name: &str, mime: &str, bytes: &[u8]) -> String {
        let metadata = metadata("ws_a", name, mime, &sha256_hex(bytes));
        let created = self.create_as(&self.owner, &metadata, bytes.len()).await;
        assert_eq!(created.status, 201, "{}", created.text());
        created.header("location").expect("a location").to_owned()
    }

    async fn create_as(&self, token: &str, metadata: &str, length: usize) -> Answer {
        let length = length.to_string();
        let headers = [
            ("Tus-Resumable", "1.0.0"),
            ("Upload-Length", length.as_str()),
            ("Upload-Metadata", metadata),
        ];
        self.send_as(Some(token), "POST /uploads", &headers, b"")
            .await
    }

    async fn patch(&self, location: &str, offset: usize, bytes: &[u8]) -> Answer {
        let offset = offset.to_string();
        self.send(&format!("PATCH {location}"), &patch(&offset), bytes)
            .await
    }

    async fn head(&self, location: &str) -> Answer {
        self.send(
            &format!("HEAD {location}"),
            &[("Tus-Resumable", "1.0.0")],
            b"",
        )
        .await
    }

    /// Uploads a file to `ws_a` and returns the path of its content.
    async fn upload(&self, name: &str, mime: &str, bytes: &[u8]) -> String {
        let location = self.create(name, mime, bytes).await;
        let patched = self.patch(&location, 0, bytes).await;
        assert_eq!(patched.status, 204, "{}", patched.text());
        let artifact = patched.header("accord-artifact-id").expect("an artifact");
        format!("/artifacts/ws_a/{artifact}/current/content")
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(&format!("GET {path}"), headers, b"").await
    }
}

fn patch(offset: &str) -> [(&'static str, &str); 3] {
    [
        ("Tus-Resumable", "1.0.0"),
        ("Content-Type", "application/offset+octet-stream"),
        ("Upload-Offset", offset),
    ]
}

fn metadata(workspace: &str, name: &str, mime: &str, sha256: &str) -> String {
    let pairs = [
        ("workspace_id", workspace),
        ("filename", name),
        ("filetype", mime),
        ("sha256", sha256),
    ];
    let pairs = pairs.map(|(word, value)| format!("{word} {}", BASE64.encode(value)));
    pairs.join(",")
}

fn parse(raw: &[u8]) -> Answer {
    let end = raw.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.expect("the head has an end");
    let head = str::from_utf8(&raw[..end]).expect("the head is text");
    let mut lines = head.split("\r\n");
    let status = lines.next().expect("a status line");
    let status = status.split(' ').nth(1).expect("a status");
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(": ").expect("a header");
        (name.to_ascii_lowercase(), value.to_owned())
    });
    Answer {
        status: status.parse().expect("a number"),
        headers: headers.collect(),
        body: raw[end + 4..].to_vec(),
    }
}

/// Returns pseudo-random bytes with a long period.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[tokio::test]
async fn the_bytes_come_with_everything_a_browser_should_know() {
    let server = server().await;
    let bytes = noise(700_001);
    let path = server
        .upload("data.bin", "application/octet-stream", &bytes)
        .await;
    let whole = server.get(&path, &[]).await;
    assert_eq!(whole.status, 200);
    assert!(whole.body == bytes, "the bytes are the same");
    let etag = format!("\"{}\"", sha256_hex(&bytes));
    for (name, value) in [
        ("content-type", "application/octet-stream"),
        ("content-length", "700001"),
        ("etag", etag.as_str()),
        ("accept-ranges", "bytes"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "sandbox; default-src 'none'"),
        ("cache-control", "private, no-cache"),
        (
            "content-disposition",
            "attachment; filename=\"data.bin\"; filename*=UTF-8''data.bin",
        ),
    ] {
        assert_eq!(whole.header(name), Some(value), "{name}");
    }
    let head = server.send(&format!("HEAD {path}"), &[], b"").await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    for (name, value) in &whole.headers {
        if name != "date" {
            assert_eq!(head.header(name), Some(value.as_str()), "{name}");
        }
    }
    let known = server.get(&path, &[("If-None-Match", &etag)]).await;
    assert_eq!((known.status, known.body.len()), (304, 0));
    assert_eq!(known.header("etag"), Some(etag.as_str()));
    let changed = server.get(&path, &[("If-None-Match", "\"other\"")]).await;
    assert_eq!(changed.status, 200);
}

#[tokio::test]
async fn a_range_is_a_part() {
    let server = server().await;
    let bytes = noise(600_000);
    let path = server.upload("data.bin", "", &bytes).await;
    for (range, status, expected) in [
        ("bytes=0-0", 206, 0..1),
        ("bytes=1000-400000", 206, 1000..400_001),
        ("bytes=599999-", 206, 599_999..600_000),
        ("bytes=-5", 206, 599_995..600_000),
        ("bytes=-9999999", 206, 0..600_000),
        ("bytes=5-9999999", 206, 5..600_000),
        ("bytes=0-1,4-5", 200, 0..600_000),
        ("bytes=x-y", 200, 0..600_000),
        ("bytes=9-2", 200, 0..600_000),
        ("furlongs=1-2", 200, 0..600_000),
    ] {
        let answer = server.get(&path, &[("Range", range)]).await;
        assert_eq!(answer.status, status, "{range}");
        assert!(answer.body == bytes[expected.clone()], "{range}");
        assert_eq!(answer.number("content-length"), expected.len(), "{range}");
        let content_range = format!("bytes {}-{}/600000", expected.start, expected.end - 1);
        let content_range = (status == 206).then_some(content_range);
        assert_eq!(answer.header("content-range"), content_range.as_deref());
    }
    for range in ["bytes=600000-", "bytes=700000-800000", "bytes=-0"] {
        let answer = server.get(&path, &[("Range", range)]).await;
        assert_eq!(answer.status, 416, "{range}");
        assert_eq!(answer.header("content-range"), Some("bytes */600000"));
    }
    let etag = format!("\"{}\"", sha256_hex(&bytes));
    let range = ("Range", "bytes=0-9");
    let same = server.get(&path, &[range, ("If-Range", &etag)]).await;
    assert_eq!((same.status, same.body.len()), (206, 10));
    let stale = server.get(&path, &[range, ("If-Range", "\"old\"")]).await;
    assert_eq!((stale.status, stale.body.len()), (200, 600_000));
    let line = format!("HEAD {path}");
    let head = server.send(&line, &[range], b"").await;
    assert_eq!((head.status, head.number("content-length")), (200, 600_000));
}

#[tokio::test]
async fn a_name_cannot_leave_its_header() {
    let server = server().await;
    for (index, (name, expected)) in [
        (
            "a\"; filename=\"b.html\r\nSet-Cookie: c=d\r\n\r\n<script>.txt",
            "inline; filename=\"a_; filename=_b.html__Set-Cookie: c=d____<script>.txt\"; \
             filename*=UTF-8''a%22%3B%20filename%3D%22b.html__Set-Cookie%3A%20c%3Dd____%3Cscript%3E.txt",
        ),
        (
            "../../né ☃.txt",
            "inline; filename=\".._.._n_ _.txt\"; filename*=UTF-8''.._.._n%C3%A9%20%E2%98%83.txt",
        ),
        (
            "notes",
            "inline; filename=\"notes.txt\"; filename*=UTF-8''notes.txt",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let bytes = format!("text number {index}");
        let path = server.upload(name, "text/plain", bytes.as_bytes()).await;
        let answer = server.get(&path, &[]).await;
        assert_eq!(answer.header("content-disposition"), Some(expected));
        assert_eq!(answer.header("set-cookie"), None);
        assert_eq!(answer.body, bytes.as_bytes());
    }
}

#[tokio::test]
async fn a_page_is_saved_and_not_shown() {
    let server = server().await;
    let page = b"<!doctype html><script>alert(1)</script>";
    let path = server.upload("page.html", "text/html", page).await;
    let answer = server.get(&path, &[]).await;
    let expected = "attachment; filename=\"page.html\"; filename*=UTF-8''page.html";
    assert_eq!(answer.header("content-type"), Some("text/html"));
    assert_eq!(answer.header("content-disposition"), Some(expected));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    // The content of an SVG is detected as text, so a browser that honours the type shows it as text.
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>";
    let path = server.upload("image.svg", "image/svg+xml", svg).await;
    let answer = server.get(&path, &[]).await;
    assert_eq!(answer.header("content-type"), Some("text/plain"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
}

#[tokio::test]
async fn only_whoever_may_read_reads() {
    let server = server().await;
    let path = server.upload("a.txt", "text/plain", b"text").await;
    let line = format!("GET {path}");
    let status = async |token| server.send_as(token, &line, &[], b"").await.status;
    assert_eq!(status(None).await, 401);
    assert_eq!(status(Some("wrong")).await, 401);
    assert_eq!(status(Some(server.reader.as_str())).await, 200);
    assert_eq!(status(Some(server.other.as_str())).await, 403);
    // The token's own workspace in the path gives no access to the artifact.
    let line = line.replace("ws_a", "ws_b");
    let answer = server.send_as(Some(&server.other), &line, &[], b"").await;
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let server = server().await;
    let path = server.upload("a.txt", "text/plain", b"text").await;
    let artifact = path.split('/').nth(3).unwrap();
    let get = async |path: &str| server.get(path, &[]).await.status;
    for path in [
        "/artifacts/ws_a/art_none/current/content",
        "/artifacts/ws_none/art_none/current/content",
        "/artifacts/..%2f..%2fetc/passwd/current/content",
        "/artifacts/ws_a/..%2f..%2ftoken/current/content",
        "/artifacts/ws_a/%2e%2e/current/content",
        "/artifacts/ws_a/../../token",
        "/artifacts/ws_a/a%00b/current/content",
        "/artifacts/ws_a/current/content",
        "/artifacts/ws_a//current/content",
    ] {
        assert_eq!(get(path).await, 404, "{path}");
    }
    let other = format!("/artifacts/ws_a/{artifact}/av_none/content");
    assert_eq!(get(&other).await, 404);
    let params = json!({"workspace_id": "ws_a", "artifact_id": artifact});
    let got = server.client.call_raw("artifact/get", params.clone()).await;
    let version = got.unwrap()["artifact"]["artifact"]["version_id"].clone();
    let exact = format!(
        "/artifacts/ws_a/{artifact}/{}/content",
        version.as_str().unwrap()
    );
    assert_eq!(get(&exact).await, 200);
    let deleted = server.client.call_raw("artifact/delete", params).await;
    deleted.unwrap();
    assert_eq!((get(&path).await, get(&exact).await), (404, 404));
    let database = rusqlite::Connection::open(server.home.path().join("gateway.db")).unwrap();
    let sql = "UPDATE artifact SET status = 'quarantined'";
    database.execute(sql, []).unwrap();
    assert_eq!(get(&path).await, 409);
}

#[tokio::test]
async fn an_upload_arrives_in_three_parts() {
    let server = server().await;
    let thread = json!({"workspace_id": "ws_a", "thread_id": "thr_a"});
    let started = server.client.call_raw("thread/start", thread).await;
    started.unwrap();
    let bytes = noise(1_000_000);
    let described = metadata("ws_a", "data.bin", "", &sha256_hex(&bytes));
    let described = format!("{described},thread_id {}", BASE64.encode("thr_a"));
    let created = server
        .create_as(&server.owner, &described, bytes.len())
        .await;
    assert_eq!(created.status, 201, "{}", created.text());
    assert_eq!(created.header("tus-resumable"), Some("1.0.0"));
    let location = created.header("location").unwrap();
    assert!(location.starts_with("/uploads/upl_"), "{location}");
    let mut artifact = None;
    for (start, end) in [(0, 300_000), (300_000, 300_001), (300_001, 1_000_000)] {
        let head = server.head(location).await;
        assert_eq!(head.status, 200);
        assert_eq!(head.number("upload-offset"), start);
        assert_eq!(head.number("upload-length"), bytes.len());
        assert_eq!(head.header("cache-control"), Some("no-store"));
        let patched = server.patch(location, start, &bytes[start..end]).await;
        assert_eq!(patched.status, 204, "{}", patched.text());
        assert_eq!(patched.number("upload-offset"), end);
        artifact = patched.header("accord-artifact-id").map(ToOwned::to_owned);
        assert_eq!(artifact.is_some(), end == bytes.len());
    }
    let artifact = artifact.unwrap();
    let path = format!("/artifacts/ws_a/{artifact}/current/content");
    assert!(server.get(&path, &[]).await.body == bytes);
    let created: ArtifactCreatedNotification = server.client.wait_for().await.unwrap();
    assert_eq!(created.artifact.artifact.artifact_id.as_str(), artifact);
    let changed: ThreadArtifactsChangedNotification = server.client.wait_for().await.unwrap();
    assert_eq!(changed.reason, "user_upload");
    assert_eq!(changed.thread_id.as_str(), "thr_a");
    // A client that lost the last response requests it again.
    let head = server.head(location).await;
    assert_eq!(head.number("upload-offset"), bytes.len());
    assert_eq!(head.header("accord-artifact-id"), Some(artifact.as_str()));
    let again = server.patch(location, bytes.len(), b"").await;
    assert_eq!(again.status, 204, "{}", again.text());
    assert_eq!(again.header("accord-artifact-id"), Some(artifact.as_str()));
}

#[tokio::test]
async fn an_upload_goes_on_where_the_connection_was_cut() {
    let server = server().await;
    let bytes = noise(900_000);
    let location = server.create("data.bin", "", &bytes).await;
    let line = format!("PATCH {location}");
    let owner = Some(server.owner.as_str());
    let mut stream = server.begin(owner, &line, &patch("0"), bytes.len()).await;
    stream.write_all(&bytes[..400_000]).await.unwrap();
    drop(stream);
    let received = async {
        loop {
            let received = server.head(&location).await.number("upload-offset");
            if received == 400_000 {
                return received;
            }
        }
    };
    let limit = std::time::Duration::from_secs(20);
    let received = tokio::time::timeout(limit, received).await.unwrap();
    let patched = server.patch(&location, received, &bytes[received..]).await;
    assert_eq!(patched.status, 204, "{}", patched.text());
    let artifact = patched.header("accord-artifact-id").unwrap();
    let path = format!("/artifacts/ws_a/{artifact}/current/content");
    assert!(server.get(&path, &[]).await.body == bytes);
}

#[tokio::test]
async fn an_upload_may_be_started_by_one_protocol_and_go_on_by_the_other() {
    let server = server().await;
    let start = json!({"workspace_id": "ws_a", "client_attachment_id": "one", "file_name": "a.txt",
        "size_bytes": 10, "sha256": sha256_hex(b"0123456789"), "source_kind": "api"});
    let started = server.client.call_raw("artifact/upload/start", start).await;
    let upload = started.unwrap()["upload_id"].clone();
    let location = format!("/uploads/{}", upload.as_str().unwrap());
    assert_eq!(server.patch(&location, 0, b"01234").await.status, 204);
    let params = json!({"workspace_id": "ws_a", "upload_id": upload});
    let status = server
        .client
        .call_raw("artifact/upload/status", params.clone());
    assert_eq!(status.await.unwrap()["next_offset"], 5);
    let patched = server.patch(&location, 5, b"56789").await;
    let artifact = patched.header("accord-artifact-id").unwrap();
    let finish = server.client.call_raw("artifact/upload/finish", params);
    assert_eq!(finish.await.unwrap()["artifact"]["artifact_id"], artifact);
}

#[tokio::test]
async fn bytes_at_another_offset_are_a_conflict() {
    let server = server().await;
    let location = server.create("a.txt", "text/plain", b"0123456789").await;
    assert_eq!(server.patch(&location, 0, b"0123").await.status, 204);
    for offset in [0, 3, 5, 10] {
        let answer = server.patch(&location, offset, b"456").await;
        assert_eq!(answer.status, 409, "{offset}");
        assert_eq!(answer.number("upload-offset"), 4);
    }
    let more = server.patch(&location, 4, b"4567890").await;
    assert_eq!(more.status, 413);
    let line = format!("PATCH {location}");
    let chunked = [patch("4").as_slice(), &[("Transfer-Encoding", "chunked")]].concat();
    let owner = Some(server.owner.as_str());
    let mut stream = server.begin(owner, &line, &chunked, 0).await;
    let sent = stream.write_all(b"7\r\n4567890\r\n0\r\n\r\n").await;
    sent.unwrap();
    let mut raw = Vec::new();
    stream.read_to_end(&mut raw).await.unwrap();
    assert_eq!(parse(&raw).status, 413);
    assert_eq!(server.head(&location).await.number("upload-offset"), 4);
    let headers = [
        ("Tus-Resumable", "1.0.0"),
        ("Content-Type", "text/plain"),
        ("Upload-Offset", "4"),
    ];
    assert_eq!(server.send(&line, &headers, b"4").await.status, 415);
    assert_eq!(server.patch(&location, 4, b"456789").await.status, 204);
}

#[tokio::test]
async fn an_upload_that_cannot_be_is_refused() {
    let server = server().await;
    let hash = sha256_hex(b"");
    let good = metadata("ws_a", "a.txt", "", &hash);
    let create = async |described: &str, length: usize| {
        let created = server.create_as(&server.owner, described, length).await;
        assert_eq!(created.header("tus-resumable"), Some("1.0.0"));
        created.status
    };
    assert_eq!(create(&good, 52_428_800).await, 201);
    assert_eq!(create(&good, 52_428_801).await, 413);
    assert_eq!(create(&good, usize::MAX).await, 413);
    assert_eq!(create("", 1).await, 400);
    assert_eq!(create("filename !", 1).await, 400);
    assert_eq!(create(&metadata("ws_a", " ", "", &hash), 1).await, 400);
    assert_eq!(create(&metadata("../x", "a", "", &hash), 1).await, 400);
    assert_eq!(create(&metadata("ws_a", "a", "", "abc"), 1).await, 400);
    let long = "x".repeat(256);
    assert_eq!(create(&metadata("ws_a", &long, "", &hash), 1).await, 400);
    assert_eq!(create(&metadata("ws_none", "a", "", &hash), 1).await, 404);
    let foreign = format!("{good},thread_id {}", BASE64.encode("thr_none"));
    assert_eq!(create(&foreign, 1).await, 404);
}

#[tokio::test]
async fn an_empty_file_is_complete_at_once() {
    let server = server().await;
    let metadata = metadata("ws_a", "empty", "text/plain", &sha256_hex(b""));
    let created = server.create_as(&server.owner, &metadata, 0).await;
    assert_eq!(created.status, 201, "{}", created.text());
    let artifact = created.header("accord-artifact-id").unwrap();
    let path = format!("/artifacts/ws_a/{artifact}/current/content");
    let empty = server.get(&path, &[]).await;
    assert_eq!((empty.status, empty.number("content-length")), (200, 0));
    let range = server.get(&path, &[("Range", "bytes=0-")]).await;
    assert_eq!(range.status, 416);
}

#[tokio::test]
async fn bytes_with_another_hash_are_dropped() {
    let server = server().await;
    let metadata = metadata("ws_a", "a.txt", "", &sha256_hex(b"these"));
    let created = server.create_as(&server.owner, &metadata, 5).await;
    let location = created.header("location").unwrap();
    let wrong = server.patch(location, 0, b"those").await;
    assert_eq!(wrong.status, 460, "{}", wrong.text());
    assert_eq!(wrong.header("accord-artifact-id"), None);
    assert_eq!(server.head(location).await.status, 404);
}

#[tokio::test]
async fn a_deleted_upload_is_gone() {
    let server = server().await;
    let location = server.create("a.txt", "", b"0123456789").await;
    assert_eq!(server.patch(&location, 0, b"0123").await.status, 204);
    let tus = [("Tus-Resumable", "1.0.0")];
    let line = format!("DELETE {location}");
    let other = server.send_as(Some(&server.other), &line, &tus, b"").await;
    assert_eq!(other.status, 404);
    assert_eq!(server.send(&line, &tus, b"").await.status, 204);
    assert_eq!(server.send(&line, &tus, b"").await.status, 404);
    assert_eq!(server.head(&location).await.status, 404);
    assert_eq!(server.patch(&location, 4, b"4").await.status, 404);
    // A client behind a proxy that blocks methods uses the method override.
    let location = server.create("b.txt", "", b"0123456789").await;
    let headers = [tus[0], ("X-HTTP-Method-Override", "DELETE")];
    let line = format!("POST {location}");
    assert_eq!(server.send(&line, &tus, b"").await.status, 405);
    assert_eq!(server.send(&line, &headers, b"").await.status, 204);
}

#[tokio::test]
async fn uploads_need_a_token_that_may_write_there_and_the_version() {
    let server = server().await;
    let options = server.send_as(None, "OPTIONS /uploads", &[], b"").await;
    assert_eq!(options.status, 204);
    for (name, value) in [
        ("tus-resumable", "1.0.0"),
        ("tus-version", "1.0.0"),
        ("tus-extension", "creation,termination,checksum,expiration"),
        ("tus-checksum-algorithm", "sha1,sha256"),
        ("tus-max-size", "52428800"),
    ] {
        assert_eq!(options.header(name), Some(value), "{name}");
    }
    let described = metadata("ws_a", "a.txt", "", &sha256_hex(b"a"));
    let create = async |token: Option<&str>, version: &str| {
        let headers = [
            ("Tus-Resumable", version),
            ("Upload-Length", "1"),
            ("Upload-Metadata", &described),
        ];
        let created = server.send_as(token, "POST /uploads", &headers, b"").await;
        assert_eq!(created.header("tus-resumable"), Some("1.0.0"));
        created.status
    };
    assert_eq!(create(None, "1.0.0").await, 401);
    assert_eq!(create(Some(&server.reader), "1.0.0").await, 403);
    assert_eq!(create(Some(&server.other), "1.0.0").await, 403);
    assert_eq!(create(Some(&server.owner), "0.2.2").await, 412);
    assert_eq!(create(Some(&server.owner), "1.0.0").await, 201);
    let location = server.create("a.txt", "", b"a").await;
    let head = server.send(&format!("HEAD {location}"), &[], b"").await;
    assert_eq!(head.status, 412);
    for path in ["/uploads/..%2f..%2ftoken", "/uploads/upl_none"] {
        assert_eq!(server.head(path).await.status, 404, "{path}");
    }
}
