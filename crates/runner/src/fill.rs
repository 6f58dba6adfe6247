//! Lets workers write the documents of a planning package: one session each, under policy, guard and budgets like any
//! other. Whatever goes wrong is written down and the document stays as it was.

use std::sync::Arc;

use company::{
    Company,
    document::Agent,
    layout,
    pipeline::{
        fill::{self, Target},
        intake::Package,
    },
    run::{self, CreatedRun},
};
use protocol::{
    Id as _,
    company::{
        ActorRole, AgentId, PermissionLevel, RunStatus, Text, WorkerKind,
        pipeline::PipelineClientIntakeRunResponse, session::CompanySessionLaunchParams,
    },
};
use serde_json::json;

use crate::{
    Error, Sessions,
    job::{ATTEMPT, close_run, failed, kind_of, said, worker},
    plan::Extra,
    scribe::Scribe,
    session::blocking,
};

/// Lets workers write everything they may, and answers what came of it.
pub async fn fill(
    sessions: &Sessions,
    company: &Company,
    package: Package,
    model: &str,
) -> Result<PipelineClientIntakeRunResponse, Error> {
    let mut response = package.response.clone();
    let package = Arc::new(package);
    let lead = package
        .targets
        .first()
        .and_then(|target| read(company, target).ok());
    let model = Model::new(model, lead.as_deref());
    for target in &package.targets {
        response.generation.attempted += 1;
        let mut made = None;
        let written = write(sessions, company, &package, target, &model, &mut made).await;
        let (company, package, target) = (company.clone(), Arc::clone(&package), target.clone());
        let failure = blocking(move || {
            let accepted = match (&written, &made) {
                (Ok(answer), Some(run)) => {
                    fill::accept(&company, &package.response, &target, run, answer)
                }
                (Ok(_), None) => Ok(()),
                (Err(error), _) => Err(company::Error::Refused(error.to_string())),
            };
            match accepted {
                Ok(()) => Ok(None),
                Err(error) => fill::give_up(
                    &company,
                    &package.response,
                    &target,
                    made.as_ref(),
                    &error.to_string(),
                )
                .map(Some),
            }
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

/// The model somebody asked for, and whose it is.
struct Model<'a> {
    name: &'a str,
    kind: Option<WorkerKind>,
}

impl<'a> Model<'a> {
    /// By its name; a name nobody knows is one of the provider that leads.
    fn new(name: &'a str, lead: Option<&Agent>) -> Self {
        let lower = name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let kind = if has(&["claude", "opus", "sonnet", "haiku"]) {
            Some(WorkerKind::Claude)
        } else if has(&["gemini"]) {
            Some(WorkerKind::Gemini)
        } else if has(&["gpt", "codex"]) {
            Some(WorkerKind::Codex)
        } else {
            lead.map(kind_of)
        };
        Self { name, kind }
    }

    /// The model for an agent: this one if it is of its provider, else the agent's own.
    fn of<'b>(&'b self, agent: &'b Agent) -> Option<&'b str> {
        match self.kind == Some(kind_of(agent)) {
            true => Some(self.name),
            false => agent.model_hint.as_deref(),
        }
    }
}

fn read(company: &Company, target: &Target) -> Result<Arc<Agent>, company::Error> {
    let id = AgentId::parse(&target.agent_id)
        .map_err(|error| company::Error::Refused(error.to_string()))?;
    let path = format!("{}/agent.yaml", layout::agent(&id));
    let agent = company.read::<Agent>(&path);
    agent.map_err(|error| error.or_not_found("Agent", id.as_str()))
}

/// Asks a worker for a document and answers what it said. The run is told as soon as there is one.
async fn write(
    sessions: &Sessions,
    company: &Company,
    package: &Arc<Package>,
    target: &Target,
    model: &Model<'_>,
    made: &mut Option<CreatedRun>,
) -> Result<String, Error> {
    if sessions.is_closing() {
        return Err(Error::Closing);
    }
    let project = package.response.project_id.clone();
    let (agent, run, prompt) = {
        let (company, package, target) = (company.clone(), Arc::clone(package), target.clone());
        let project = project.clone();
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
    let scribe = Scribe {
        company: company.clone(),
        project: project.clone(),
        run: run.run_id.clone(),
        session_ref: format!("fill_{}", run.run_id),
    };
    let answered = ask(sessions, &scribe, package, &agent, model.of(&agent), prompt).await;
    if let Err(error) = &answered {
        let (scribe, error) = (scribe.clone(), error.to_string());
        let closed = blocking(move || close_run(&scribe, "launch_failed", &error));
        if let Err(error) = closed.await {
            tracing::warn!(%error, "the run of a document cannot be closed");
        }
    }
    answered
}

async fn ask(
    sessions: &Sessions,
    scribe: &Scribe,
    package: &Package,
    agent: &Arc<Agent>,
    model: Option<&str>,
    prompt: String,
) -> Result<String, Error> {
    let lead = package
        .targets
        .first()
        .map(|target| target.agent_id.clone());
    let params = json!({
        "workspace_dir": scribe.company.given(),
        "project_id": scribe.project,
        "run_id": scribe.run,
        "session_ref": scribe.session_ref,
        "actor_id": lead,
        "actor_role": ActorRole::Manager,
        "timeout_ms": u64::try_from(ATTEMPT.as_millis()).unwrap_or(u64::MAX),
        "apply_guard": true,
    });
    let mut params: CompanySessionLaunchParams = serde_json::from_value(params)
        .map_err(|error| company::Error::Refused(error.to_string()))?;
    params.model = model.and_then(Text::new);
    worker::dress(&mut params, agent, prompt, PermissionLevel::ReadOnly)?;
    let dir = params.workspace_dir.clone();
    let extra = Extra {
        scratch: true,
        ..Extra::default()
    };
    sessions.launch_with(params, extra).await?;
    let over = sessions.over(&dir, &scribe.session_ref).await;
    let Some((record, outcome)) = over else {
        return Err(Error::Unknown(scribe.session_ref.clone()));
    };
    let scribe = scribe.clone();
    let answer = blocking(move || {
        let (company, project, run) = (&scribe.company, &scribe.project, &scribe.run);
        match record.status {
            RunStatus::Ended => Ok(said(company, project, run, outcome).output),
            RunStatus::Failed | RunStatus::Stopped | RunStatus::Running => {
                let failed = failed(company, project, run, &record, outcome.as_ref());
                Err(company::Error::Refused(failed.error))
            }
        }
    });
    Ok(answer.await?)
}
