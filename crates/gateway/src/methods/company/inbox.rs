//! `inbox.*`

use company::{
    inbox::{self, RecordOnly},
    review::Verdict,
};
use protocol::company::inbox::*;
use rpc::{Failure, Router};

use super::{actor, within};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<InboxResolve>(resolve);
}

pub(super) async fn resolve(
    ctx: Context,
    params: InboxResolveParams,
) -> Result<InboxResolveResponse, Failure> {
    let actor = actor(params.actor_id, params.actor_role, params.actor_team_id);
    within(&ctx, &params.workspace_dir, move |company| {
        let verdict = Verdict {
            project_id: params.project_id,
            artifact_id: params.artifact_id,
            decision: params.decision,
            actor: actor.known(company)?,
            notes: params.notes,
        };
        inbox::resolve(company, &verdict, &RecordOnly)
    })
    .await
}
