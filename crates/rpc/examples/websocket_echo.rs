//! An echo server on the WebSocket transport, for conformance suites such as Autobahn's `wstest -m fuzzingclient`.
//!
//! `cargo run -p rpc --example websocket_echo -- 127.0.0.1:9001`

#[path = "../tests/rpc/websocket/server.rs"]
mod server;

use tokio::net::TcpListener;

#[tokio::main]
async fn main() {
    let address = std::env::args().nth(1);
    let address = address.unwrap_or_else(|| "127.0.0.1:9001".to_owned());
    let listener = TcpListener::bind(&address).await;
    server::serve(listener.expect("the address is free")).await;
}
