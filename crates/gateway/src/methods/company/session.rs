//! Handlers of `session.*`.

use company::Company;
use protocol::company::{Issue, Text, session::*};
use rpc::{Failure, FailureKind, Router};

use super::limited_view::{LimitedView, agent_of_run, check_visible, visible};
use crate::Context;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router.on::<CompanySessionLaunch>(launch);
    router.on::<CompanySessionList>(list);
    router.on::<CompanySessionPoll>(poll);
    router.on::<CompanySessionCollect>(collect);
    router.on::<CompanySessionStop>(stop);
    router.on::<CompanySessionCooldownList>(list_cooldowns);
    router.on::<CompanySessionCooldownClear>(clear_cooldowns);
}

async fn launch(
    ctx: Context,
    mut params: CompanySessionLaunchParams,
) -> Result<CompanySessionLaunchResponse, Failure> {
    // A call that claims no role gets the role of its token, not that of the owner.
    if let (None, Some(ceiling)) = (params.actor_role, ctx.principal().ceiling()) {
        params.actor_role = Some(ceiling);
        params.actor_id = params
            .actor_id
            .or_else(|| Text::new(ctx.principal().author()));
    }
    let mut issues: Vec<_> = params
        .budget
        .iter()
        .flat_map(|budget| budget.refine("budget"))
        .collect();
    if params
        .session_ref
        .as_ref()
        .is_some_and(|name| !sessions::session_ref_fits(name))
    {
        issues.push(Issue::custom(
            "session_ref",
            "expected at most 80 characters and no control characters",
        ));
    }
    let is_name = |name: &String| !name.is_empty() && !name.contains(['=', '\0']);
    for (name, value) in params.env.iter().flatten() {
        if !is_name(name) || value.contains('\0') {
            issues.push(Issue::custom("env", "expected names of variables"));
        }
    }
    if !issues.is_empty() {
        return Err(Failure::issues(issues));
    }
    params.workspace_dir = ctx.real_dir(params.workspace_dir);
    let launched = ctx.sessions().launch(params, ctx.may_exec()?).await;
    launched.map_err(|error| failure(&error))
}

async fn list(
    ctx: Context,
    mut params: CompanySessionListParams,
) -> Result<CompanySessionListResponse, Failure> {
    let claimed = std::mem::take(&mut params.asking);
    let limited_view = LimitedView::of(&ctx, params.workspace_dir.as_ref(), claimed).await?;
    params.workspace_dir = params.workspace_dir.map(|dir| ctx.real_dir(dir));
    let rows = ctx.sessions().list(params, ctx.may_exec().ok()).await;
    let rows = rows.map_err(|error| failure(&error))?;
    let rows = visible(limited_view, rows, |company, row| {
        agent_of_run(company, &row.state.project_id, &row.state.run_id)
    });
    rows.await.map(CompanySessionListResponse)
}

/// Returns the state of a session if the caller may see its run.
async fn seen(ctx: &Context, params: CompanySessionParams) -> Result<VisibleSession, Failure> {
    let limited_view = LimitedView::of(ctx, params.workspace_dir.as_ref(), params.asking).await?;
    let dir = params.workspace_dir.map(|dir| ctx.real_dir(dir));
    let (sessions, may) = (ctx.sessions(), ctx.may_exec().ok());
    let state = sessions
        .poll(dir.as_deref(), &params.session_ref, may)
        .await;
    let state = state.map_err(|error| failure(&error))?;
    let (project, run) = (state.project_id.clone(), state.run_id.clone());
    let agent = move |company: &Company| agent_of_run(company, &project, &run);
    check_visible(limited_view, state.run_id.clone(), agent).await?;
    Ok(VisibleSession {
        dir,
        session_ref: params.session_ref,
        state,
    })
}

struct VisibleSession {
    dir: Option<Text>,
    session_ref: Text,
    state: CompanySessionState,
}

async fn poll(
    ctx: Context,
    params: CompanySessionParams,
) -> Result<CompanySessionStateResponse, Failure> {
    let seen = seen(&ctx, params).await?;
    Ok(CompanySessionStateResponse(seen.state))
}

async fn collect(
    ctx: Context,
    params: CompanySessionParams,
) -> Result<CompanySessionCollectResponse, Failure> {
    let seen = seen(&ctx, params).await?;
    let (sessions, may) = (ctx.sessions(), ctx.may_exec().ok());
    let collected = sessions
        .collect(seen.dir.as_deref(), &seen.session_ref, may)
        .await;
    collected.map_err(|error| failure(&error))
}

async fn stop(
    ctx: Context,
    params: CompanySessionParams,
) -> Result<CompanySessionStateResponse, Failure> {
    let may = ctx.may_exec()?;
    let seen = seen(&ctx, params).await?;
    let stopped = ctx
        .sessions()
        .stop(seen.dir.as_deref(), &seen.session_ref, may);
    let state = stopped.await.map_err(|error| failure(&error))?;
    Ok(CompanySessionStateResponse(state))
}

async fn list_cooldowns(
    ctx: Context,
    params: CompanySessionCooldownListParams,
) -> Result<CompanySessionCooldownListResponse, Failure> {
    let dir = ctx.real_dir(params.workspace_dir);
    let listed = ctx.sessions().cooldowns(&dir).await;
    let items = listed.map_err(|error| failure(&error))?;
    Ok(CompanySessionCooldownListResponse { items })
}

async fn clear_cooldowns(
    ctx: Context,
    params: CompanySessionCooldownClearParams,
) -> Result<CompanySessionCooldownListResponse, Failure> {
    let dir = ctx.real_dir(params.workspace_dir);
    let provider = params.provider.as_deref();
    let cleared = ctx.sessions().clear_cooldowns(&dir, provider).await;
    let items = cleared.map_err(|error| failure(&error))?;
    Ok(CompanySessionCooldownListResponse { items })
}

/// Converts an error of a session to an RPC failure.
pub(super) fn failure(error: &sessions::Error) -> Failure {
    use sessions::Error;
    let message = error.to_string();
    match error {
        Error::Company(error) => super::failure(error),
        Error::AlreadyRunning(session_ref) => {
            Failure::state(FailureKind::Busy, message).with("session_ref", session_ref.as_str())
        }
        Error::Unknown(_) | Error::UnknownHere(_) => Failure::state(FailureKind::NotFound, message),
        Error::Budget(_) => Failure::state(FailureKind::BudgetExceeded, message),
        Error::Unverified { reason, .. } => {
            Failure::state(FailureKind::SubscriptionUnverified, message).with("reason", *reason)
        }
        Error::HasProcess { session_ref, .. } => {
            Failure::state(FailureKind::Busy, message).with("session_ref", session_ref.as_str())
        }
        Error::Launched(_) | Error::Over { .. } => Failure::state(FailureKind::Refused, message),
        Error::Closing => Failure::state(FailureKind::Refused, message),
    }
}
