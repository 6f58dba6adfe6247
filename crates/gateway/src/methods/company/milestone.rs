//! Handlers of `milestone.*`.

use company::{decisions::review::DocumentDecision, planning::milestone};
use protocol::company::{ReviewDecision, milestone::*};
use rpc::{Failure, Router};

use super::{actor, within};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<MilestoneApprove>(approve)
        .on::<MilestoneEvidenceRead>(read_evidence);
}

async fn approve(
    ctx: Context,
    params: MilestoneApproveParams,
) -> Result<MilestoneApproveResponse, Failure> {
    let actor = actor(params.actor_id, params.actor_role, params.actor_team_id);
    let decision = ReviewDecision::Approved;
    let presence = ctx.principal().presence().clone();
    let decided = within(&ctx, &params.workspace_dir, move |company| {
        let verdict = DocumentDecision {
            project_id: params.project_id,
            artifact_id: params.report_artifact_id,
            decision,
            actor: actor.known(company)?,
            notes: params.notes,
            expected_sha256: params.expected_sha256,
            presence,
        };
        let named = (&params.task_id, &params.milestone_id);
        milestone::decide(company, &verdict, Some(named))
    });
    let decided = decided.await?;
    Ok(MilestoneApproveResponse {
        review_id: decided.review_id,
        decision,
        task_status: decided.task_status,
        milestone_status: decided.milestone_status,
    })
}

async fn read_evidence(
    ctx: Context,
    params: MilestoneEvidenceReadParams,
) -> Result<MilestoneEvidenceReadResponse, Failure> {
    let actor = actor(params.actor_id, params.actor_role, params.actor_team_id);
    within(&ctx, &params.workspace_dir, move |company| {
        milestone::read_evidence(
            company,
            &params.project_id,
            &params.report_artifact_id,
            &params.evidence_artifact_id,
            &actor.known(company)?,
        )
    })
    .await
}
