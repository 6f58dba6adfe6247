//! `heartbeat.*`

use company::heartbeat;
use protocol::company::{heartbeat::*, workspace::CompanyFolderParams};
use rpc::{Failure, Router};

use super::within;
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<HeartbeatConfigGet>(config_get)
        .on::<HeartbeatConfigSet>(config_set);
}

async fn config_get(
    ctx: Context,
    params: CompanyFolderParams,
) -> Result<HeartbeatConfigResponse, Failure> {
    within(&ctx, &params.workspace_dir, |company| {
        let setting = heartbeat::setting(company);
        Ok(HeartbeatConfigResponse(HeartbeatConfig::clone(
            &setting.config,
        )))
    })
    .await
}

async fn config_set(
    ctx: Context,
    params: HeartbeatConfigSetParams,
) -> Result<HeartbeatConfigResponse, Failure> {
    let workspace_dir = params.workspace_dir.clone();
    within(&ctx, &workspace_dir, move |company| {
        heartbeat::set(company, params).map(HeartbeatConfigResponse)
    })
    .await
}
