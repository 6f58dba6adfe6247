//! Handlers of `artifact.*`.

use company::documents;
use protocol::company::artifact::*;
use rpc::{Failure, Router};

use super::{actor, within};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<CompanyArtifactRead>(read);
}

async fn read(
    ctx: Context,
    params: CompanyArtifactReadParams,
) -> Result<CompanyArtifactReadResponse, Failure> {
    let actor = actor(params.actor_id, params.actor_role, params.actor_team_id);
    within(&ctx, &params.workspace_dir, move |company| {
        let actor = actor.known(company)?;
        let run = params.run_id.as_ref();
        documents::read(
            company,
            &params.project_id,
            &params.artifact_id,
            &actor,
            run,
        )
    })
    .await
}
