//! `ac serve`: one port for HTTP and WebSocket, from the lock of the home to the last goodbye.

use std::{
    convert::Infallible,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
};
use hyper::{
    Request,
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use rpc::Closing;
use serde_json::json;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::watch,
};
use tower_service::Service as _;

use crate::{
    Error, Gateway, GatewayOptions, Home,
    connections::{Answering, Connections},
    home::replace_file,
    http::{self, Allowed, Guest},
};

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;
/// All header lines of a request together.
const MAX_HEADER_BYTES: usize = 16 << 10;
/// How long a client may take for its request line and headers, from the end of the last answer on.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// How long answers may take to end once the gateway stops.
const GRACE: Duration = Duration::from_secs(5);
/// How long the last bytes of an answer may take to leave, on a connection that waits for no answer any more.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(100);

/// What `ac serve` was told.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The home.
    pub home: PathBuf,
    /// Where to listen; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Where to write who and where we are, once we are.
    pub ready_file: Option<PathBuf>,
    /// Host names besides the loopback ones.
    pub allowed_hosts: Vec<String>,
    /// Origins besides the loopback ones.
    pub allowed_origins: Vec<String>,
}

/// Who and where a gateway is.
#[derive(Clone, Debug)]
pub struct Serving {
    /// For WebSocket clients.
    pub url: String,
    /// For HTTP clients.
    pub http: String,
    /// For a browser, once: it signs in.
    pub sign_in: String,
    /// The file with the owner's token.
    pub token_file: PathBuf,
    /// The address, if other machines can reach it.
    pub beyond_loopback: Option<SocketAddr>,
}

/// Serves until `stop` resolves. `on_ready` is called once, when the first client could come.
pub async fn serve(
    options: ServeOptions,
    gateway_options: &GatewayOptions,
    on_ready: impl FnOnce(&Serving),
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let home = Home::open(&options.home)?;
    let _lock = home.lock_for_serving()?;
    let gateway = Gateway::open(&home, gateway_options).await?;
    let taking_over = Arc::clone(&gateway);
    tokio::spawn(async move { taking_over.take_over_sessions().await });
    let listen_error = |source| Error::Listen {
        listen: options.listen,
        source,
    };
    let listener = listen(options.listen).map_err(listen_error)?;
    let address = listener.local_addr().map_err(listen_error)?;
    let reachable = reachable(address);
    let linked = match options.allowed_hosts.first() {
        Some(host) if address.ip().is_unspecified() => format!("{host}:{}", address.port()),
        Some(_) | None => reachable.to_string(),
    };
    let now = gateway_options.sources.clock.now();
    let code = gateway.desktop_sessions.create_code(now).await;
    let code = code.map_err(|source| Error::SignIn { source })?;
    let serving = Serving {
        url: format!("ws://{reachable}/"),
        http: format!("http://{reachable}/"),
        sign_in: sign_in_address(&format!("http://{linked}/"), &code),
        token_file: home.token_file(),
        beyond_loopback: (!address.ip().is_loopback()).then_some(address),
    };
    let content = json!({
        "url": serving.url,
        "http": serving.http,
        "pid": std::process::id(),
        "token_file": serving.token_file,
    });
    // The first is for commands that look for whoever serves the home.
    for path in [Some(home.serving_file()), options.ready_file]
        .into_iter()
        .flatten()
    {
        let written = replace_file(&path, content.to_string().as_bytes());
        written.map_err(|source| Error::ReadyFile { path, source })?;
    }
    on_ready(&serving);

    let mut hosts = options.allowed_hosts;
    if !address.ip().is_unspecified() {
        hosts.push(bare_host(address));
    }
    let allowed = Allowed {
        hosts,
        origins: options.allowed_origins,
    };
    let app = http::router(Arc::clone(&gateway), allowed);
    let connections = Connections::new();
    let (stopping, stopped) = watch::channel(false);
    tokio::select! {
        () = accept(&listener, &app, &connections, &stopped) => {}
        () = stop => {}
    }

    drop(listener);
    let _ = stopping.send(true);
    gateway.stop_sessions();
    gateway.hub.close(Closing::GOING_AWAY, |_| true);
    if tokio::time::timeout(GRACE, connections.all_left())
        .await
        .is_err()
    {
        // A client in the middle of a request is no reason to wait for longer, nor one to warn of.
        tracing::info!("connections that are still open are cut off");
    }
    gateway.close(Duration::ZERO).await;
    Ok(())
}

/// The address of the desktop at `http` that signs a browser in with `code`. The code is in the fragment, which browsers
/// do not send: it reaches no log and no proxy, and a preview of the link does not use it up.
pub fn sign_in_address(http: &str, code: &str) -> String {
    format!("{http}#code={code}")
}

/// The usual queue of 128 overflows when many connect at once, and the system lets whoever comes then wait for a second.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // A port whose last connections are still ending can be used at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Where a client of this machine reaches a listener: one that listens on all addresses is called by a loopback one,
/// which is a name we answer to.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, address.port())
}

/// The host part of an address as a `Host` header has it.
fn bare_host(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}

async fn accept(
    listener: &TcpListener,
    app: &Router,
    connections: &Arc<Connections>,
    stopped: &watch::Receiver<bool>,
) {
    loop {
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: connections that end make room again.
                tracing::warn!(%error, "a connection cannot be accepted");
                connections.close_one_stranger();
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let place = connections.enter(address.ip()).await;
        let guest = Guest {
            address,
            place: Arc::new(place),
        };
        tokio::spawn(converse(stream, guest, app.clone(), stopped.clone()));
    }
}

/// Serves the HTTP requests of one TCP connection; a WebSocket takes it over.
async fn converse(
    stream: TcpStream,
    guest: Guest,
    app: Router,
    mut stopped: watch::Receiver<bool>,
) {
    // Answers are small and somebody waits for each of them.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY cannot be set");
    }
    let place = Arc::clone(&guest.place);
    let service = service_fn(move |request: Request<Incoming>| {
        let (mut app, guest) = (app.clone(), guest.clone());
        async move {
            let answering = guest.place.begin_answer();
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(guest);
            let answer = app.call(request).await;
            answer
                .map(|answer| {
                    answer.map(|body| AnswerBody {
                        body,
                        _answering: answering,
                    })
                })
                .map_err(|never: Infallible| never)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    let stop = async {
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = place.closing() => {
            tracing::debug!("a connection without a token is closed for another one");
            return;
        }
        () = stop => {
            connection.as_mut().graceful_shutdown();
            // A request that has not come whole is not waited for.
            if place.is_answering() {
                connection.await
            } else {
                let flushed = tokio::time::timeout(FLUSH_TIMEOUT, connection).await;
                flushed.unwrap_or(Ok(()))
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// The body of an answer, which is on its way until all of it was read.
struct AnswerBody {
    body: Body,
    _answering: Answering,
}

impl hyper::body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
