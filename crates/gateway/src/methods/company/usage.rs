//! Handlers of `usage.*`.

use protocol::company::usage::*;
use rpc::{Failure, Router};

use super::indexed;
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<UsageAnalytics>(analytics);
}

async fn analytics(
    ctx: Context,
    params: UsageAnalyticsParams,
) -> Result<UsageAnalyticsResponse, Failure> {
    indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| indexes.usage(company, &params),
    )
    .await
}
