//! `/health` and `/ready`, for whoever keeps the process alive.

use std::{sync::Arc, time::Duration};

use axum::{extract::State, response::Response};
use hyper::StatusCode;

use super::{Http, text};

/// The process lives.
pub(super) async fn health() -> Response {
    text(StatusCode::OK, "ok\n")
}

/// The database answers.
pub(super) async fn ready(State(http): State<Arc<Http>>) -> Response {
    let asked = http.gateway.store.workspaces();
    match tokio::time::timeout(Duration::from_secs(2), asked.first()).await {
        Ok(Ok(_)) => text(StatusCode::OK, "ready\n"),
        Ok(Err(_)) | Err(_) => text(
            StatusCode::SERVICE_UNAVAILABLE,
            "the database does not answer\n",
        ),
    }
}
