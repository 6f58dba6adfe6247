//! `worktree.*`

use protocol::company::worktree::*;
use rpc::{Failure, Router};

use super::{blocking, failure};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<WorktreeCleanup>(cleanup);
}

async fn cleanup(
    ctx: Context,
    params: WorktreeCleanupParams,
) -> Result<WorktreeCleanupResponse, Failure> {
    let companies = ctx.companies().clone();
    let workspace_dir = params.workspace_dir.clone();
    let company = blocking(move || companies.open(&workspace_dir)).await?;
    let cleaned = runner::worktree::cleanup(&company, &params).await;
    cleaned.map_err(|error| failure(&error))
}
