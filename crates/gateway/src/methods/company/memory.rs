//! Handlers of `memory.*`.

use company::{
    decisions::review::DocumentDecision,
    memory::{self, CandidateQuery, DeltaQuery, NewDelta},
};
use protocol::company::{ReviewDecision, memory::*};
use rpc::{Failure, Router};

use super::{actor, within};
use crate::Context;

/// The default number of listed deltas.
const USUAL_DELTAS: u32 = 200;
/// The default number of suggested candidates.
const USUAL_CANDIDATES: u32 = 20;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<MemoryProposeDelta>(propose_delta)
        .on::<MemoryApproveDelta>(approve_delta)
        .on::<MemoryListDeltas>(list_deltas)
        .on::<MemoryExtractCandidates>(extract_candidates);
}

async fn propose_delta(
    ctx: Context,
    params: MemoryProposeDeltaParams,
) -> Result<MemoryProposeDeltaResponse, Failure> {
    let delta = NewDelta {
        id: None,
        project_id: params.project_id,
        title: params.title,
        scope_kind: params.scope_kind,
        scope_ref: params.scope_ref,
        sensitivity: params.sensitivity,
        rationale: params.rationale.into(),
        under_heading: params.under_heading.into(),
        insert_lines: params.insert_lines,
        visibility: params.visibility,
        produced_by: params.produced_by,
        run_id: params.run_id,
        context_pack_id: params.context_pack_id,
        evidence: params.evidence,
    };
    let proposed = within(&ctx, &params.workspace_dir, move |company| {
        memory::propose(company, &delta)
    });
    let proposed = proposed.await?;
    Ok(MemoryProposeDeltaResponse {
        artifact_id: proposed.artifact_id,
        artifact_relpath: proposed.artifact_relpath,
        patch_relpath: proposed.patch_relpath,
        target_file: proposed.target_file,
        scope_kind: proposed.scope_kind,
        scope_ref: proposed.scope_ref,
    })
}

async fn approve_delta(
    ctx: Context,
    params: MemoryApproveDeltaParams,
) -> Result<MemoryApproveDeltaResponse, Failure> {
    let actor = actor(params.actor_id, params.actor_role, params.actor_team_id);
    let decision = ReviewDecision::Approved;
    let presence = ctx.principal().presence().clone();
    let decided = within(&ctx, &params.workspace_dir, move |company| {
        let verdict = DocumentDecision {
            project_id: params.project_id,
            artifact_id: params.artifact_id,
            decision,
            actor: actor.known(company)?,
            notes: params.notes,
            expected_sha256: params.expected_sha256,
            presence,
        };
        memory::decide(company, &verdict)
    });
    let decided = decided.await?;
    Ok(MemoryApproveDeltaResponse {
        review_id: decided.review_id,
        decision,
        rebased: decided.rebased.then_some(true),
    })
}

async fn list_deltas(
    ctx: Context,
    params: MemoryListDeltasParams,
) -> Result<MemoryListDeltasResponse, Failure> {
    let actor = actor(params.actor_id, params.actor_role, params.actor_team_id);
    within(&ctx, &params.workspace_dir, move |company| {
        let wanted = DeltaQuery {
            actor: actor.known(company)?,
            project: params.project_id,
            status: params.status.unwrap_or_default(),
            limit: params.limit.unwrap_or(USUAL_DELTAS) as usize,
        };
        memory::list(company, wanted)
    })
    .await
}

async fn extract_candidates(
    ctx: Context,
    params: MemoryExtractCandidatesParams,
) -> Result<MemoryExtractCandidatesResponse, Failure> {
    let issues = params.refine();
    if !issues.is_empty() {
        return Err(Failure::issues(issues));
    }
    let actor = actor(params.actor_id, params.actor_role, params.actor_team_id);
    within(&ctx, &params.workspace_dir, move |company| {
        let wanted = CandidateQuery {
            project_id: params.project_id,
            job_id: params.job_id,
            run_id: params.run_id,
            actor: actor.known(company)?,
            limit: params.limit.unwrap_or(USUAL_CANDIDATES) as usize,
        };
        memory::extract_candidates(company, &wanted)
    })
    .await
}
