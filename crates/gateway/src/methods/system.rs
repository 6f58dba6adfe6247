//! Handlers of `system/*`.

use std::{collections::BTreeMap, sync::OnceLock};

use protocol::{Name, system::*};
use rpc::{Failure, Router, websocket};

use crate::{Context, VERSION};

pub(super) fn routes(router: &mut Router<Context>) {
    router
        .on::<SystemMethods>(methods)
        .on::<SystemCapabilities>(capabilities);
}

async fn methods(
    _ctx: Context,
    _params: SystemMethodsParams,
) -> Result<SystemMethodsResponse, Failure> {
    static METHODS: OnceLock<Vec<SystemMethod>> = OnceLock::new();
    let methods = METHODS.get_or_init(protocol::describe_methods).clone();
    Ok(SystemMethodsResponse { methods })
}

async fn capabilities(
    _ctx: Context,
    _params: SystemCapabilitiesParams,
) -> Result<SystemCapabilitiesResponse, Failure> {
    let limits: [(&str, usize); 8] = [
        ("max_message_bytes", websocket::MAX_MESSAGE_BYTES),
        ("max_concurrent_requests", rpc::MAX_CONCURRENT),
        ("max_waiting_requests", rpc::MAX_WAITING),
        ("max_name_chars", Name::MAX_CHARS),
        ("max_folder_depth", crud::MAX_DEPTH),
        ("max_folders", crud::MAX_FOLDERS),
        ("max_tree_page", super::thread::MAX_PAGE),
        ("max_replayed_notifications", rpc::MAX_RETAINED),
    ];
    let limits: BTreeMap<_, _> = limits
        .into_iter()
        .map(|(name, limit)| (name.to_owned(), limit as u64))
        .collect();
    Ok(SystemCapabilitiesResponse {
        protocol_version: 1,
        server: SystemServer {
            name: "accord".to_owned(),
            version: VERSION.to_owned(),
        },
        limits,
        features: [
            "company_family",
            "session_resume",
            "tree_paging",
            "tree_version",
        ]
        .map(ToOwned::to_owned)
        .to_vec(),
    })
}
