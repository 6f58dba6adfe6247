//! `adapter.*`

use company::{document::Machine, layout};
use protocol::company::{adapter::*, workspace::CompanyFolderParams};
use rpc::{Failure, Router};

use super::within;
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<AdapterStatus>(status);
}

async fn status(
    ctx: Context,
    params: CompanyFolderParams,
) -> Result<AdapterStatusResponse, Failure> {
    let machine = within(&ctx, &params.workspace_dir, |company| {
        Ok(company
            .read::<Machine>(layout::MACHINE)
            .map_err(|error| error.to_string()))
    });
    let machine = machine.await?;
    let machine = machine.as_deref().map_err(String::as_str);
    let rows = ctx.peer().gateway.adapters.status(machine).await;
    Ok(AdapterStatusResponse(rows))
}
