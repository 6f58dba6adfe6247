//! Fills the documents of a planning package: a worker writes each document in a session of its own, subject to policy,
//! guard and budgets like any other session. A failure is recorded as a report, and the document stays unchanged.

use std::sync::Arc;

use company::{
    Company,
    document::Agent,
    execution::run::{self, CreatedRun},
    layout,
    pipeline::{
        fill::{self, Target},
        intake::Package,
    },
};
use protocol::{
    Id as _, MayExec,
    company::{
        AgentId, PermissionLevel, RunStatus, Text, WorkerKind,
        pipeline::PipelineClientIntakeRunResponse, session::CompanySessionLaunchParams,
    },
};
use serde_json::json;
use sessions::{Error, Extra, RunLog, Sessions, blocking::blocking};

use crate::job::{ATTEMPT, answer_texts, close_run, failed, kind_of, worker};

/// Fills all target documents of a package, one after the other, and returns the package's response with the counts of
/// documents that were written and that failed.
pub async fn fill(
    sessions: &Sessions,
    company: &Company,
    package: Package,
    model: &str,
    may: MayExec,
) -> Result<PipelineClientIntakeRunResponse, Error> {
    let mut response = package.response.clone();
    let lead = package.targets.first();
    let lead = lead.and_then(|target| read(company, target).ok());
    let filling = Filling {
        sessions,
        company,
        package: Arc::new(package),
        model,
        may,
        kind: kind_of_model(model).or_else(|| lead.as_deref().map(kind_of)),
        lead,
    };
    for target in &filling.package.targets {
        response.generation.attempted += 1;
        let mut made = None;
        let written = filling.write(target, &mut made).await;
        let (company, package) = (company.clone(), Arc::clone(&filling.package));
        let target = target.clone();
        let failure = blocking(move || {
            let accepted = match (&written, &made) {
                (Ok(answer), Some(run)) => {
                    fill::accept(&company, &package.response, &target, run, answer)
                }
                (Ok(_), None) => Ok(()),
                (Err(error), _) => Err(company::Error::Refused(error.to_string())),
            };
            let Err(error) = accepted else {
                return Ok(None);
            };
            let (response, error) = (&package.response, error.to_string());
            fill::give_up(&company, response, &target, made.as_ref(), &error).map(Some)
        })
        .await?;
        match failure {
            None => response.generation.succeeded += 1,
            Some(report) => {
                response.generation.failed += 1;
                response.generation.failure_artifact_ids.push(report);
            }
        }
    }
    Ok(response)
}

/// The worker program that runs a model, derived from the name of the model. `None` if the name is unknown.
fn kind_of_model(name: &str) -> Option<WorkerKind> {
    let name = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(&["claude", "opus", "sonnet", "haiku"]) {
        Some(WorkerKind::Claude)
    } else if has(&["gemini"]) {
        Some(WorkerKind::Gemini)
    } else if has(&["gpt", "codex"]) {
        Some(WorkerKind::Codex)
    } else {
        None
    }
}

fn read(company: &Company, target: &Target) -> Result<Arc<Agent>, company::Error> {
    let id = AgentId::parse(&target.agent_id)
        .map_err(|error| company::Error::Refused(error.to_string()))?;
    let path = format!("{}/agent.yaml", layout::agent(&id));
    let agent = company.read::<Agent>(&path);
    agent.map_err(|error| error.or_not_found("Agent", id.as_str()))
}

/// A package whose documents are being filled.
struct Filling<'a> {
    sessions: &'a Sessions,
    company: &'a Company,
    package: Arc<Package>,
    /// The requested model.
    model: &'a str,
    may: MayExec,
    /// The worker program that runs the model. For a model of unknown name it is the program of the lead agent.
    kind: Option<WorkerKind>,
    /// The agent of the first target, which leads the project and is the actor of the launches.
    lead: Option<Arc<Agent>>,
}

impl Filling<'_> {
    /// The model for an agent: the requested one if the agent's program runs it, else the agent's own preference.
    fn model_of<'b>(&'b self, agent: &'b Agent) -> Option<&'b str> {
        if self.kind == Some(kind_of(agent)) {
            Some(self.model)
        } else {
            agent.model_hint.as_deref()
        }
    }

    /// Runs a worker that writes a document, and returns its output. Sets `made` as soon as the run is created, so that
    /// the caller has it also after an error.
    async fn write(&self, target: &Target, made: &mut Option<CreatedRun>) -> Result<String, Error> {
        if self.sessions.is_closing() {
            return Err(Error::Closing);
        }
        let project = self.package.response.project_id.clone();
        let (agent, run, prompt) = {
            let (company, package) = (self.company.clone(), Arc::clone(&self.package));
            let (target, project) = (target.clone(), project.clone());
            blocking(move || {
                let agent = read(&company, &target)?;
                let id = AgentId::parse(&agent.id)
                    .map_err(|error| company::Error::Refused(error.to_string()))?;
                let run = run::create(&company, &project, &id, &agent.provider)?;
                let prompt = fill::prompt(&company, &package, &target, &run)?;
                Ok((agent, run, prompt))
            })
            .await?
        };
        *made = Some(run.clone());
        let run_log = RunLog {
            company: self.company.clone(),
            project,
            session_ref: format!("fill_{}", run.run_id),
            run: run.run_id,
        };
        let answered = self.ask(&run_log, &agent, prompt).await;
        if let Err(error) = &answered {
            let (run_log, error) = (run_log.clone(), error.to_string());
            let closed = blocking(move || close_run(&run_log, "launch_failed", &error));
            if let Err(error) = closed.await {
                tracing::warn!(%error, "the run of a document cannot be closed");
            }
        }
        answered
    }

    async fn ask(&self, run_log: &RunLog, agent: &Agent, prompt: String) -> Result<String, Error> {
        let lead = self.lead.as_deref();
        let params = json!({
            "workspace_dir": run_log.company.given(),
            "project_id": run_log.project,
            "run_id": run_log.run,
            "session_ref": run_log.session_ref,
            "actor_id": lead.map(|lead| &lead.id),
            "actor_role": lead.map(|lead| lead.role),
            "timeout_ms": u64::try_from(ATTEMPT.as_millis()).unwrap_or(u64::MAX),
            "apply_guard": true,
        });
        let mut params: CompanySessionLaunchParams = serde_json::from_value(params)
            .map_err(|error| company::Error::Refused(error.to_string()))?;
        params.model = self.model_of(agent).and_then(Text::new);
        worker::set_prompt(&mut params, agent, prompt, PermissionLevel::ReadOnly)?;
        let dir = params.workspace_dir.clone();
        let extra = Extra {
            is_worker: true,
            is_one_shot: true,
            ..Extra::default()
        };
        self.sessions.launch_with(params, extra, self.may).await?;
        let over = self.sessions.over(&dir, &run_log.session_ref).await;
        let Some((record, outcome)) = over else {
            return Err(Error::Unknown(run_log.session_ref.clone()));
        };
        let run_log = run_log.clone();
        let answer = blocking(move || {
            let (company, project, run) = (&run_log.company, &run_log.project, &run_log.run);
            match record.status {
                RunStatus::Ended => Ok(answer_texts(company, project, run, outcome).output),
                RunStatus::Failed | RunStatus::Stopped | RunStatus::Running => {
                    let failed = failed(company, project, run, &record, outcome.as_ref());
                    Err(company::Error::Refused(failed.error))
                }
            }
        });
        Ok(answer.await?)
    }
}
