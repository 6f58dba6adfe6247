//! Handlers of `agent.*`.

use std::time::Duration;

use company::{
    Company, Error,
    execution::run::CreatedRun,
    layout,
    memory::{
        guidance::{self, Cycle, Ended, Evaluation},
        mistake::{self, ObservedMistake},
    },
    policy::Actor,
};
use protocol::{
    MayExec,
    company::{Text, agent::*, session::CompanySessionLaunchParams},
};
use rpc::{Failure, Router};
use sessions::Sessions;

use super::{actor, indexed, within};
use crate::Context;

/// The default of `promote_threshold` and `proposal_threshold`: the number of repetitions of a mistake.
const USUAL_THRESHOLD: u64 = 3;
/// The `promote_threshold` of a self-improvement cycle if the caller gives none. It is never reached, because a cycle
/// proposes rules and does not add them.
const NEVER: u64 = 9_007_199_254_740_991;
/// The timeout of an evaluation.
const EVALUATION_LIMIT: Duration = Duration::from_secs(30 * 60);
/// The default of `max_tasks`.
const USUAL_TASKS: u32 = 20;
/// The default of `max_scope_paths`.
const USUAL_SCOPE_PATHS: u32 = 40;

pub(in crate::methods) fn routes(router: &mut Router<Context>) {
    router
        .on::<AgentProfileSnapshot>(profile_snapshot)
        .on::<AgentRecordMistake>(record_mistake)
        .on::<AgentSelfImproveCycle>(self_improve_cycle)
        .on::<AgentRefreshContext>(refresh_context);
}

async fn profile_snapshot(
    ctx: Context,
    params: AgentProfileSnapshotParams,
) -> Result<AgentProfileSnapshotResponse, Failure> {
    indexed(
        &ctx,
        params.workspace_dir.clone(),
        move |indexes, company| indexes.profile(company, &params),
    )
    .await
}

async fn record_mistake(
    ctx: Context,
    params: AgentRecordMistakeParams,
) -> Result<AgentRecordMistakeResponse, Failure> {
    let manager = actor(params.manager_actor_id, params.manager_role, None);
    within(&ctx, &params.workspace_dir, move |company| {
        let seen = ObservedMistake {
            worker: params.worker_agent_id,
            manager: manager.known(company)?,
            key: params.mistake_key.into(),
            summary: params.summary.into(),
            prevention_rule: params.prevention_rule.into(),
            project_id: params.project_id,
            run_id: params.run_id,
            task_id: params.task_id.and_then(Text::new),
            milestone_id: params.milestone_id.and_then(Text::new),
            evidence: params.evidence_artifact_ids.unwrap_or_default(),
            threshold: params.promote_threshold.unwrap_or(USUAL_THRESHOLD),
        };
        let recorded = mistake::record(company, &seen)?;
        Ok(AgentRecordMistakeResponse {
            mistake_key: recorded.key,
            count: recorded.count,
            promoted_to_agents_md: false,
            log_relpath: recorded.log_relpath,
            agents_md_relpath: layout::agent_guidance(&seen.worker),
            worker_agent_id: seen.worker,
        })
    })
    .await
}

async fn self_improve_cycle(
    ctx: Context,
    params: AgentSelfImproveCycleParams,
) -> Result<AgentSelfImproveCycleResponse, Failure> {
    let manager = actor(params.manager_actor_id, params.manager_role, None);
    let (sessions, may) = (ctx.sessions().clone(), ctx.may_exec()?);
    // The cycle runs on a blocking thread, so it can also block on a session.
    let runtime = tokio::runtime::Handle::current();
    within(&ctx, &params.workspace_dir, move |company| {
        let task_id = params.task_id.and_then(Text::new);
        let milestone_id = params.milestone_id.and_then(Text::new);
        let argv = params.evaluation_argv.unwrap_or_default();
        let cycle = Cycle {
            seen: ObservedMistake {
                worker: params.worker_agent_id,
                manager: manager.known(company)?,
                key: params.mistake_key.into(),
                summary: params.summary.into(),
                prevention_rule: params.prevention_rule.into(),
                project_id: Some(params.project_id.clone()),
                run_id: None,
                task_id: task_id.clone(),
                milestone_id: milestone_id.clone(),
                evidence: params.evidence_artifact_ids.unwrap_or_default(),
                threshold: params.promote_threshold.unwrap_or(NEVER),
            },
            project_id: params.project_id,
            proposal_threshold: params.proposal_threshold.unwrap_or(USUAL_THRESHOLD),
            evaluation: Evaluation {
                argv: argv.into_iter().map(String::from).collect(),
                repo_id: params.evaluation_repo_id,
                workdir_rel: params.evaluation_workdir_rel,
                env: params.evaluation_env.unwrap_or_default(),
                task_id,
                milestone_id,
            },
        };
        guidance::self_improve(company, &cycle, |run, evaluation| {
            let evaluated = evaluate((&sessions, may), company, &cycle, run, evaluation);
            runtime.block_on(evaluated)
        })
    })
    .await
}

/// Runs the command of an evaluation as a regular session, subject to policy, budgets and lanes.
async fn evaluate(
    (sessions, may): (&Sessions, MayExec),
    company: &Company,
    cycle: &Cycle,
    run: &CreatedRun,
    evaluation: &Evaluation,
) -> Result<Ended, Error> {
    let Actor { id, role, team_id } = &cycle.seen.manager;
    let params = serde_json::json!({
        "workspace_dir": company.given(),
        "project_id": cycle.project_id,
        "run_id": run.run_id,
        "argv": evaluation.argv,
        "repo_id": evaluation.repo_id,
        "workdir_rel": evaluation.workdir_rel,
        "task_id": evaluation.task_id,
        "milestone_id": evaluation.milestone_id,
        "env": evaluation.env,
        "actor_id": id,
        "actor_role": role,
        "actor_team_id": team_id,
        "timeout_ms": u64::try_from(EVALUATION_LIMIT.as_millis()).unwrap_or(u64::MAX),
        // The evaluation is a plain command, even if its name is that of a worker program.
        "apply_guard": false,
    });
    let params: CompanySessionLaunchParams = serde_json::from_value(params)
        .map_err(|error| Error::Refused(format!("the evaluation cannot be started: {error}")))?;
    let refused = |error: sessions::Error| match error {
        sessions::Error::Company(error) => error,
        error @ (sessions::Error::AlreadyRunning(_)
        | sessions::Error::Unknown(_)
        | sessions::Error::UnknownHere(_)
        | sessions::Error::Budget(_)
        | sessions::Error::Unverified { .. }
        | sessions::Error::HasProcess { .. }
        | sessions::Error::Launched(_)
        | sessions::Error::Over { .. }
        | sessions::Error::Closing) => Error::Refused(error.to_string()),
    };
    let launched = sessions.launch(params, may).await.map_err(refused)?;
    let dir = Some(company.given());
    let collected = sessions
        .collect(dir, &launched.session_ref, Some(may))
        .await;
    let state = collected.map_err(refused)?.state;
    match (state.exit_code, state.signal, state.error) {
        (None, None, Some(error)) => Err(Error::Refused(error)),
        (exit_code, signal, _) => Ok(Ended { exit_code, signal }),
    }
}

async fn refresh_context(
    ctx: Context,
    params: AgentRefreshContextParams,
) -> Result<AgentRefreshContextResponse, Failure> {
    within(&ctx, &params.workspace_dir, move |company| {
        let refreshed = guidance::refresh_context(
            company,
            &params.agent_id,
            params.project_id.as_ref(),
            params.max_tasks.unwrap_or(USUAL_TASKS) as usize,
            params.max_scope_paths.unwrap_or(USUAL_SCOPE_PATHS) as usize,
        )?;
        Ok(AgentRefreshContextResponse {
            agent_id: params.agent_id,
            context_index_relpath: refreshed.relpath,
            assignment_count: refreshed.assignments as u64,
            reference_count: refreshed.references as u64,
            updated: refreshed.updated,
            generated_at: company.sources().now_text(),
            project_id: params.project_id,
        })
    })
    .await
}
