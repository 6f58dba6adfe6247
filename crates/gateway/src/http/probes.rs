//! The probes `/health` and `/ready` for process supervisors.

use std::{sync::Arc, time::Duration};

use axum::{extract::State, response::Response};
use hyper::StatusCode;

use super::{Http, text};

/// Reports that the process is running.
pub(super) async fn health() -> Response {
    text(StatusCode::OK, "ok\n")
}

/// Reports whether the database answers within two seconds.
pub(super) async fn ready(State(http): State<Arc<Http>>) -> Response {
    let asked = http.services.store.workspaces();
    match tokio::time::timeout(Duration::from_secs(2), asked.first()).await {
        Ok(Ok(_)) => text(StatusCode::OK, "ready\n"),
        Ok(Err(_)) | Err(_) => text(
            StatusCode::SERVICE_UNAVAILABLE,
            "the database does not answer\n",
        ),
    }
}
