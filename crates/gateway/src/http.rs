//! The HTTP side of the port: the web desktop, the WebSocket upgrade, artifact content, probes, schemas and metrics.
//!
//! Requests with a foreign `Host` or `Origin` header are rejected before any other processing, so that web pages cannot
//! reach the gateway through a browser (DNS rebinding).

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router, middleware,
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use hyper::{StatusCode, header};
mod content;
mod cors;
mod disposition;
mod documents;
mod guard;
mod metrics;
mod probes;
mod range;
mod refusal;
mod sign_in;
mod socket;
mod uploads;
mod web;

pub(crate) use guard::Allowed;

use crate::{Gateway, auth::Throttle, connections::ConnectionSlot, services::Services};

/// The state shared by all routes.
pub(crate) struct Http {
    gateway: Arc<Gateway>,
    services: Arc<Services>,
    throttle: Throttle,
    allowed: Allowed,
}

/// The client of a request, stored in the request's extensions.
#[derive(Clone, Debug)]
pub(crate) struct RemoteClient {
    pub(crate) address: SocketAddr,
    /// The slot among the connections of the port. A WebSocket holds it until it closes.
    pub(crate) slot: Arc<ConnectionSlot>,
}

/// Builds the routes of the port.
pub(crate) fn router(gateway: Arc<Gateway>, allowed: Allowed) -> Router {
    let http = Arc::new(Http {
        services: Arc::clone(&gateway.services),
        gateway,
        throttle: Throttle::default(),
        allowed,
    });
    Router::new()
        .route("/", get(socket::root))
        .route("/health", get(probes::health))
        .route("/ready", get(probes::ready))
        .route("/schemas/{name}", get(documents::schema))
        .route("/openrpc.json", get(documents::openrpc))
        .route("/metrics", get(metrics::page))
        .route("/sign-in", post(sign_in::sign_in))
        .route("/sign-out", post(sign_in::sign_out))
        .merge(
            Router::new()
                .route(
                    "/artifacts/{workspace}/{artifact}/{version}/content",
                    get(content::serve),
                )
                // A page whose WebSocket was rejected requests this path over HTTP to read the reason, which the
                // WebSocket API does not expose.
                .route("/ws", get(socket::upgrade))
                .merge(uploads::routes())
                .route_layer(middleware::from_fn(cors::share)),
        )
        .fallback(web::serve)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&http),
            guard::check,
        ))
        .with_state(http)
}

/// Builds a plain-text response.
fn text(status: StatusCode, body: impl Into<String>) -> Response {
    let headers = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    (status, headers, body.into()).into_response()
}
