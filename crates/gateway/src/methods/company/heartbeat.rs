//! Handlers of `heartbeat.*`.

use company::execution::heartbeat;
use jobs::Tick;
use protocol::company::{heartbeat::*, workspace::CompanyFolderParams};
use rpc::{Failure, Router};

use super::within;
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<HeartbeatStatus>(status)
        .on::<HeartbeatTick>(tick)
        .on::<HeartbeatConfigGet>(config_get)
        .on::<HeartbeatConfigSet>(config_set);
}

async fn status(
    ctx: Context,
    params: CompanyFolderParams,
) -> Result<HeartbeatStatusResponse, Failure> {
    let heartbeats = ctx.heartbeats().clone();
    within(&ctx, &params.workspace_dir, move |company| {
        Ok(heartbeats.status(company))
    })
    .await
}

async fn tick(ctx: Context, params: HeartbeatTickParams) -> Result<HeartbeatTickResponse, Failure> {
    let kind = match params.dry_run {
        Some(true) => Tick::Dry,
        Some(false) | None => Tick::Asked,
    };
    let company = within(&ctx, &params.workspace_dir, |company| Ok(company.clone())).await?;
    let reason = params.reason.as_deref().unwrap_or("rpc");
    let ticked = ctx
        .heartbeats()
        .tick(&company, kind, reason, ctx.may_exec()?)
        .await;
    ticked.map_err(|error| super::session::failure(&error))
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
) -> Result<HeartbeatConfigSetResponse, Failure> {
    let workspace_dir = params.workspace_dir.clone();
    let may = ctx.may_exec()?;
    let heartbeats = ctx.heartbeats().clone();
    within(&ctx, &workspace_dir, move |company| {
        let is_dry = params.dry_run == Some(true);
        let config = heartbeat::set(company, params)?;
        if !is_dry {
            heartbeats.observe(company, may);
            heartbeats.changed();
        }
        let forecast = if config.enabled {
            Some(jobs::heartbeat::forecast(company, &config)?)
        } else {
            None
        };
        Ok(HeartbeatConfigSetResponse { config, forecast })
    })
    .await
}
