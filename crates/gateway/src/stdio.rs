//! `ac server:start`: serves the same methods over standard input and output, as the owner.

use std::{io, sync::Arc};

use crate::{Gateway, Principal};

/// Serves the client on stdin and stdout until it closes the stream or `stop` resolves.
pub async fn serve_stdio(
    gateway: &Arc<Gateway>,
    options: rpc::stdio::Options,
    stop: impl Future<Output = ()>,
) {
    let peer = gateway.connect_parent(Principal::owner());
    let input = io::BufReader::with_capacity(64 << 10, io::stdin());
    let output = io::BufWriter::with_capacity(64 << 10, io::stdout());
    rpc::stdio::run(peer, options, input, output, stop).await;
}
