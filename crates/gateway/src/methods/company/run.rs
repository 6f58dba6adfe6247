//! Handlers of `run.*`.

use std::{collections::BTreeMap, num::NonZeroUsize};

use company::{
    Company,
    events::{follow::Filter, replay},
    execution::run,
    layout,
    policy::{self, Actor},
};
use protocol::company::{
    Asking, ProjectId, RunId, RunStatus, Text, run::*, session::CompanySessionListParams,
};
use rpc::{Failure, Router};
use sessions::{Cancellation, Options};

use super::{
    asking, known,
    limited_view::{LimitedView, agent_of_run, check_visible, visible},
    session, within,
};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<RunCreate>(create)
        .on::<RunCancel>(cancel)
        .on::<RunList>(list)
        .on::<RunReplay>(replay);
}

async fn create(ctx: Context, params: RunCreateParams) -> Result<RunCreateResponse, Failure> {
    let RunCreateParams {
        workspace_dir,
        project_id,
        agent_id,
        provider,
        goal,
    } = params;
    let options = ctx.sessions().options().clone();
    let created = within(&ctx, &workspace_dir, move |company| {
        let created = match goal {
            Some(goal) => run::create_for(company, &project_id, &agent_id, &provider, &goal)?,
            None => run::create(company, &project_id, &agent_id, &provider)?,
        };
        let warnings = warnings(company, &options, agent_id.as_str(), &provider);
        Ok((created, warnings))
    });
    let (created, warnings) = created.await?;
    Ok(RunCreateResponse {
        run_dir: format!(
            "{}/{}",
            workspace_dir.trim_end_matches('/'),
            created.relpath
        ),
        run_id: created.run_id,
        context_pack_id: created.context_pack_id,
        warnings,
    })
}

async fn cancel(ctx: Context, params: RunCancelParams) -> Result<RunCancelResponse, Failure> {
    let RunCancelParams {
        workspace_dir,
        project_id,
        run_id,
        reason,
        actor_id,
        actor_role,
        actor_team_id,
    } = params;
    let claimed = Asking {
        actor_id,
        actor_role,
        actor_team_id,
    };
    let limited_view = LimitedView::of(&ctx, Some(&workspace_dir), claimed.clone()).await?;
    let (project, run) = (project_id.clone(), run_id.clone());
    let agent = move |company: &Company| agent_of_run(company, project.as_str(), run.as_str());
    check_visible(limited_view, run_id.to_string(), agent).await?;
    let asking = asking(&ctx, claimed);
    let actor = within(&ctx, &workspace_dir, move |company| known(company, asking)).await?;
    let caller = ctx.principal().token_id().unwrap_or("human").to_owned();
    let cancellation = Cancellation {
        project: project_id,
        run: run_id.clone(),
        actor: actor.map_or(caller, |actor| actor.id),
        reason,
    };
    let cancelled = ctx
        .sessions()
        .cancel_run(&ctx.real_dir(workspace_dir), cancellation)
        .await;
    cancelled.map_err(|error| session::failure(&error))?;
    Ok(RunCancelResponse {
        run_id,
        status: RunStatus::Stopped,
    })
}

async fn list(ctx: Context, params: RunListParams) -> Result<RunListResponse, Failure> {
    let project = params.project_id;
    let asking = asking(&ctx, params.asking);
    let options = ctx.sessions().options().clone();
    let rows = within(&ctx, &params.workspace_dir, move |company| {
        let mut rows = run::list(company, project.as_ref())?;
        let actor = known(company, asking)?;
        let mut sees = policy::run_viewer(company, actor.as_ref());
        rows.retain(|row| sees(Some(&row.agent_id)));
        // Cached, because many runs share few agents and providers.
        let mut known = BTreeMap::new();
        for row in &mut rows {
            let names = (row.agent_id.clone(), row.provider.clone());
            let warnings = known
                .entry(names)
                .or_insert_with(|| warnings(company, &options, &row.agent_id, &row.provider));
            row.warnings.clone_from(warnings);
        }
        Ok(rows)
    });
    rows.await.map(RunListResponse)
}

/// Returns warnings if the agent or the provider of a run does not exist. Such runs are accepted.
fn warnings(company: &Company, options: &Options, agent: &str, provider: &str) -> Vec<String> {
    let warnings = [
        sessions::agent_warning(company, agent),
        drivers::provider_warning(provider, &options.drivers),
    ];
    warnings.into_iter().flatten().collect()
}

async fn replay(ctx: Context, params: RunReplayParams) -> Result<RunReplayResponse, Failure> {
    let RunReplayParams {
        workspace_dir,
        project_id,
        run_id,
        tail,
        after_seq,
        limit,
        mode,
        actor_id,
        actor_role,
        actor_team_id,
    } = params;
    let claimed = Asking {
        actor_id,
        actor_role,
        actor_team_id,
    };
    let asking = asking(&ctx, claimed.clone());
    let mode = mode.unwrap_or_default();
    let live = match mode {
        // The state of a session is returned only to callers that may see its run.
        ReplayMode::Live
            if !sees_run(&ctx, &workspace_dir, &claimed, &project_id, &run_id).await? =>
        {
            ReplayLive::default()
        }
        ReplayMode::Live => live(&ctx, &workspace_dir, &run_id).await?,
        ReplayMode::Raw | ReplayMode::Verified | ReplayMode::Deterministic => ReplayLive::default(),
    };
    within(&ctx, &workspace_dir, move |company| {
        let folder = layout::run(&project_id, &run_id);
        let document = company.read::<company::document::Run>(&format!("{folder}/run.yaml"));
        let options = replay::Options {
            mode,
            tail: count(tail),
            after_seq: after_seq.unwrap_or(0),
            limit: count(limit),
            // An unreadable run document provides no expected tail of the log.
            events_tail: document
                .ok()
                .and_then(|document| document.events_tail.clone()),
        };
        let replayed = replay::replay(&company.path(&format!("{folder}/events.jsonl")), &options);
        let replayed = replayed.map_err(|error| error.or_not_found("Run", run_id.as_str()))?;
        let mut replayed = replayed.replayed;
        let actor = known(company, asking)?;
        let filtered = actor.as_ref().map(|actor| leave_out(&mut replayed, actor));
        Ok(RunReplayResponse {
            run_id,
            project_id,
            mode,
            replay: replayed,
            filtered_by_policy_count: filtered,
            live,
        })
    })
    .await
}

/// Removes events that the actor may not see and returns their number. Lines that do not parse carry no visibility, so
/// they are counted but their content is never returned.
pub(super) fn leave_out(replayed: &mut ReplayedEvents, actor: &Actor) -> u64 {
    let filter = Filter {
        actor: Some(actor.clone()),
        ..Filter::default()
    };
    let before = replayed.events.len();
    replayed
        .events
        .retain(|event| filter.wants(event.get()).is_some());
    for issue in &mut replayed.parse_issues {
        issue.raw.clear();
    }
    (before - replayed.events.len()) as u64
}

async fn sees_run(
    ctx: &Context,
    workspace_dir: &Text,
    claimed: &Asking,
    project: &ProjectId,
    run: &RunId,
) -> Result<bool, Failure> {
    let limited_view = LimitedView::of(ctx, Some(workspace_dir), claimed.clone()).await?;
    let run = vec![(project.clone(), run.clone())];
    let seen = visible(limited_view, run, |company, (project, run)| {
        agent_of_run(company, project.as_str(), run.as_str())
    });
    Ok(!seen.await?.is_empty())
}

/// Returns the newest session of a run.
async fn live(ctx: &Context, workspace_dir: &Text, run: &RunId) -> Result<ReplayLive, Failure> {
    let params = CompanySessionListParams {
        workspace_dir: Some(ctx.real_dir(workspace_dir.clone())),
        run_id: Text::new(run.as_str()),
        ..CompanySessionListParams::default()
    };
    let rows = ctx.sessions().list(params, ctx.may_exec().ok()).await;
    let rows = rows.map_err(|error| session::failure(&error))?;
    Ok(rows
        .into_iter()
        .next()
        .map_or_else(ReplayLive::default, |row| ReplayLive {
            available: true,
            session_ref: Some(row.state.session_ref),
            status: Some(row.state.status.to_string()),
            error: row.state.error,
        }))
}

/// Converts a count to `usize`; zero becomes `None`.
fn count(wanted: Option<u64>) -> Option<NonZeroUsize> {
    let wanted = wanted.map(|wanted| usize::try_from(wanted).unwrap_or(usize::MAX));
    wanted.and_then(NonZeroUsize::new)
}
