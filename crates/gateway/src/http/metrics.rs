//! `/metrics` in the Prometheus text format. Needs a token, because the method counts reveal the users' activity.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use hyper::{HeaderMap, header};
use rpc::metrics::{render_counter, render_gauge, render_routes};

use super::{Http, RemoteClient};

/// Renders all metrics.
pub(super) async fn page(
    State(http): State<Arc<Http>>,
    Extension(client): Extension<RemoteClient>,
    headers: HeaderMap,
) -> Response {
    if let Err(refusal) = http.principal(&client, &headers).await {
        return refusal;
    }
    let services = &http.services;
    let mut page = String::new();
    render_routes(&mut page, http.gateway.router().metrics());
    let (connections, waiting) = services.hub.load();
    let (writes, reads) = services.store.waiting();
    for (name, help, value) in [
        (
            "accord_connections",
            "Connections at this moment.",
            connections,
        ),
        (
            "accord_outgoing_queue_depth",
            "Messages that wait to be written to clients.",
            waiting,
        ),
        (
            "accord_database_writes_waiting",
            "Writes that wait for the next commit.",
            writes,
        ),
        (
            "accord_database_reads_waiting",
            "Reads that wait for a reader.",
            reads,
        ),
    ] {
        render_gauge(&mut page, name, help, value as u64);
    }
    render_counter(
        &mut page,
        "accord_rejected_frames_total",
        "Binary frames that were not understood.",
        services.watch.rejected_frames(),
    );
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], page).into_response()
}
