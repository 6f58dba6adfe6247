//! Handlers of `thread/agents_doc/propose` and `thread/agents_doc/proposal/*`.

use crud::{
    BaseText, DecideProposal, DecidedProposal, Proposal, ProposalCursor, ProposalQuery,
    ProposalVerdict,
};
use protocol::{
    AgentsDocId, AgentsDocProposalId, FolderId, Id as _, Method as _,
    company::ActorRole,
    thread::agents_doc::{
        ThreadAgentsDocPropose, ThreadAgentsDocProposeParams, ThreadAgentsDocProposeResponse,
        proposal::*,
    },
};
use rpc::{Failure, Router};

use super::{announce, page_size, scope};
use crate::{
    Context,
    proposals::{
        self, DocText, ProposalRequest, changed, checked_words, compared, failure, merged,
    },
    rows,
};

/// The default number of proposals per page.
const PAGE: usize = 20;
/// The maximum number of proposals per page. Each may contain a diff of two whole texts.
pub(crate) const MAX_PAGE: usize = 50;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<ThreadAgentsDocPropose>(propose)
        .on::<ThreadAgentsDocProposalList>(list)
        .on::<ThreadAgentsDocProposalGet>(get)
        .on::<ThreadAgentsDocProposalDecide>(decide)
        .on::<ThreadAgentsDocProposalRebase>(rebase)
        .on::<ThreadAgentsDocProposalWithdraw>(withdraw);
}

async fn propose(
    ctx: Context,
    params: ThreadAgentsDocProposeParams,
) -> Result<ThreadAgentsDocProposeResponse, Failure> {
    let rationale = checked_words("/rationale", &params.rationale)?
        .ok_or_else(|| Failure::param("/rationale", "expected the reason for the change"))?;
    let request = ProposalRequest {
        scope: scope(&params.workspace_id, params.folder_id.as_ref()),
        text: DocText::checked("/content", &params.content)?,
        base_version: params.base_version,
        rationale,
        author: ctx.principal().author().to_owned(),
    };
    let (proposal, is_new) =
        proposals::propose(ctx.store(), &ctx.services().sources, request).await?;
    if is_new {
        ctx.publish(changed(&proposal.row)?);
    }
    Ok(ThreadAgentsDocProposeResponse {
        proposal: rows::proposal(proposal)?,
    })
}

async fn list(
    ctx: Context,
    params: ThreadAgentsDocProposalListParams,
) -> Result<ThreadAgentsDocProposalListResponse, Failure> {
    let limit = page_size(params.limit, PAGE, MAX_PAGE)?;
    let query = ProposalQuery {
        workspace_id: params.workspace_id.into(),
        scope: params
            .scope
            .map(|scope| scope.folder_id.map(FolderId::into)),
        status: params.status.map(rows::stored).transpose()?,
        after: params.cursor.as_deref().map(parse_cursor).transpose()?,
        limit: limit + 1,
    };
    let found = ctx.store().agents_doc_proposals().list(query).await;
    let mut found = found.map_err(failure)?;
    let has_more = found.len() as u64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(ThreadAgentsDocProposalListResponse {
        next_cursor: found.last().filter(|_| has_more).map(print_cursor),
        items: found
            .into_iter()
            .map(rows::proposal)
            .collect::<Result<_, _>>()?,
    })
}

async fn get(
    ctx: Context,
    params: ThreadAgentsDocProposalGetParams,
) -> Result<ThreadAgentsDocProposalGetResponse, Failure> {
    let proposals = ctx.store().agents_doc_proposals();
    let found = proposals
        .get(params.workspace_id.as_str(), params.proposal_id.as_str())
        .await
        .map_err(failure)?;
    Ok(ThreadAgentsDocProposalGetResponse {
        content: found.proposal.row.content.clone(),
        proposal: rows::proposal(found.proposal)?,
        base_content: found.base,
        current_content: found.current,
    })
}

async fn decide(
    ctx: Context,
    params: ThreadAgentsDocProposalDecideParams,
) -> Result<ThreadAgentsDocProposalDecideResponse, Failure> {
    let note = params.note.as_deref();
    let note = note.map(|note| checked_words("/note", note)).transpose()?;
    let decide = DecideProposal {
        workspace_id: params.workspace_id.into(),
        id: params.proposal_id.into(),
        verdict: match params.decision {
            ThreadAgentsDocDecision::Approve => ProposalVerdict::Approve {
                new_id: ctx.new_id::<AgentsDocId>().into(),
                revision_id: ctx.new_text_id("agr_"),
            },
            ThreadAgentsDocDecision::Deny => ProposalVerdict::Deny,
        },
        expected_sha256: params.expected_sha256,
        author: ctx.principal().author().to_owned(),
        via: ctx.principal().presence().via.to_string(),
        note: note.flatten(),
        now: ctx.now(),
    };
    let decided = ctx.store().agents_doc_proposals().decide(decide).await;
    let proposal = publish_decision(&ctx, decided.map_err(failure)?)?;
    Ok(ThreadAgentsDocProposalDecideResponse { proposal })
}

async fn withdraw(
    ctx: Context,
    params: ThreadAgentsDocProposalWithdrawParams,
) -> Result<ThreadAgentsDocProposalWithdrawResponse, Failure> {
    let proposals = ctx.store().agents_doc_proposals();
    let (workspace_id, id) = (params.workspace_id.as_str(), params.proposal_id.as_str());
    let found = proposals.get(workspace_id, id).await.map_err(failure)?;
    if !is_author(&ctx, &found.proposal) {
        return Err(Failure::forbidden(format!(
            "proposal `{id}` was made by {}, and only its author can withdraw it",
            found.proposal.row.author
        )));
    }
    let decide = DecideProposal {
        workspace_id: workspace_id.to_owned(),
        id: id.to_owned(),
        verdict: ProposalVerdict::Withdraw,
        expected_sha256: None,
        author: ctx.principal().author().to_owned(),
        via: ctx.principal().presence().via.to_string(),
        note: None,
        now: ctx.now(),
    };
    let decided = proposals.decide(decide).await.map_err(failure)?;
    let proposal = publish_decision(&ctx, decided)?;
    Ok(ThreadAgentsDocProposalWithdrawResponse { proposal })
}

async fn rebase(
    ctx: Context,
    params: ThreadAgentsDocProposalRebaseParams,
) -> Result<ThreadAgentsDocProposalRebaseResponse, Failure> {
    let proposals = ctx.store().agents_doc_proposals();
    let (workspace_id, id) = (params.workspace_id.as_str(), params.proposal_id.as_str());
    let found = proposals.get(workspace_id, id).await.map_err(failure)?;
    let is_person = ctx.principal().check_role(Some(ActorRole::Human)).is_ok();
    if !is_person && !is_author(&ctx, &found.proposal) {
        return Err(Failure::forbidden(format!(
            "proposal `{id}` was made by {}: only its author and people can rebase it",
            found.proposal.row.author
        )));
    }
    // A reviewer must be able to approve by id exactly the text that was shown.
    if !is_person && params.content.is_some() {
        return Err(Failure::forbidden(
            "only people may merge a text by hand: withdraw the proposal and propose it again",
        ));
    }
    if found.proposal.row.status != "pending" {
        return Err(failure(crud::Error::ProposalDecided(Box::new(
            found.proposal.row,
        ))));
    }
    let version = found.proposal.current_version;
    if let Some(expected) = params.current_version.filter(|seen| *seen != version) {
        return Err(failure(crud::Error::VersionConflict {
            expected,
            actual: version,
            current: None,
        }));
    }
    let text = match (&params.content, params.current_version) {
        (Some(content), Some(_)) => DocText::checked("/content", content)?,
        (Some(_), None) => {
            return Err(Failure::param(
                "/current_version",
                "expected the version that `content` was merged with",
            ));
        }
        (None, _) if found.proposal.row.base_version == version => {
            let proposal = rows::proposal(found.proposal)?;
            return Ok(ThreadAgentsDocProposalRebaseResponse { proposal });
        }
        (None, _) => merged(&found).await?,
    };
    let base = BaseText {
        version,
        content: found.current,
    };
    let text = compared(base, text).await?;
    let rebased = proposals.rebase(found.proposal.row, text, ctx.now()).await;
    let rebased = rebased.map_err(failure)?;
    ctx.publish(changed(&rebased.row)?);
    let proposal = rows::proposal(rebased)?;
    Ok(ThreadAgentsDocProposalRebaseResponse { proposal })
}

fn is_author(ctx: &Context, proposal: &Proposal) -> bool {
    proposal.row.author == ctx.principal().author()
}

/// Publishes a decision and the document it saved. Repeating the same decision is a no-op and sends no notification.
fn publish_decision(
    ctx: &Context,
    decided: DecidedProposal,
) -> Result<ThreadAgentsDocProposal, Failure> {
    if let Some(saved) = decided.saved {
        announce(ctx, saved, ThreadAgentsDocProposalDecide::NAME)?;
    }
    if decided.is_new {
        ctx.publish(changed(&decided.proposal.row)?);
    }
    rows::proposal(decided.proposal)
}

/// Formats a cursor, which is opaque to clients: whether the last proposal of the page is pending, its creation time
/// and its id.
fn print_cursor(last: &Proposal) -> String {
    let waits = match last.row.status.as_str() {
        "pending" => "waits",
        _ => "over",
    };
    format!("{waits}.{}.{}", last.row.created_at, last.row.id)
}

fn parse_cursor(text: &str) -> Result<ProposalCursor, Failure> {
    let mut parts = text.splitn(3, '.');
    let mut parse = || {
        let is_pending = match parts.next()? {
            "waits" => true,
            "over" => false,
            _ => return None,
        };
        Some(ProposalCursor {
            is_pending,
            created_at: parts.next()?.parse().ok()?,
            id: AgentsDocProposalId::parse(parts.next()?).ok()?.into(),
        })
    };
    parse().ok_or_else(|| Failure::param("/cursor", "expected a `next_cursor` of this method"))
}
