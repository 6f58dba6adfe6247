//! Handlers of `turn/*`.

use agent::NewTurn;
use artifacts::limits;
use protocol::{
    ArtifactId, Id as _, Method as _, ThreadId, TurnId, WorkspaceId, thread::ThreadMode, turn::*,
};
use rpc::{Failure, FailureKind, Router};
use serde_json::{Value, json};

use super::artifact::bind_input;
use crate::{Context, rows, worker_prompts::is_workers_turn};

pub(super) mod explain;

/// The maximum number of inputs per turn.
const MAX_INPUTS: usize = 256;
/// The maximum size of the text of a turn in bytes, which is above the limit of every model.
const MAX_TEXT_BYTES: usize = 2 << 20;

pub(super) fn routes(router: &mut Router<Context>) {
    router
        .on::<TurnStart>(start)
        .on::<TurnCancel>(cancel)
        .on::<TurnGet>(get)
        .on::<TurnItems>(items)
        .on::<TurnTimeline>(timeline)
        .on::<TurnExplain>(explain::explain);
}

async fn start(ctx: Context, params: TurnStartParams) -> Result<TurnStartResponse, Failure> {
    check_input(&params.input)?;
    super::thread::check_is_no_workers("/thread_id", &params.thread_id)?;
    if is_workers_turn(params.turn_id.as_str()) {
        let message = format!("`{}` is reserved for the turn of a worker", params.turn_id);
        return Err(Failure::param("/turn_id", message));
    }
    check_abilities(&params)?;
    let (thread_id, turn_id) = (params.thread_id.clone(), params.turn_id.clone());
    let input_artifacts = find_artifacts(&ctx, &thread_id, &params.input).await?;
    let turn = NewTurn {
        thread_id: params.thread_id,
        turn_id: params.turn_id,
        input: params.input,
        attachments: input_artifacts.attachments,
        model: super::thread::given_text("model", params.model)?,
        model_provider: super::thread::given_text("model_provider", params.model_provider)?,
        mode: params.mode.map(rows::stored).transpose()?,
        remember: params.remember.unwrap_or(true),
        may: ctx.may_spend()?,
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
    bind_input(
        &ctx,
        &accepted.workspace_id,
        &thread_id,
        &turn_id,
        input_artifacts.artifacts,
    )
    .await;
    match accepted.run {
        Some(run) => ctx.run_turn(run),
        // A client that lost its connection repeats the request and receives the output from the beginning.
        None if is_new => ctx.catch_up(&thread_id),
        None => {}
    }
    Ok(TurnStartResponse {
        turn: accepted.turn,
    })
}

/// Rejects options that turns do not support, so that clients do not rely on them.
fn check_abilities(params: &TurnStartParams) -> Result<(), Failure> {
    if params.sandbox_policy.is_some() {
        return Err(Failure::param(
            "/sandbox_policy",
            "a turn starts no commands, so it has no sandbox: expected no `sandbox_policy`",
        ));
    }
    if params.mode == Some(ThreadMode::Agent) {
        return Err(Failure::param(
            "/mode",
            "a turn offers the model no tools: expected mode `Chat` or none, found `Agent`",
        ));
    }
    Ok(())
}

/// The artifacts of an input, and all its parts other than text in the form shown in the user message.
#[derive(Default)]
struct InputArtifacts {
    artifacts: Vec<(usize, ArtifactId, Option<String>)>,
    attachments: Vec<Value>,
}

async fn find_artifacts(
    ctx: &Context,
    thread_id: &ThreadId,
    input: &[UserInput],
) -> Result<InputArtifacts, Failure> {
    let mut input_artifacts = InputArtifacts::default();
    let mut workspace = None;
    for (index, input) in input.iter().enumerate() {
        let UserInput::Artifact {
            artifact_id,
            version_id,
        } = input
        else {
            let shown = serde_json::to_value(input).map_err(|error| Failure::incident(&error))?;
            if !matches!(input, UserInput::Text { .. }) {
                input_artifacts.attachments.push(shown);
            }
            continue;
        };
        let path = format!("/input/{index}/artifact_id");
        let artifact = ArtifactId::parse(artifact_id)
            .map_err(|error| Failure::param(path, error.to_string()))?;
        let workspace = match &workspace {
            Some(workspace) => workspace,
            None => {
                let row = ctx.store().threads().get(thread_id.as_str()).await;
                workspace.insert(row.map_err(rows::failure)?.workspace_id)
            }
        };
        let found = ctx.artifact(workspace, artifact.as_str(), version_id.as_deref());
        let found = found.await?;
        rows::check_ready(&found)?;
        let artifact_ref = rows::artifact_ref(&found)?;
        input_artifacts
            .attachments
            .push(json!({"type": "artifact", "artifact": artifact_ref}));
        input_artifacts
            .artifacts
            .push((index, artifact, Some(found.version.id)));
    }
    Ok(input_artifacts)
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

/// Returns the events of a turn that concern items.
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

/// Subscribes the connection to the workspace of a thread, like every method that names a workspace.
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
        Failure::params(FailureKind::TooLarge, message)
            .with("path", "/input")
            .with("limit", limit)
    };
    if input.len() > MAX_INPUTS {
        return Err(too_many("inputs", MAX_INPUTS, input.len()));
    }
    let text_bytes: usize = input
        .iter()
        .map(|input| match input {
            UserInput::Text { text, .. } => text.len(),
            UserInput::Image { .. }
            | UserInput::File { .. }
            | UserInput::Audio { .. }
            | UserInput::Video { .. }
            | UserInput::LocalImage { .. }
            | UserInput::LocalFile { .. }
            | UserInput::LocalAudio { .. }
            | UserInput::LocalVideo { .. }
            | UserInput::Mention { .. }
            | UserInput::Skill { .. }
            | UserInput::Artifact { .. } => 0,
        })
        .sum();
    if text_bytes > MAX_TEXT_BYTES {
        return Err(too_many("bytes of text", MAX_TEXT_BYTES, text_bytes));
    }
    let artifacts = input
        .iter()
        .filter(|input| matches!(input, UserInput::Artifact { .. }))
        .count();
    if artifacts > limits::MAX_FILES_PER_TURN as usize {
        return Err(too_many(
            "artifacts",
            limits::MAX_FILES_PER_TURN as usize,
            artifacts,
        ));
    }
    for (index, input) in input.iter().enumerate() {
        match input {
            UserInput::LocalImage { .. }
            | UserInput::LocalFile { .. }
            | UserInput::LocalAudio { .. }
            | UserInput::LocalVideo { .. } => {
                let refusal = Failure::param(
                    format!("/input/{index}"),
                    "local files cannot be used as input",
                );
                return Err(refusal.hint("upload the file as an artifact"));
            }
            UserInput::Text { .. }
            | UserInput::Image { .. }
            | UserInput::File { .. }
            | UserInput::Audio { .. }
            | UserInput::Video { .. }
            | UserInput::Mention { .. }
            | UserInput::Skill { .. }
            | UserInput::Artifact { .. } => {}
        }
    }
    Ok(())
}
