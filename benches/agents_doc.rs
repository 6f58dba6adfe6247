//! Measures reads and saves of AGENTS.md documents over WebSocket against the disk and the server stack alone.
//!
//! `cargo bench -p cli --bench agents_doc` prints a table and exits with code 1 if a target is missed. The measurements
//! alternate in slices of one second over several rounds, and medians are compared: on a machine with other load only
//! ratios are meaningful. The gateway and the echo server are separate processes.

#![expect(
    clippy::print_stdout,
    reason = "the benchmark prints its table; stdout is not a JSON-RPC channel here"
)]

use std::{
    io::{BufRead as _, BufReader},
    num::NonZero,
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use futures_util::{SinkExt as _, StreamExt as _, future::join_all};
use rpc::{Outbox, Request, Service, websocket};
use serde_json::{Value, json};
use testkit::ServeProcess;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, Utf8Bytes, client::IntoClientRequest as _, http::HeaderValue},
};

/// The allocator of `ac`, so that the echo server allocates like the gateway.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 5;
const SLICE: Duration = Duration::from_secs(1);
/// Clients that save concurrently.
const WRITERS: usize = 64;
/// Concurrent saves of one client, each of a separate document.
const UNDER_WAY: usize = 4;
/// Clients that read concurrently.
const READERS: usize = 16;
/// Prefix of the frames that the echo server answers only after a commit.
const COMMIT: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":"commit"#;
/// Argument that starts this program as the echo server; the folder of its database follows.
const ECHO: &str = "--echo-server";

fn main() -> ExitCode {
    if let Some(home) = std::env::args()
        .skip_while(|argument| argument != ECHO)
        .nth(1)
    {
        // The same configuration as the runtime of `ac`.
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(processors.div_ceil(2))
            .enable_all()
            .build();
        let serving = echo_server(Path::new(&home));
        runtime.expect("a runtime").block_on(serving);
        return ExitCode::SUCCESS;
    }
    // A single thread for all clients leaves the other processors to the servers.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(measure())
}

async fn measure() -> ExitCode {
    let [home, raw_home, echo_home] =
        std::array::from_fn(|_| tempfile::tempdir().expect("a temporary directory"));
    let server = ServeProcess::start(Command::new(env!("CARGO_BIN_EXE_ac")), home.path());
    let echo = EchoProcess::start(echo_home.path());

    let mut raw = RawWriter::open(raw_home.path());
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        // In a shared workspace every save would notify all writers, which would dominate the measurement.
        writers.push(Writer::open(&server, &format!("ws_{number}")).await);
    }
    let mut editor = Editor::open(&server, "ws_editor").await;
    let (get, resolve) = requests_to_read(&server).await;
    let mut readers = Vec::new();
    let mut echoes = Vec::new();
    for _ in 0..READERS {
        readers.push(Connection::open(server.url(), &server.token()).await);
        echoes.push(Connection::open(&echo.url, "").await);
    }
    let frame = readers[0].ask(Message::Text(get.clone())).await;

    let commit = std::str::from_utf8(COMMIT).expect("a text");
    let commit = format!("{commit}{}\"}}", content(0)).into();

    let mut samples: [Vec<Sample>; 11] = Default::default();
    for _ in 0..ROUNDS {
        let ask = |text: &Utf8Bytes| {
            let message = Message::Text(text.clone());
            async move |connection: &mut Connection| drop(connection.ask(message.clone()).await)
        };
        let echo = |text: &Utf8Bytes| {
            let message = Message::Binary(text.clone().into());
            async move |connection: &mut Connection| drop(connection.ask(message.clone()).await)
        };
        let round = [
            raw.slice(),
            slice(&mut echoes[..1], echo(&commit)).await,
            slice(&mut writers[..1], Writer::save).await,
            editor.slice().await,
            slice(&mut writers, Writer::save).await,
            slice(&mut echoes[..1], echo(&frame)).await,
            slice(&mut readers[..1], ask(&get)).await,
            slice(&mut readers[..1], ask(&resolve)).await,
            slice(&mut echoes, echo(&frame)).await,
            slice(&mut readers, ask(&get)).await,
            slice(&mut readers, ask(&resolve)).await,
        ];
        for (samples, sample) in samples.iter_mut().zip(round) {
            samples.push(sample);
        }
    }
    report(samples.map(|samples| Sample::median(&samples)), frame.len())
}

/// Prints the table. Returns a failure if a target is missed.
fn report(samples: [Sample; 11], frame: usize) -> ExitCode {
    let [
        raw,
        behind_echo,
        save,
        edit,
        save_64,
        echo,
        get,
        resolve,
        echo_16,
        get_16,
        resolve_16,
    ] = samples;
    let mut table = Table::default();
    println!("                                        per second    p50 in µs    ratio   target");
    table.base("durable commit, rusqlite alone", &raw);
    table.share(
        "  behind the WebSocket echo, 1 client",
        &behind_echo,
        raw.rate,
    );
    table.at_least("agents_doc/save, 1 client", &save, raw.rate, 0.6);
    table.at_least(
        &format!("  1 client, {UNDER_WAY} saves at a time"),
        &edit,
        raw.rate,
        0.6,
    );
    table.at_least("  64 clients, a workspace each", &save_64, raw.rate, 2.5);
    println!("latency, one client, frames of {frame} bytes");
    table.base("WebSocket echo", &echo);
    table.at_most("agents_doc/get", &get, echo.p50, 1.5);
    table.at_most("agents_doc/resolve_for_thread", &resolve, echo.p50, 1.5);
    println!("rate, {READERS} clients");
    table.base("WebSocket echo", &echo_16);
    table.at_least("agents_doc/get", &get_16, echo_16.rate, 0.6);
    table.at_least(
        "agents_doc/resolve_for_thread",
        &resolve_16,
        echo_16.rate,
        0.6,
    );
    match table.missed {
        0 => ExitCode::SUCCESS,
        missed => {
            println!("{missed} targets missed");
            ExitCode::FAILURE
        }
    }
}

#[derive(Default)]
struct Table {
    missed: usize,
}

impl Table {
    fn base(&mut self, name: &str, sample: &Sample) {
        self.row(name, sample, "");
    }

    /// Prints a row with its ratio to `base`, without a target.
    fn share(&mut self, name: &str, sample: &Sample, base: f64) {
        self.row(name, sample, &format!("{:8.2}", sample.rate / base));
    }

    fn at_least(&mut self, name: &str, sample: &Sample, base: f64, target: f64) {
        let ratio = sample.rate / base;
        let verdict = self.verdict(ratio >= target);
        self.row(name, sample, &format!("{ratio:8.2}  ≥ {target}{verdict}"));
    }

    fn at_most(&mut self, name: &str, sample: &Sample, base: f64, target: f64) {
        let ratio = sample.p50 / base;
        let verdict = self.verdict(ratio <= target);
        self.row(name, sample, &format!("{ratio:8.2}  ≤ {target}{verdict}"));
    }

    fn verdict(&mut self, is_met: bool) -> &'static str {
        self.missed += usize::from(!is_met);
        if is_met { "" } else { "  missed" }
    }

    fn row(&self, name: &str, Sample { rate, p50 }: &Sample, verdict: &str) {
        println!("{name:38} {rate:10.0}   {p50:10.1} {verdict}");
    }
}

/// The result of one slice.
#[derive(Clone, Copy)]
struct Sample {
    /// Calls per second.
    rate: f64,
    /// The median latency in microseconds.
    p50: f64,
}

impl Sample {
    fn of(mut latencies: Vec<Duration>, elapsed: Duration) -> Self {
        latencies.sort_unstable();
        Self {
            rate: latencies.len() as f64 / elapsed.as_secs_f64(),
            p50: latencies[latencies.len() / 2].as_secs_f64() * 1e6,
        }
    }

    fn median(samples: &[Self]) -> Self {
        let median = |number: fn(&Self) -> f64| {
            let mut numbers: Vec<_> = samples.iter().map(number).collect();
            numbers.sort_unstable_by(f64::total_cmp);
            numbers[numbers.len() / 2]
        };
        Self {
            rate: median(|sample| sample.rate),
            p50: median(|sample| sample.p50),
        }
    }
}

/// Lets all clients call repeatedly for one slice; each waits for its response before the next call.
async fn slice<C>(clients: &mut [C], call: impl AsyncFn(&mut C)) -> Sample {
    let started = Instant::now();
    let work = clients.iter_mut().map(async |client| {
        let mut latencies = Vec::new();
        while started.elapsed() < SLICE {
            let asked = Instant::now();
            call(client).await;
            latencies.push(asked.elapsed());
        }
        latencies
    });
    let latencies = join_all(work).await.concat();
    Sample::of(latencies, started.elapsed())
}

/// Returns a text of about 1 KiB that differs for every version.
fn content(version: i64) -> String {
    let rule = "Prefer small commits, and say why in the body of each. ";
    format!("Rules, version {version}. {}", rule.repeat(18))
}

/// A client that parses no JSON, so that it does not dominate the measurement.
struct Connection {
    socket: WebSocketStream<TcpStream>,
}

impl Connection {
    async fn open(url: &str, token: &str) -> Self {
        let mut request = url.into_client_request().expect("a URL");
        let bearer = HeaderValue::try_from(format!("Bearer {token}")).expect("a token");
        request.headers_mut().insert("authorization", bearer);
        let address = url.trim_start_matches("ws://").trim_end_matches('/');
        let stream = TcpStream::connect(address)
            .await
            .expect("the server listens");
        stream.set_nodelay(true).expect("TCP_NODELAY can be set");
        let (socket, _) = tokio_tungstenite::client_async(request, stream)
            .await
            .expect("the server takes WebSocket clients");
        Self { socket }
    }

    /// Opens a connection and creates a workspace.
    async fn open_in(server: &ServeProcess, workspace: &str) -> Self {
        let mut connection = Self::open(server.url(), &server.token()).await;
        let params = json!({"workspace_id": workspace});
        connection.call("workspace/create", params).await;
        connection
    }

    /// Sends a request and waits for its result.
    async fn ask(&mut self, request: Message) -> Utf8Bytes {
        self.send(request).await;
        self.result().await.1
    }

    async fn send(&mut self, request: Message) {
        let sent = self.socket.send(request).await;
        sent.expect("the connection stands");
    }

    /// Returns the next result with the id of its request; skips notifications.
    async fn result(&mut self) -> (usize, Utf8Bytes) {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    if let Some(rest) = text.strip_prefix(r#"{"jsonrpc":"2.0","id":"#) {
                        let (id, rest) = rest.split_once(',').expect("an answer");
                        assert!(rest.starts_with(r#""result""#), "{text}");
                        return (id.parse().expect("a number"), text);
                    }
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("the connection ended: {other:?}"),
            }
        }
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        let request = Message::Text(request(1, method, &params.to_string()));
        let answer = self.ask(request).await;
        let mut answer: Value = serde_json::from_str(&answer).expect("JSON");
        answer["result"].take()
    }
}

fn request(id: usize, method: &str, params: &str) -> Utf8Bytes {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#).into()
}

/// Creates a folder and returns its id.
async fn folder(connection: &mut Connection, workspace: &str, parent: Option<&str>) -> String {
    let params = json!({"workspace_id": workspace, "parent_folder_id": parent, "name": "folder"});
    let made = connection.call("thread/folder/create", params).await;
    made["folder"]["id"].as_str().expect("an id").to_owned()
}

/// A document that is saved repeatedly.
struct Document {
    workspace: String,
    folder: String,
    version: i64,
}

impl Document {
    async fn new(connection: &mut Connection, workspace: &str) -> Self {
        Self {
            folder: folder(connection, workspace, None).await,
            workspace: workspace.to_owned(),
            version: 0,
        }
    }

    /// Returns the request that saves the next version.
    fn next_save(&mut self, id: usize) -> Message {
        let Self {
            workspace,
            folder,
            version,
        } = self;
        let params = format!(
            r#"{{"workspace_id":"{workspace}","folder_id":"{folder}","expected_version":{version},"content":"{}"}}"#,
            content(*version)
        );
        *version += 1;
        Message::Text(request(id, "thread/agents_doc/save", &params))
    }
}

/// A client that saves one document.
struct Writer {
    connection: Connection,
    document: Document,
}

impl Writer {
    async fn open(server: &ServeProcess, workspace: &str) -> Self {
        let mut connection = Connection::open_in(server, workspace).await;
        Self {
            document: Document::new(&mut connection, workspace).await,
            connection,
        }
    }

    async fn save(&mut self) {
        let request = self.document.next_save(1);
        self.connection.ask(request).await;
    }
}

/// A client that saves several documents concurrently, each again as soon as the previous save is answered.
struct Editor {
    connection: Connection,
    documents: Vec<Document>,
}

impl Editor {
    async fn open(server: &ServeProcess, workspace: &str) -> Self {
        let mut connection = Connection::open_in(server, workspace).await;
        let mut documents = Vec::new();
        for _ in 0..UNDER_WAY {
            documents.push(Document::new(&mut connection, workspace).await);
        }
        Self {
            connection,
            documents,
        }
    }

    async fn slice(&mut self) -> Sample {
        let started = Instant::now();
        let mut asked = [started; UNDER_WAY];
        for (id, document) in self.documents.iter_mut().enumerate() {
            self.connection.send(document.next_save(id)).await;
        }
        let (mut latencies, mut under_way) = (Vec::new(), UNDER_WAY);
        while under_way > 0 {
            let (id, _) = self.connection.result().await;
            latencies.push(asked[id].elapsed());
            if started.elapsed() < SLICE {
                asked[id] = Instant::now();
                let request = self.documents[id].next_save(id);
                self.connection.send(request).await;
            } else {
                under_way -= 1;
            }
        }
        Sample::of(latencies, started.elapsed())
    }
}

/// Creates a small document two folders deep and a thread beside it. Returns a read request for each.
async fn requests_to_read(server: &ServeProcess) -> (Utf8Bytes, Utf8Bytes) {
    let workspace = "ws_read";
    let mut connection = Connection::open_in(server, workspace).await;
    let outer = folder(&mut connection, workspace, None).await;
    let inner = folder(&mut connection, workspace, Some(&outer)).await;
    let scope = json!({"workspace_id": workspace, "folder_id": inner});
    let thread = json!({"workspace_id": workspace, "thread_id": "thr_read"});
    let merged = |with: Value| {
        let mut params = scope.clone();
        params
            .as_object_mut()
            .expect("an object")
            .extend(with.as_object().expect("an object").clone());
        params
    };
    let save = merged(json!({"content": "Answer in one sentence.\n"}));
    connection.call("thread/agents_doc/save", save).await;
    connection.call("thread/start", thread.clone()).await;
    let place = merged(json!({"thread_id": "thr_read"}));
    connection.call("thread/move", place).await;
    (
        request(1, "thread/agents_doc/get", &scope.to_string()),
        request(
            1,
            "thread/agents_doc/resolve_for_thread",
            &thread.to_string(),
        ),
    )
}

/// SQLite alone: writes the rows of a save in one durable transaction, with the automatic checkpoints of SQLite.
struct RawWriter {
    db: rusqlite::Connection,
    version: i64,
}

impl RawWriter {
    fn open(home: &Path) -> Self {
        // Creates the tables and indices of the gateway.
        let options = crud::Options::new(0, |_| ());
        let store = crud::CrudStore::open(home, &options).expect("a database");
        store.close();
        let db = rusqlite::Connection::open(home.join("gateway.db")).expect("a database");
        db.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
             PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY; \
             INSERT INTO workspace (id, name, is_active, is_current, tree_version, reserved_seq, created_at, updated_at) \
               VALUES ('ws_raw', 'Raw', 1, 1, 0, 0, 0, 0); \
             INSERT INTO thread_folder (id, workspace_id, name, created_at, updated_at) \
               VALUES ('fld_raw', 'ws_raw', 'folder', 0, 0); \
             INSERT INTO thread_agents_doc (id, workspace_id, folder_id, status, title, content, content_sha256, \
                 char_count, version, created_at, updated_at) \
               VALUES ('agd_raw', 'ws_raw', 'fld_raw', 'active', 'AGENTS.md', '', '', 0, 0, 0, 0);",
        )
        .expect("the tables of the gateway");
        Self { db, version: 0 }
    }

    fn slice(&mut self) -> Sample {
        let started = Instant::now();
        let mut latencies = Vec::new();
        while started.elapsed() < SLICE {
            let asked = Instant::now();
            self.save().expect("the rows of a save");
            latencies.push(asked.elapsed());
        }
        Sample::of(latencies, started.elapsed())
    }

    fn save(&mut self) -> rusqlite::Result<()> {
        self.version += 1;
        let (db, version, content) = (&self.db, self.version, content(self.version));
        let (sha256, length) = (format!("{version:064x}"), content.len());
        let revision_id = format!("agr_{version:018}");
        db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        db.prepare_cached(
            "UPDATE thread_agents_doc SET content = ?1, content_sha256 = ?2, char_count = ?3, version = ?4, \
             updated_at = ?4, updated_by = 'owner' WHERE id = 'agd_raw'",
        )?
        .execute((&content, &sha256, length, version))?;
        db.prepare_cached(
            "INSERT INTO thread_agents_doc_revision \
             (id, doc_id, version, content_sha256, content, char_count, saved_at, saved_by, save_reason) \
             VALUES (?1, 'agd_raw', ?2, ?3, ?4, ?5, ?2, 'owner', 'autosave')",
        )?
        .execute((
            revision_id,
            version,
            &sha256,
            &content,
            length,
        ))?;
        db.prepare_cached(
            "UPDATE workspace SET tree_version = tree_version + 1 WHERE id = 'ws_raw'",
        )?
        .execute([])?;
        db.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

/// A child process that runs this program as the echo server. It is killed on drop.
struct EchoProcess {
    child: Child,
    url: String,
}

impl EchoProcess {
    fn start(home: &Path) -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut child = Command::new(program)
            .arg(ECHO)
            .arg(home)
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("it was piped"))
            .read_line(&mut url)
            .expect("the echo server prints its URL");
        Self {
            child,
            url: url.trim_end().to_owned(),
        }
    }
}

impl Drop for EchoProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server stack of the gateway without methods: returns the content of a binary frame as a text frame.
struct Echo {
    outbox: Arc<Outbox>,
    /// Requests a commit before the response to a frame with the prefix `COMMIT`; a blocking thread executes it.
    commits: mpsc::SyncSender<oneshot::Sender<()>>,
}

impl Service for Echo {
    fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    async fn serve(self: Arc<Self>, _: Request) {}

    async fn binary(&self, frame: rpc::Bytes) {
        if frame.starts_with(COMMIT) {
            let (done, committed) = oneshot::channel();
            self.commits.send(done).expect("the thread waits");
            committed.await.expect("a commit");
        }
        let text = rpc::Text::try_from(frame).expect("the client sends texts");
        self.outbox.respond(text).await;
    }
}

async fn echo_server(home: &Path) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    println!("ws://{address}/");
    let mut raw = RawWriter::open(home);
    let (commits, asked) = mpsc::sync_channel::<oneshot::Sender<()>>(1);
    std::thread::spawn(move || {
        for done in asked {
            raw.save().expect("the rows of a save");
            let _ = done.send(());
        }
    });
    loop {
        let (stream, _) = listener.accept().await.expect("a client");
        tokio::spawn(echo(stream, commits.clone()));
    }
}

async fn echo(mut stream: TcpStream, commits: mpsc::SyncSender<oneshot::Sender<()>>) {
    stream.set_nodelay(true).expect("TCP_NODELAY can be set");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let read = stream.read_buf(&mut head).await.expect("a handshake");
        assert!(read > 0, "the client is gone");
    }
    let head = String::from_utf8(head).expect("a handshake");
    let key = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_key = name.eq_ignore_ascii_case("sec-websocket-key");
        is_key.then(|| websocket::accept_key(value.trim().as_bytes()))
    });
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        key.expect("a key")
    );
    let written = stream.write_all(answer.as_bytes()).await;
    written.expect("the client waits for it");
    let outbox = Arc::default();
    websocket::run(stream.into_split(), &[], Arc::new(Echo { outbox, commits })).await;
}
