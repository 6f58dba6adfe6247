//! Launches sessions: checks the request, queues the session in its lane and runs it.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use company::{document::Run, layout, policy::Actor};
use drivers::{ErrorClass, Outcome};
use protocol::{
    MayExec,
    company::{
        RunStatus,
        session::{
            CompanySessionLaunchParams, CompanySessionLaunchResponse, CompanySessionLaunchState,
            CompanySessionQueueReason,
        },
    },
};
use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};

use super::{Inner, Sessions, lock, preflight::actor, registry::RegisteredSession};
use crate::{
    Error,
    blocking::{blocking, locate, on_thread},
    lanes::{Strain, Ticket},
    plan::{Extra, Plan},
    run_log::RunLog,
    session::{self, NotStarted, Stage},
    working_folder::InPlace,
};

/// How long a launch request waits for the process to start before it responds. Starting usually takes a few
/// milliseconds, and longer if a worktree of a large repository is created first.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

impl Sessions {
    /// Starts a session or queues it. If the program cannot be started, the response has the state `failed`; an error
    /// means that the launch was rejected and there is no session.
    pub async fn launch(
        &self,
        params: CompanySessionLaunchParams,
        may: MayExec,
    ) -> Result<CompanySessionLaunchResponse, Error> {
        self.launch_with(params, Extra::default(), may).await
    }

    /// Like [`Sessions::launch`], with settings that only jobs can make.
    pub async fn launch_with(
        &self,
        params: CompanySessionLaunchParams,
        extra: Extra,
        may: MayExec,
    ) -> Result<CompanySessionLaunchResponse, Error> {
        let inner = &self.inner;
        if inner.closing.load(Ordering::SeqCst) {
            return Err(Error::Closing);
        }
        let explains = params.explain.unwrap_or(false);
        let company = locate(&inner.companies, &params.workspace_dir).await?;
        company.check_is_company()?;
        company.check_trusted()?;
        self.recover_once(&company, may).await?;
        let params = Arc::new(params);
        let (plan, run, actor, claimed) = {
            let (inner, params) = (Arc::clone(inner), Arc::clone(&params));
            on_thread(move || {
                let (plan, run, actor) = inner.read(&params, extra)?;
                // An explanation claims nothing.
                let claimed = if explains {
                    None
                } else {
                    Some(inner.claim(&plan, &run, may)?)
                };
                Ok((Arc::new(plan), Arc::new(run), actor, claimed))
            })
            .await?
        };
        let Some(session) = claimed else {
            return self.explain(&params, &plan, &run, &actor).await;
        };
        let run_log = plan.run_log();
        let not_running =
            (run.status != RunStatus::Running).then(|| session::not_running(run.status));
        if let Some(error) = not_running {
            let mut record = session.live.state().record;
            record.status = RunStatus::Failed;
            record.error = Some(error.clone());
            record.ended_at_ms = Some(record.started_at_ms);
            let saved = {
                let (company, record) = (plan.company.clone(), record.clone());
                blocking(move || record.save(&company)).await
            };
            session.live.end(record);
            saved?;
            return Ok(launched(&session, None));
        }
        let checked = self
            .preflight(&params, &plan, &run_log, &actor, &session)
            .await;
        let saved = match checked {
            Ok(saved) => saved,
            Err(error) => {
                inner.forget(&session);
                return Err(error);
            }
        };
        if let Err(error) = saved {
            let not_started = NotStarted::launch(error.to_string());
            session::fail(&run_log, &session.live, not_started).await;
            return Err(error.into());
        }

        let (ticket, granted) = inner.enter(&plan, &params, actor.role);
        *lock(&session.ticket) = Some(ticket);
        let queue_timeout = params.queue_timeout_ms.map(Duration::from_millis);
        let (this, task_session) = (self.clone(), Arc::clone(&session));
        tokio::spawn(async move {
            this.wait_and_run(plan, run_log, task_session, ticket, granted, queue_timeout)
                .await;
        });
        let position = inner.position(&session);
        if position.is_none() {
            let started = session
                .live
                .reach(|stage| matches!(stage, Stage::Running | Stage::Over));
            let _ = timeout(REPLY_TIMEOUT, started).await;
        }
        Ok(launched(&session, inner.waiting(&session)))
    }

    /// Waits until the lane starts the session, runs it, and leaves the lane.
    async fn wait_and_run(
        &self,
        plan: Arc<Plan>,
        run_log: RunLog,
        session: Arc<RegisteredSession>,
        ticket: Ticket,
        granted: oneshot::Receiver<()>,
        queue_timeout: Option<Duration>,
    ) {
        let inner = &self.inner;
        inner.start_reaping();
        let has_waited = inner.position(&session).is_some();
        let waited = async {
            match queue_timeout {
                Some(limit) => sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let may_run = tokio::select! {
            biased;
            granted = granted => granted.is_ok(),
            () = session.live.stop_wanted() => false,
            () = waited => {
                let error = NotStarted::launch("waited too long for a free place");
                session::fail(&run_log, &session.live, error).await;
                false
            }
        };
        let was_queued = session.live.state().stage == Stage::Queued;
        if !may_run || (was_queued && session.live.stop_requested()) {
            if !session.live.is_over() {
                session::stop_unstarted(&run_log, &session.live).await;
            }
        } else if let Some(refusal) = self
            .spent_meanwhile(&plan, &run_log, &session, has_waited)
            .await
        {
            session::fail(&run_log, &session.live, NotStarted::launch(refusal)).await;
        } else {
            let outcome = session::run(Arc::clone(&plan), Arc::clone(&session.live), run_log).await;
            self.cool_down_if_limited(&plan, outcome).await;
        }
        inner.leave(&plan.company, ticket);
        inner.remember_less();
    }

    /// Starts a cool-down of the provider if the outcome is a rate limit.
    pub(super) async fn cool_down_if_limited(&self, plan: &Plan, outcome: Option<Outcome>) {
        let Some(outcome) = outcome else {
            return;
        };
        if outcome.error_class == Some(ErrorClass::RateLimited) {
            let retry_at = session::retry_at(plan, Some(&outcome));
            let detail = outcome.error.unwrap_or_default();
            let (company, strain) = (&plan.company, Strain::RateLimit);
            self.inner
                .cool_down(company, &plan.provider, strain, &detail, retry_at)
                .await;
        }
    }
}

impl Inner {
    /// Reads the run and the actor of a launch and makes the plan. With `explain_run` the run need not exist.
    pub(super) fn read(
        &self,
        params: &CompanySessionLaunchParams,
        extra: Extra,
    ) -> Result<(Plan, Arc<Run>, Actor), Error> {
        let company = self.companies.open(&params.workspace_dir)?;
        let path = format!(
            "{}/run.yaml",
            layout::run(&params.project_id, &params.run_id)
        );
        let unmade = params
            .explain_run
            .as_ref()
            .filter(|_| params.explain == Some(true));
        let run: Arc<Run> = match unmade {
            Some(wanted) => Arc::new(company::execution::run::unmade(
                &company,
                &params.project_id,
                &params.run_id,
                &wanted.agent_id,
                &wanted.provider,
            )?),
            None => company
                .read(&path)
                .map_err(|error| error.or_not_found("Run", params.run_id.as_str()))?,
        };
        let actor = actor(&company, params)?;
        let in_place = InPlace::requested(params.in_place, &actor)?;
        let plan = Plan::new(company, params, &run, &self.options, in_place, extra);
        Ok((plan, run, actor))
    }
}

fn launched(
    session: &RegisteredSession,
    waiting: Option<(u64, CompanySessionQueueReason)>,
) -> CompanySessionLaunchResponse {
    let state = session.live.state();
    CompanySessionLaunchResponse {
        session_ref: state.record.session_ref.to_string(),
        state: match state.record.status {
            RunStatus::Running if waiting.is_some() => CompanySessionLaunchState::Queued,
            RunStatus::Running => CompanySessionLaunchState::Running,
            RunStatus::Ended => CompanySessionLaunchState::Ended,
            RunStatus::Failed => CompanySessionLaunchState::Failed,
            RunStatus::Stopped => CompanySessionLaunchState::Stopped,
        },
        queue_position: waiting.as_ref().map(|(position, _)| *position),
        queue_reason: waiting.map(|(_, reason)| reason),
        error: state.record.error,
        explain: None,
        warnings: session.warnings.clone(),
    }
}
