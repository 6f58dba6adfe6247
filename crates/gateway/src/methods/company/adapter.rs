//! Handlers of `adapter.*`.

use company::{
    document::Channel,
    execution::machine::{self, ProgramPolicy},
};
use protocol::company::{Issue, adapter::*, workspace::CompanyFolderParams};
use rpc::{Failure, Router};

use super::within;
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<AdapterStatus>(status);
    router.on::<AdapterChannelSet>(set_channel);
}

async fn status(
    ctx: Context,
    params: CompanyFolderParams,
) -> Result<AdapterStatusResponse, Failure> {
    let machine = within(&ctx, &params.workspace_dir, |company| {
        Ok(machine::read(company).map_err(|error| error.to_string()))
    });
    let machine = machine.await?;
    let machine = machine.as_deref().map_err(String::as_str);
    let adapters = &ctx.services().adapters;
    let options = ctx.sessions().options();
    let rows = adapters
        .status_with_launch(machine, options, ctx.may_exec().ok())
        .await;
    Ok(AdapterStatusResponse(rows))
}

async fn set_channel(
    ctx: Context,
    params: AdapterChannelSetParams,
) -> Result<AdapterChannelSetResponse, Failure> {
    let AdapterChannelSetParams {
        workspace_dir,
        provider,
        channel,
    } = params;
    let program = sessions::program::Program::of_provider(&provider);
    let program = program
        .map_err(|error| Failure::issues(vec![Issue::custom("provider", error.to_string())]))?;
    let name = program.as_str();
    let policy = ProgramPolicy::of(name).expect("every worker program has a policy");
    let changed = within(&ctx, &workspace_dir, move |company| {
        let channel = match channel {
            AdapterChannel::SubscriptionCli => Channel::SubscriptionCli,
            AdapterChannel::Api => Channel::Api,
        };
        company.write(|writer| writer.set_channel(policy, channel))
    });
    let changed = changed.await?;
    Ok(AdapterChannelSetResponse {
        provider: name.to_owned(),
        channel,
        changed: changed.into_iter().map(ToOwned::to_owned).collect(),
    })
}
