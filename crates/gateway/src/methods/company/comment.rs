//! Handlers of `comment.*`.

use company::conversation::comment::{self, CommentQuery, NewComment};
use protocol::company::{Asking, Visibility, comment::*};
use rpc::{Failure, Router};

use super::{actor, asking, known, within};
use crate::Context;

/// The default number of listed comments.
const USUAL_COMMENTS: u32 = 300;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<CommentAdd>(add).on::<CommentList>(list);
}

async fn add(ctx: Context, params: CommentAddParams) -> Result<CommentAddResponse, Failure> {
    let new = NewComment {
        project_id: params.project_id,
        author: actor(params.author_id, params.author_role, None),
        body: params.body.into(),
        agent_id: params.target_agent_id.map(String::from),
        artifact_id: params.target_artifact_id.map(String::from),
        run_id: params.target_run_id,
        visibility: params.visibility.unwrap_or(Visibility::Managers),
    };
    let added = within(&ctx, &params.workspace_dir, move |company| {
        comment::add(company, new)
    });
    let (comment_id, comment) = added.await?;
    Ok(CommentAddResponse {
        comment_id,
        comment,
    })
}

async fn list(ctx: Context, params: CommentListParams) -> Result<CommentListResponse, Failure> {
    let asking = asking(
        &ctx,
        Asking {
            actor_id: params.actor_id,
            actor_role: params.actor_role,
            actor_team_id: params.actor_team_id,
        },
    );
    let mut wanted = CommentQuery {
        project_id: params.project_id,
        agent_id: params.target_agent_id.map(String::from),
        artifact_id: params.target_artifact_id.map(String::from),
        run_id: params.target_run_id.map(String::from),
        limit: params.limit.unwrap_or(USUAL_COMMENTS) as usize,
        before: params.before_comment_id,
        actor: None,
    };
    let found = within(&ctx, &params.workspace_dir, move |company| {
        wanted.actor = known(company, asking)?;
        comment::list(company, &wanted)
    });
    found.await.map(CommentListResponse)
}
