//! Handlers of `worktree.*`.

use protocol::company::worktree::*;
use rpc::{Failure, Router};

use super::{failure, opened};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<WorktreeCleanup>(cleanup);
}

async fn cleanup(
    ctx: Context,
    params: WorktreeCleanupParams,
) -> Result<WorktreeCleanupResponse, Failure> {
    let company = opened(&ctx, &params.workspace_dir, |company| {
        company.check_trusted().map(|()| company.clone())
    })
    .await?;
    let cleaned = sessions::worktree::cleanup(&company, &params).await;
    cleaned.map_err(|error| failure(&error))
}
