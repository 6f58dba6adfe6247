//! `ac serve`: serves HTTP and WebSocket on one port, from locking the home to graceful shutdown.

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
    http::{self, Allowed, RemoteClient},
};

/// The length of the TCP accept queue, in connections.
const BACKLOG: u32 = 1024;
/// The maximum size of all request headers together, in bytes.
const MAX_HEADER_BYTES: usize = 16 << 10;
/// The time a client has to send its request line and headers, counted from the end of the previous response.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// The time that responses in progress have to finish after the gateway begins to stop.
const GRACE: Duration = Duration::from_secs(5);
/// The time to flush the last bytes of a response at shutdown on a connection that has no request in progress.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(100);

/// Options of `ac serve`.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The path of the home.
    pub home: PathBuf,
    /// The address to listen on. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// The file that receives the URLs, the process id and the token file as JSON once the gateway is ready. With
    /// `None` no file is written.
    pub ready_file: Option<PathBuf>,
    /// Accepted `Host` names in addition to the loopback names.
    pub allowed_hosts: Vec<String>,
    /// Accepted `Origin` values in addition to the loopback origins.
    pub allowed_origins: Vec<String>,
}

/// The addresses of a running gateway.
#[derive(Clone, Debug)]
pub struct Serving {
    /// The URL for WebSocket clients.
    pub url: String,
    /// The URL for HTTP clients.
    pub http: String,
    /// The URL that signs one browser in; its code can be used once.
    pub sign_in: String,
    /// The path of the file with the owner's token.
    pub token_file: PathBuf,
    /// The listen address if it is not a loopback address, otherwise `None`.
    pub beyond_loopback: Option<SocketAddr>,
}

/// Serves until `stop` resolves. Calls `on_ready` once, when the port is bound and the ready file is written.
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
    let code = gateway.desktop_sessions().create_code(now).await;
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
    // Commands read `serving.json` in the home to find the gateway that serves it.
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
    gateway.services.hub.close(Closing::GOING_AWAY, |_| true);
    if tokio::time::timeout(GRACE, connections.all_left())
        .await
        .is_err()
    {
        // Clients in the middle of a request are expected at shutdown, so this is not a warning.
        tracing::info!("closing connections that are still open");
    }
    gateway.close(Duration::ZERO).await;
    Ok(())
}

/// Returns the URL of the desktop at `http` that signs a browser in with `code`.
///
/// The code is in the fragment, which browsers do not send: it appears in no log and no proxy, and a link preview does
/// not consume it.
pub fn sign_in_address(http: &str, code: &str) -> String {
    format!("{http}#code={code}")
}

/// Binds the address with a longer accept queue. The default of 128 overflows when many clients connect at once, and
/// the kernel then delays the remaining clients by a second.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // Allows an immediate restart while connections of the previous process are in TIME_WAIT.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Returns the address at which local clients reach a listener. For an unspecified address it is the loopback address,
/// which the `Host` check accepts.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, address.port())
}

/// Returns the host part of an address in the form used in a `Host` header.
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
                // Most likely the process has run out of file descriptors; closing connections frees some.
                tracing::warn!(%error, "a connection cannot be accepted");
                connections.close_one_stranger();
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let slot = connections.enter(address.ip()).await;
        let client = RemoteClient {
            address,
            slot: Arc::new(slot),
        };
        tokio::spawn(converse(stream, client, app.clone(), stopped.clone()));
    }
}

/// Serves the HTTP requests of one TCP connection, or hands it over to a WebSocket.
async fn converse(
    stream: TcpStream,
    client: RemoteClient,
    app: Router,
    mut stopped: watch::Receiver<bool>,
) {
    // Responses are small and clients wait for each of them, so Nagle's algorithm is disabled.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY cannot be set");
    }
    let slot = Arc::clone(&client.slot);
    let service = service_fn(move |request: Request<Incoming>| {
        let (mut app, client) = (app.clone(), client.clone());
        async move {
            let answering = client.slot.begin_answer();
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(client);
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
        () = slot.closing() => {
            tracing::debug!("closing an unauthenticated connection to accept another one");
            return;
        }
        () = stop => {
            connection.as_mut().graceful_shutdown();
            // Shutdown does not wait for a request that has not been received completely.
            if slot.is_answering() {
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

/// The body of a response. It marks the connection as answering until the body is dropped.
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
