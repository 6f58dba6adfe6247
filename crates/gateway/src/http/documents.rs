//! The protocol documents `/schemas/<type>.json` and `/openrpc.json`. They contain no data of this gateway, so they
//! need no token.

use std::{collections::BTreeMap, sync::OnceLock};

use axum::{
    extract::Path,
    response::{IntoResponse as _, Response},
};
use hyper::{StatusCode, header};

use super::text;
use crate::VERSION;

/// Returns a schema by its file name. Names are looked up in a map and never joined to a path.
pub(super) async fn schema(Path(name): Path<String>) -> Response {
    static SCHEMAS: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    let schemas = SCHEMAS.get_or_init(|| {
        let schemas = protocol::schemas().into_iter();
        schemas
            .map(|(name, schema)| (format!("{name}.json"), format!("{schema:#}")))
            .collect()
    });
    match schemas.get(&name) {
        Some(schema) => json(schema),
        None => text(StatusCode::NOT_FOUND, "there is no schema of that name\n"),
    }
}

/// Returns the OpenRPC document of all methods.
pub(super) async fn openrpc() -> Response {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    json(DOCUMENT.get_or_init(|| protocol::openrpc(VERSION).to_string()))
}

fn json(body: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
