//! Handlers of `sharepack.*`.

use std::num::NonZeroUsize;

use company::events::{replay::Options, share_pack};
use protocol::company::{Asking, Text, sharepack::*};
use rpc::{Failure, Router};

use super::{asking, known, run::leave_out, within};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<SharepackCreate>(create)
        .on::<SharepackReplay>(replay);
}

async fn create(
    ctx: Context,
    params: SharepackCreateParams,
) -> Result<SharepackCreateResponse, Failure> {
    within(&ctx, &params.workspace_dir, move |company| {
        let human = || Text::new("human").expect("a word is not empty");
        let created_by = params.created_by.unwrap_or_else(human);
        share_pack::create(company, &params.project_id, &created_by)
    })
    .await
}

async fn replay(
    ctx: Context,
    params: SharepackReplayParams,
) -> Result<SharepackReplayResponse, Failure> {
    let SharepackReplayParams {
        workspace_dir,
        project_id,
        share_pack_id,
        run_id,
        tail,
        mode,
        actor_id,
        actor_role,
        actor_team_id,
    } = params;
    let asking = asking(
        &ctx,
        Asking {
            actor_id,
            actor_role,
            actor_team_id,
        },
    );
    let mode = mode.unwrap_or_default();
    let tail = tail.map(|tail| usize::try_from(tail).unwrap_or(usize::MAX));
    let options = Options {
        mode: mode.into(),
        tail: tail.and_then(NonZeroUsize::new),
        ..Options::default()
    };
    within(&ctx, &workspace_dir, move |company| {
        let mut runs = share_pack::replay(
            company,
            &project_id,
            &share_pack_id,
            run_id.as_ref(),
            &options,
        )?;
        let filtered = known(company, asking)?.map(|actor| {
            let replayed = runs.iter_mut().map(|run| &mut run.replay);
            replayed.map(|replayed| leave_out(replayed, &actor)).sum()
        });
        Ok(SharepackReplayResponse {
            share_pack_id,
            project_id,
            mode,
            runs,
            filtered_by_policy_count: filtered,
        })
    })
    .await
}
