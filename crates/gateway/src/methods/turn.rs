//! `turn/*`

use agent::NewTurn;
use protocol::{Id as _, Method as _, ThreadId, TurnId, WorkspaceId, turn::*};
use rpc::{Failure, Kind, Router};

use crate::{Context, rows};

/// Artifacts one turn may carry.
const MAX_ARTIFACTS: usize = 32;
/// Inputs one turn may have.
const MAX_INPUTS: usize = 256;

pub(super) fn routes(router: &mut Router<Context>) {
    router
        .on::<TurnStart>(start)
        .on::<TurnCancel>(cancel)
        .on::<TurnGet>(get)
        .on::<TurnItems>(items)
        .on::<TurnTimeline>(timeline);
}

async fn start(ctx: Context, params: TurnStartParams) -> Result<TurnStartResponse, Failure> {
    check_input(&params.input)?;
    let thread_id = params.thread_id.clone();
    let turn = NewTurn {
        thread_id: params.thread_id,
        turn_id: params.turn_id,
        input: params.input,
        model: super::thread::given_text("model", params.model)?,
        model_provider: super::thread::given_text("model_provider", params.model_provider)?,
        mode: params.mode.map(rows::stored).transpose()?,
        remember: params.remember.unwrap_or(true),
    };
    let accepted = ctx
        .agent()
        .accept(turn)
        .await
        .map_err(rows::agent_failure)?;
    ctx.peer().follow(&accepted.workspace_id);
    let is_new = ctx.peer().follow_thread(&thread_id);
    if let Some(tree_version) = accepted.tree_version {
        ctx.tree_changed(&accepted.workspace_id, tree_version, TurnStart::NAME);
    }
    match accepted.run {
        Some(run) => ctx.run_turn(run),
        // Somebody who lost the connection asks again, and hears the answer from its beginning.
        None if is_new => ctx.catch_up(&thread_id),
        None => {}
    }
    Ok(TurnStartResponse {
        turn: accepted.turn,
    })
}

async fn cancel(ctx: Context, params: TurnCancelParams) -> Result<TurnCancelResponse, Failure> {
    let cancelled = ctx
        .agent()
        .cancel(&params.thread_id, &params.turn_id, params.reason)
        .await;
    let row = cancelled.map_err(rows::agent_failure)?;
    let workspace_id = follow(&ctx, &row.workspace_id)?;
    Ok(TurnCancelResponse {
        thread_id: params.thread_id,
        workspace_id,
        turn: rows::turn(row)?,
    })
}

async fn get(ctx: Context, params: TurnGetParams) -> Result<TurnGetResponse, Failure> {
    let turns = ctx.store().turns();
    let found = turns
        .get(params.thread_id.as_str(), params.turn_id.as_str())
        .await;
    let row = found.map_err(rows::failure)?;
    let workspace_id = follow(&ctx, &row.workspace_id)?;
    Ok(TurnGetResponse {
        thread_id: params.thread_id,
        workspace_id,
        turn: rows::turn(row)?,
    })
}

async fn items(ctx: Context, params: TurnItemsParams) -> Result<TurnItemsResponse, Failure> {
    let found = item_events(
        &ctx,
        &params.thread_id,
        &params.turn_id,
        params.after_sequence,
    )
    .await?;
    Ok(TurnItemsResponse {
        thread_id: params.thread_id,
        workspace_id: found.workspace_id,
        turn_id: params.turn_id,
        events: found.events,
        last_sequence: found.last_sequence,
    })
}

async fn timeline(
    ctx: Context,
    params: TurnTimelineParams,
) -> Result<TurnTimelineResponse, Failure> {
    let found = item_events(&ctx, &params.thread_id, &params.turn_id, None).await?;
    let items = found.events.into_iter().map(|event| TimelineItem {
        id: format!("{}:{}", event.turn_id, event.sequence),
        origin: TimelineOrigin {
            kind: TimelineOriginKind::ParentTurn,
            origin_sequence: event.sequence,
            occurred_at: event.created_at,
            lane: 0,
        },
        payload: TimelinePayload::TurnItemEvent {
            event: event.payload,
        },
    });
    Ok(TurnTimelineResponse {
        items: items.collect(),
        thread_id: params.thread_id,
        workspace_id: found.workspace_id,
        turn_id: params.turn_id,
        last_sequence: found.last_sequence,
    })
}

struct ItemEvents {
    workspace_id: WorkspaceId,
    events: Vec<TurnEvent>,
    last_sequence: u64,
}

/// The events of a turn that are about items.
async fn item_events(
    ctx: &Context,
    thread_id: &ThreadId,
    turn_id: &TurnId,
    after: Option<u64>,
) -> Result<ItemEvents, Failure> {
    let after = i64::try_from(after.unwrap_or(0)).unwrap_or(i64::MAX);
    let turns = ctx.store().turns();
    let found = turns
        .events(thread_id.as_str(), turn_id.as_str(), after)
        .await;
    let (row, events) = found.map_err(rows::failure)?;
    let workspace_id = follow(ctx, &row.workspace_id)?;
    let is_about_item = |event: &entity::turn_event::Model| event.kind.starts_with("item");
    let events = events
        .iter()
        .filter(|event| is_about_item(event))
        .map(rows::turn_event);
    Ok(ItemEvents {
        workspace_id,
        events: events.collect::<Result<_, _>>()?,
        last_sequence: row.last_sequence.unsigned_abs(),
    })
}

/// Naming a thread names its workspace.
fn follow(ctx: &Context, workspace_id: &str) -> Result<WorkspaceId, Failure> {
    let workspace_id = rows::workspace_id(workspace_id)?;
    ctx.peer().follow(&workspace_id);
    Ok(workspace_id)
}

fn check_input(input: &[UserInput]) -> Result<(), Failure> {
    let says_nothing =
        |input: &UserInput| matches!(input, UserInput::Text { text, .. } if text.is_empty());
    if input.iter().all(says_nothing) {
        return Err(Failure::param(
            "/input",
            "expected at least one input, found nothing",
        ));
    }
    let too_many = |what: &str, limit: usize, found: usize| {
        let message = format!("expected at most {limit} {what}, found {found}");
        Failure::params(Kind::TooLarge, message)
            .with("path", "/input")
            .with("limit", limit)
    };
    if input.len() > MAX_INPUTS {
        return Err(too_many("inputs", MAX_INPUTS, input.len()));
    }
    let artifacts = input
        .iter()
        .filter(|input| matches!(input, UserInput::Artifact { .. }))
        .count();
    if artifacts > MAX_ARTIFACTS {
        return Err(too_many("artifacts", MAX_ARTIFACTS, artifacts));
    }
    for (index, input) in input.iter().enumerate() {
        match input {
            UserInput::LocalImage { .. }
            | UserInput::LocalFile { .. }
            | UserInput::LocalAudio { .. }
            | UserInput::LocalVideo { .. } => {
                let refusal = Failure::param(
                    format!("/input/{index}"),
                    "files beside the gateway cannot be read",
                );
                return Err(refusal.hint("upload the file as an artifact"));
            }
            UserInput::Artifact { artifact_id, .. } => {
                // No artifact exists before the artifact store does.
                let id = protocol::WorkspaceId::parse(artifact_id)
                    .map_or_else(|_| String::new(), String::from);
                let message = format!("there is no artifact `{id}`");
                return Err(Failure::params(Kind::UnknownArtifact, message)
                    .with("path", format!("/input/{index}/artifact_id")));
            }
            UserInput::Text { .. }
            | UserInput::Image { .. }
            | UserInput::File { .. }
            | UserInput::Audio { .. }
            | UserInput::Video { .. }
            | UserInput::Mention { .. }
            | UserInput::Skill { .. } => {}
        }
    }
    Ok(())
}
