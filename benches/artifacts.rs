//! Measures the throughput of artifact uploads and downloads of a real `ac serve`, and the limits of the machine.
//!
//! ```text
//! cargo bench -p cli --bench artifacts [-- --server target/release/ac]
//! ```
//!
//! All measurements alternate within one run, so that the ratios are fair on a machine with other load. Prints a table
//! and exits with code 1 if a target is missed. Requires Linux.
#![expect(
    clippy::print_stdout,
    reason = "the benchmark prints its table; stdout is not a JSON-RPC channel here"
)]

use std::{
    fs::File,
    io::{Read as _, Write as _},
    num::NonZeroU64,
    os::unix::fs::FileExt as _,
    path::Path,
    process::{Command, ExitCode},
    sync::mpsc,
    time::{Duration, Instant},
};

use axum::{Router, body::Body, extract::State, routing::put};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use testkit::ServeProcess;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::Semaphore,
};

const ROUNDS: usize = 11;
const SIZE: usize = 48 << 20;
const CHUNK: usize = 256 << 10;
/// Chunks sent but not acknowledged.
const UPLOAD_WINDOW: usize = 16;
/// Chunks requested but not received.
const DOWNLOAD_WINDOW: usize = 8;
/// Memory in bytes that a step needs in addition to its file.
const SPARE: usize = 16 << 20;
/// Bytes after which the bare socket starts write-back to the disk.
const WRITE_BACK: usize = 1 << 20;
const PARALLEL: usize = 16;
const PARALLEL_SIZE: usize = 16 << 20;
const WORKSPACE: &str = "ws_000000000000000000";

const MIN_OF_HASHING: f64 = 0.6;
const MIN_OF_PUT: f64 = 1.0;
const MAX_GROWTH_MEGABYTES: f64 = 64.0;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    runtime.block_on(run())
}

#[derive(Default)]
struct Times {
    hash: Vec<Duration>,
    upload: Vec<Duration>,
    checked_upload: Vec<Duration>,
    put: Vec<Duration>,
    bare: Vec<Duration>,
    /// Downloads of an upload without chunk hashes, before the gateway has computed them in the background.
    download_at_once: Vec<Duration>,
    /// Downloads of the same upload later.
    download: Vec<Duration>,
    /// Downloads of an upload with chunk hashes, which the clients of Accord send.
    checked_download: Vec<Duration>,
}

async fn run() -> ExitCode {
    let (_home, serving) = serve();
    let mut client = Client::connect(&serving).await;
    client.call("workspace/default", &json!({})).await;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let put_address = serve_put(folder.path()).await;

    let mut times = Times::default();
    for round in 0..=ROUNDS {
        let bytes = random_bytes(SIZE);
        let (hash, sha256) = timed(async { hex(&Sha256::digest(&bytes)) }).await;
        let warm_up = || tokio::task::block_in_place(|| touch_memory(folder.path()));
        warm_up();
        let put = plain_put(&put_address, &bytes).await;
        warm_up();
        let bare = tokio::task::block_in_place(|| bare_socket(folder.path(), &bytes, &sha256));
        warm_up();
        let (upload, artifact) = timed(client.upload(&bytes, &sha256, ChunkHashes::Without)).await;
        let download_at_once = client.download(&artifact, &bytes).await;
        // New random bytes, because the gateway stores identical bytes only once.
        let other_bytes = random_bytes(SIZE);
        let sha256 = hex(&Sha256::digest(&other_bytes));
        warm_up();
        let (checked_upload, checked_artifact) =
            timed(client.upload(&other_bytes, &sha256, ChunkHashes::With)).await;
        let checked_download = client.download(&checked_artifact, &other_bytes).await;
        let download = client.download(&artifact, &bytes).await;
        // The first round is the warm-up.
        if round > 0 {
            times.hash.push(hash);
            times.put.push(put);
            times.bare.push(bare);
            times.upload.push(upload);
            times.checked_upload.push(checked_upload);
            times.download_at_once.push(download_at_once);
            times.download.push(download);
            times.checked_download.push(checked_download);
        }
    }
    drop((client, serving));
    let growth = growth_of_parallel_uploads().await;
    report(times, growth)
}

fn report(times: Times, growth: f64) -> ExitCode {
    let [
        hash,
        put,
        bare,
        upload,
        checked,
        download_at_once,
        download,
        checked_download,
    ] = [
        times.hash,
        times.put,
        times.bare,
        times.upload,
        times.checked_upload,
        times.download_at_once,
        times.download,
        times.checked_download,
    ]
    .map(median);
    let row = |name: &str, speed: f64, note: String| println!("{name:<42}{speed:>7.0} MiB/s{note}");
    println!("{} MiB, {ROUNDS} rounds, medians", SIZE >> 20);
    row("SHA-256 in memory", hash, String::new());
    row("HTTP PUT, hashed, fsynced, renamed", put, String::new());
    row(
        "bare socket, hashed in parallel, fsynced",
        bare,
        format!("  {:.2} of hashing", bare / hash),
    );
    row(
        "upload over WebSocket",
        upload,
        format!(
            "  {:.2} of hashing, {:.2} of PUT",
            upload / hash,
            upload / put
        ),
    );
    row("upload with chunk hashes", checked, String::new());
    row(
        "download of it, every chunk verified",
        checked_download,
        format!("  {:.2} of hashing", checked_download / hash),
    );
    row(
        "immediate download, uploaded without them",
        download_at_once,
        format!("  {:.2} of hashing", download_at_once / hash),
    );
    row(
        "later download of the same",
        download,
        format!("  {:.2} of hashing", download / hash),
    );
    println!(
        "{:<42}{growth:>7.1} MB",
        "growth by 16 concurrent uploads of 16 MiB"
    );
    let targets = [
        (
            "upload is at least 0.6 of hashing",
            upload / hash >= MIN_OF_HASHING,
        ),
        ("upload is as fast as PUT", upload / put >= MIN_OF_PUT),
        (
            "download is at least 0.6 of hashing",
            checked_download / hash >= MIN_OF_HASHING,
        ),
        (
            "later download of an upload without chunk hashes is at least 0.6 of hashing",
            download / hash >= MIN_OF_HASHING,
        ),
        (
            "concurrent uploads need less than 64 MB",
            growth < MAX_GROWTH_MEGABYTES,
        ),
    ];
    let mut code = ExitCode::SUCCESS;
    for (target, _) in targets.iter().filter(|(_, is_met)| !is_met) {
        println!("missed: {target}");
        code = ExitCode::FAILURE;
    }
    code
}

/// Returns the median throughput in MiB per second.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    (SIZE >> 20) as f64 / times[times.len() / 2].as_secs_f64()
}

async fn timed<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let started = Instant::now();
    let done = work.await;
    (started.elapsed(), done)
}

fn serve() -> (TempDir, ServeProcess) {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let mut arguments = std::env::args().skip_while(|argument| argument != "--server");
    let server = arguments.nth(1);
    let server = server.unwrap_or_else(|| env!("CARGO_BIN_EXE_ac").to_owned());
    let serving = ServeProcess::start(Command::new(server), home.path());
    (home, serving)
}

/// Touches as much memory as the next step fills with its file, and releases it.
///
/// A virtual machine may return unused memory to its host, and then pays for every page that it acquires again. Without
/// this warm-up, the first step would pay for the others, and the benchmark would measure the host.
fn touch_memory(folder: &Path) {
    let path = folder.join("touched");
    let mut file = File::create(&path).expect("the disk has room");
    let piece = vec![1; CHUNK];
    for _ in 0..(SIZE + SPARE) / CHUNK {
        file.write_all(&piece).expect("the disk has room");
    }
    std::fs::remove_file(path).expect("it was made");
}

/// Returns by how many megabytes the peak memory of a fresh gateway exceeds its idle memory.
async fn growth_of_parallel_uploads() -> f64 {
    let (_home, serving) = serve();
    let mut client = Client::connect(&serving).await;
    client.call("workspace/default", &json!({})).await;
    let before = memory(&serving, "VmRSS:");
    let uploads = (0..PARALLEL).map(|_| {
        let connecting = Client::connect(&serving);
        async {
            let mut client = connecting.await;
            let bytes = random_bytes(PARALLEL_SIZE);
            let sha256 = hex(&Sha256::digest(&bytes));
            client.upload(&bytes, &sha256, ChunkHashes::Without).await;
        }
    });
    futures_util::future::join_all(uploads).await;
    // The kernel records the high-water mark, so no sampling is needed.
    memory(&serving, "VmHWM:") - before
}

/// Returns a value of `/proc/<pid>/status` in megabytes.
fn memory(serving: &ServeProcess, line: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", serving.ready["pid"]));
    let status = status.expect("the process runs");
    let found = status.lines().find_map(|text| text.strip_prefix(line));
    let kibibytes = found.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    kibibytes.expect("the status has this line") * 1024.0 / 1e6
}

/// Returns new random bytes, which are neither stored already nor compressible.
fn random_bytes(length: usize) -> Vec<u8> {
    let mut state = getrandom::u64().expect("the system has randomness");
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)).to_le_bytes()
    };
    let mut bytes = vec![0; length];
    for piece in bytes.chunks_exact_mut(8) {
        piece.copy_from_slice(&next());
    }
    bytes
}

fn hex(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a chunk carries its own hash.
#[derive(Clone, Copy)]
enum ChunkHashes {
    With,
    Without,
}

/// A client with minimal overhead, so that the gateway is measured: it writes chunks without copying them, with a mask
/// of zeros that the gateway processes like any other, and reads into memory that it does not initialize.
struct Client {
    writer: OwnedWriteHalf,
    reader: Reader,
    last_id: u64,
}

struct Reader {
    stream: BufReader<OwnedReadHalf>,
    /// Buffers of verified chunks for reuse, so that the kernel does not have to clear new memory.
    spare: (mpsc::Sender<Vec<u8>>, mpsc::Receiver<Vec<u8>>),
}

/// A message of the gateway, which always sends a message in one frame.
enum Message {
    Text(String),
    Binary(Vec<u8>),
    /// A control frame, for example a ping.
    Other,
}

impl Client {
    async fn connect(serving: &ServeProcess) -> Self {
        let stream = TcpStream::connect(serving.address()).await;
        let mut stream = stream.expect("it listens");
        stream.set_nodelay(true).expect("the socket is open");
        let request = format!(
            "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
             Authorization: Bearer {}\r\n\r\n",
            serving.token()
        );
        let written = stream.write_all(request.as_bytes()).await;
        written.expect("the gateway reads");
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.expect("the gateway answers"));
        }
        assert!(answer.starts_with(b"HTTP/1.1 101"), "the token is valid");
        let (reader, writer) = stream.into_split();
        Self {
            writer,
            reader: Reader {
                stream: BufReader::new(reader),
                spare: mpsc::channel(),
            },
            last_id: 0,
        }
    }

    /// Calls a method and returns its result; skips notifications.
    async fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = send_request(&mut self.writer, &mut self.last_id, method, params).await;
        loop {
            if let Some(result) = result_of(&id, self.reader.next().await) {
                return result;
            }
        }
    }

    /// Uploads a file, from `start` to the response of `finish`. Returns the id of the artifact.
    async fn upload(&mut self, bytes: &[u8], sha256: &str, hashes: ChunkHashes) -> String {
        let params = json!({
            "workspace_id": WORKSPACE, "client_attachment_id": "bench", "file_name": "bench.bin",
            "size_bytes": bytes.len(), "sha256": sha256, "source_kind": "api",
        });
        let started = self.call("artifact/upload/start", &params).await;
        let upload_id = started["upload_id"].as_str().expect("an upload has an id");
        let window = Semaphore::new(UPLOAD_WINDOW);
        let finish_id = json!(self.last_id + 1);
        let sending = async {
            for (number, chunk) in bytes.chunks(CHUNK).enumerate() {
                let mut header = json!({
                    "workspace_id": WORKSPACE, "upload_id": upload_id, "offset": number * CHUNK,
                    "len": chunk.len(),
                });
                if let ChunkHashes::With = hashes {
                    header["chunk_sha256"] = hex(&Sha256::digest(chunk)).into();
                }
                let header = header.to_string();
                let mut start = b"ARTU".to_vec();
                start.extend((header.len() as u32).to_be_bytes());
                start.extend(header.as_bytes());
                window.acquire().await.expect("it stays open").forget();
                send_frame(&mut self.writer, 2, &start, chunk).await;
            }
            let params = json!({"workspace_id": WORKSPACE, "upload_id": upload_id});
            let method = "artifact/upload/finish";
            send_request(&mut self.writer, &mut self.last_id, method, &params).await;
        };
        let receiving = async {
            loop {
                let message = self.reader.next().await;
                if let Message::Text(text) = &message
                    && text.contains("chunk_ack")
                {
                    window.add_permits(1);
                } else if let Some(mut finished) = result_of(&finish_id, message) {
                    return finished["artifact"]["artifact_id"].take();
                }
            }
        };
        let ((), artifact) = tokio::join!(sending, receiving);
        artifact.as_str().expect("an artifact has an id").to_owned()
    }

    /// Returns the time from `start` to the response of `finish`. Another thread hashes every chunk as it arrives.
    async fn download(&mut self, artifact_id: &str, expected: &[u8]) -> Duration {
        let (verified, mut to_verify) = tokio::sync::mpsc::channel::<(String, Vec<u8>, usize)>(8);
        let spare = self.reader.spare.0.clone();
        let verifying = tokio::task::spawn_blocking(move || {
            while let Some((sha256, bytes, start)) = to_verify.blocking_recv() {
                assert_eq!(hex(&Sha256::digest(&bytes[start..])), sha256);
                let _ = spare.send(bytes);
            }
        });
        let clock = Instant::now();
        let params = json!({"workspace_id": WORKSPACE, "artifact_id": artifact_id});
        let started = self.call("artifact/download/start", &params).await;
        let download_id = &started["download_id"];
        let mut offsets = (0..expected.len()).step_by(CHUNK);
        let mut waiting = 0;
        loop {
            while waiting < DOWNLOAD_WINDOW
                && let Some(offset) = offsets.next()
            {
                let params = json!({
                    "workspace_id": WORKSPACE, "download_id": download_id, "offset": offset,
                    "len": CHUNK.min(expected.len() - offset),
                });
                let method = "artifact/download/chunk";
                send_request(&mut self.writer, &mut self.last_id, method, &params).await;
                waiting += 1;
            }
            if waiting == 0 {
                break;
            }
            if let Message::Binary(frame) = self.reader.next().await {
                let length = frame[4..8].try_into().expect("there are four bytes");
                let start = 8 + u32::from_be_bytes(length) as usize;
                let header: Value = serde_json::from_slice(&frame[8..start]).expect("it is JSON");
                let sha256 = header["chunk_sha256"].as_str().expect("it has a hash");
                let chunk = (sha256.to_owned(), frame, start);
                verified.send(chunk).await.expect("the hashes are right");
                waiting -= 1;
            }
        }
        drop(verified);
        verifying.await.expect("the hashes are right");
        let params = json!({"workspace_id": WORKSPACE, "download_id": download_id});
        self.call("artifact/download/finish", &params).await;
        clock.elapsed()
    }
}

impl Reader {
    async fn next(&mut self) -> Message {
        let (gone, stream) = ("the connection stays open", &mut self.stream);
        let opcode = stream.read_u8().await.expect(gone) & 15;
        let length = match stream.read_u8().await.expect(gone) {
            126 => u64::from(stream.read_u16().await.expect(gone)),
            127 => stream.read_u64().await.expect(gone),
            length => u64::from(length),
        };
        let mut payload = match opcode {
            2 => self.spare.1.try_recv().unwrap_or_default(),
            _ => Vec::new(),
        };
        // `read_buf` reads into uninitialized memory, so the buffer need not be zeroed.
        payload.clear();
        payload.reserve(length as usize);
        let mut rest = stream.take(length);
        while payload.len() < length as usize {
            let read = rest.read_buf(&mut payload).await.expect(gone);
            assert!(read > 0, "{gone}");
        }
        match opcode {
            1 => Message::Text(String::from_utf8(payload).expect("texts are text")),
            2 => Message::Binary(payload),
            _ => Message::Other,
        }
    }
}

/// Returns the result of the request with this id; `None` if the message is another one.
fn result_of(id: &Value, message: Message) -> Option<Value> {
    let Message::Text(text) = message else {
        return None;
    };
    let mut message: Value = serde_json::from_str(&text).expect("texts are JSON");
    assert!(!text.contains("chunk_rejected"), "{text}");
    (message["id"] == *id).then(|| {
        assert_eq!(message.get("error"), None);
        message["result"].take()
    })
}

async fn send_request(
    writer: &mut OwnedWriteHalf,
    last_id: &mut u64,
    method: &str,
    params: &Value,
) -> Value {
    *last_id += 1;
    let request = json!({"jsonrpc": "2.0", "id": *last_id, "method": method, "params": params});
    send_frame(writer, 1, request.to_string().as_bytes(), &[]).await;
    json!(*last_id)
}

/// Sends a WebSocket message in one frame, with a mask of zeros.
async fn send_frame(writer: &mut OwnedWriteHalf, opcode: u8, start: &[u8], rest: &[u8]) {
    let mut head = vec![0x80 | opcode, 0x80 | 127];
    head.extend(((start.len() + rest.len()) as u64).to_be_bytes());
    head.extend([0; 4]);
    head.extend(start);
    for part in [&head, rest] {
        let written = writer.write_all(part).await;
        written.expect("the gateway reads");
    }
}

/// Serves the simplest way to store a file over HTTP: hash while receiving, write, sync, rename, sync the folder.
async fn serve_put(folder: &Path) -> String {
    let app = Router::new()
        .route("/", put(store))
        .with_state(folder.to_owned());
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("there are free ports");
    let address = listener.local_addr().expect("it is bound").to_string();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

async fn store(State(folder): State<std::path::PathBuf>, body: Body) -> String {
    let (chunks, mut received) = tokio::sync::mpsc::channel::<axum::body::Bytes>(16);
    let storing = tokio::task::spawn_blocking(move || {
        let temporary = folder.join("temporary");
        let mut file = File::create(&temporary)?;
        let mut hasher = Sha256::new();
        while let Some(chunk) = received.blocking_recv() {
            hasher.update(&chunk);
            std::io::Write::write_all(&mut file, &chunk)?;
        }
        file.sync_all()?;
        let sha256 = hex(&hasher.finalize());
        std::fs::rename(temporary, folder.join(&sha256))?;
        File::open(folder)?.sync_all()?;
        Ok::<_, std::io::Error>(sha256)
    });
    let mut body = body.into_data_stream();
    while let Some(Ok(chunk)) = body.next().await {
        let sent = chunks.send(chunk).await;
        sent.expect("the disk has room");
    }
    drop(chunks);
    let stored = storing.await.expect("nothing panics");
    stored.expect("the disk has room")
}

async fn plain_put(address: &str, bytes: &[u8]) -> Duration {
    let started = Instant::now();
    let stream = TcpStream::connect(address).await;
    let mut stream = stream.expect("it listens");
    let length = bytes.len();
    let head = format!(
        "PUT / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    for part in [head.as_bytes(), bytes] {
        let written = stream.write_all(part).await;
        written.expect("the handler reads");
    }
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer).await;
    read.expect("the handler answers");
    let elapsed = started.elapsed();
    assert!(answer.ends_with(&hex(&Sha256::digest(bytes))), "{answer}");
    elapsed
}

/// Does the same work without any protocol: one thread receives the bytes from a socket and writes them, another hashes
/// them, and the file is synced. As in the gateway, buffers are reused and write-back starts early.
fn bare_socket(folder: &Path, bytes: &[u8], sha256: &str) -> Duration {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there are free ports");
    let address = listener.local_addr().expect("it is bound");
    let path = folder.join("bare");
    let started = Instant::now();
    std::thread::scope(|threads| {
        let receiving = threads.spawn(|| {
            let (mut stream, _) = listener.accept().expect("a client");
            let file = File::create(&path).expect("the disk has room");
            let (received, to_hash) = mpsc::sync_channel::<Vec<u8>>(UPLOAD_WINDOW);
            let (hashed, spare) = mpsc::channel();
            let hashing = std::thread::spawn(move || {
                let mut hasher = Sha256::new();
                for chunk in to_hash {
                    hasher.update(&chunk);
                    let _ = hashed.send(chunk);
                }
                hex(&hasher.finalize())
            });
            for offset in (0..bytes.len()).step_by(CHUNK) {
                let mut chunk = spare.try_recv().unwrap_or_else(|_| vec![0; CHUNK]);
                stream.read_exact(&mut chunk).expect("the client sends");
                let written = file.write_all_at(&chunk, offset as u64);
                written.expect("the disk has room");
                received.send(chunk).expect("the hash is computed");
                let end = offset + CHUNK;
                if end.is_multiple_of(WRITE_BACK) {
                    let (start, length) = (end - WRITE_BACK, NonZeroU64::new(WRITE_BACK as u64));
                    let advice = rustix::fs::Advice::DontNeed;
                    let _ = rustix::fs::fadvise(&file, start as u64, length, advice);
                }
            }
            drop(received);
            file.sync_all().expect("the disk has room");
            hashing.join().expect("nothing panics")
        });
        let mut stream = std::net::TcpStream::connect(address).expect("it listens");
        stream.write_all(bytes).expect("the thread reads");
        assert_eq!(receiving.join().expect("nothing panics"), sha256);
    });
    let elapsed = started.elapsed();
    std::fs::remove_file(path).expect("it was made");
    elapsed
}
