//! What becomes of one action in the world: done, or written down for somebody to decide.
//!
//! An action is remembered before it is done. A process that ends in between leaves an action that was not done
//! rather than one that is done twice; a job has an id made from the action's key, so it cannot be started twice.

use company::{
    Company, Error, comment, heartbeat as files, layout,
    policy::{self, Action, Actor, Resource},
    secret,
};
use protocol::{
    Id as _,
    company::{
        AgentId, DocumentId, JobKind, ProjectId, RunId, TaskId, Text, Visibility,
        heartbeat::{HeartbeatConfig, HeartbeatState, ProposedAction, TargetRole},
        job::JobSpec,
    },
};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    arbitration::{HardStop, Verdict, arbitrate, arbitrate_approved},
    triage::Moment,
};
use crate::{
    Jobs, Resubmit,
    budget::{self, Budgets, Spent},
};

/// What blacked-out text looks like.
const REDACTED: &str = "[REDACTED";

/// What became of actions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Carried {
    /// How many were done.
    pub executed_actions: u64,
    /// How many wait for a decision.
    pub queued_for_approval: u64,
    /// How many were seen before.
    pub deduped_actions: u64,
    /// How many could not even be decided about.
    pub skipped_actions: u64,
    /// The proposals that were written.
    pub proposal_artifact_ids: Vec<String>,
    /// The jobs that were started.
    pub launched_job_ids: Vec<String>,
}

/// Where an action comes from.
#[derive(Clone, Debug)]
pub(crate) struct Source<'a> {
    /// The worker that wants it.
    pub(crate) worker: &'a str,
    /// The run it said so in.
    pub(crate) run: &'a str,
    /// What that run was given to know.
    pub(crate) context_pack: &'a str,
    /// In whose name it is done.
    pub(crate) actor: &'a Actor,
}

/// Decides about an action of a report and does what was decided.
pub(crate) fn report(
    jobs: &Jobs,
    company: &Company,
    action: &ProposedAction,
    source: &Source<'_>,
    (config, now, done_this_tick): (&HeartbeatConfig, Moment, u32),
    carried: &mut Carried,
) -> Result<(), Error> {
    let stop = hard_stop(company, action, source.actor);
    let verdict = change_state(company, |state| {
        arbitrate(action, stop.as_ref(), state, config, now, done_this_tick)
    })?;
    match verdict {
        Verdict::Deduped => carried.deduped_actions += 1,
        Verdict::Skip(_) => carried.skipped_actions += 1,
        Verdict::Queue(reason) => {
            let redacts = stop == Some(HardStop::SecretRisk);
            let id = propose(company, action, source, &reason, redacts)?;
            carried.queued_for_approval += 1;
            carried.proposal_artifact_ids.push(id.to_string());
        }
        Verdict::Execute => match execute(jobs, company, action, source.actor) {
            Ok(job) => {
                carried.executed_actions += 1;
                carried.launched_job_ids.extend(job);
            }
            Err(error) if action.project_id().is_some() => {
                let reason = format!("hard_stop: {error}");
                let id = propose(company, action, source, &reason, false)?;
                carried.queued_for_approval += 1;
                carried.proposal_artifact_ids.push(id.to_string());
            }
            Err(_) => carried.skipped_actions += 1,
        },
    }
    Ok(())
}

/// Whether an approved action may be carried out at all. Budgets may be overridden by who approves; secrets and the
/// limits between teams may not.
pub(crate) fn check_approved(
    company: &Company,
    action: &ProposedAction,
    approver: &Actor,
) -> Result<(), Error> {
    let action = unwrapped(action);
    if strings_of(action)
        .iter()
        .any(|text| text.contains(REDACTED))
    {
        let message = "a proposal whose secrets were blacked out cannot be carried out";
        return Err(Error::Refused(message.to_owned()));
    }
    match hard_stop(company, action, approver) {
        Some(stop @ (HardStop::SecretRisk | HardStop::CrossTeam)) => {
            Err(Error::Refused(stop.reason()))
        }
        Some(HardStop::Budget | HardStop::PolicyDenied(_)) | None => Ok(()),
    }
}

/// Carries out an action somebody approved, once.
pub(crate) fn approved(
    jobs: &Jobs,
    company: &Company,
    action: &ProposedAction,
    approver: &Actor,
    now: Moment,
) -> Result<Carried, Error> {
    check_approved(company, action, approver)?;
    let action = unwrapped(action);
    let config = files::setting(company).config;
    let verdict = change_state(company, |state| {
        arbitrate_approved(action, state, &config, now)
    })?;
    let mut carried = Carried::default();
    match verdict {
        Verdict::Deduped => {
            carried.deduped_actions += 1;
            // It may have been remembered by a process that ended before it was done: a job tells.
            if let ProposedAction::LaunchJob { .. } = action {
                carried
                    .launched_job_ids
                    .extend(launch_again(jobs, company, action, approver)?);
            }
        }
        Verdict::Execute => {
            carried
                .launched_job_ids
                .extend(execute(jobs, company, action, approver)?);
            carried.executed_actions += 1;
        }
        Verdict::Queue(_) | Verdict::Skip(_) => carried.skipped_actions += 1,
    }
    Ok(carried)
}

/// What an approval is about: what it proposes, if it proposes something.
fn unwrapped(action: &ProposedAction) -> &ProposedAction {
    match action {
        ProposedAction::CreateApprovalItem {
            proposed_action: Some(inner),
            ..
        } => inner,
        ProposedAction::CreateApprovalItem {
            proposed_action: None,
            ..
        }
        | ProposedAction::LaunchJob { .. }
        | ProposedAction::AddComment { .. }
        | ProposedAction::Noop { .. } => action,
    }
}

/// Changes what the heartbeat remembers as it is on disk.
pub(crate) fn change_state<R>(
    company: &Company,
    change: impl FnOnce(&mut HeartbeatState) -> R,
) -> Result<R, Error> {
    company.write(|writer| {
        // A damaged file is put aside when the new one is written.
        let mut state = files::state(company).unwrap_or_else(|_| HeartbeatState {
            schema_version: 1,
            ..HeartbeatState::default()
        });
        let done = change(&mut state);
        writer.put_heartbeat_state(&state)?;
        Ok(done)
    })
}

/// Why an action cannot just happen.
fn hard_stop(company: &Company, action: &ProposedAction, actor: &Actor) -> Option<HardStop> {
    let visibility = match action {
        ProposedAction::LaunchJob { visibility, .. }
        | ProposedAction::AddComment { visibility, .. }
        | ProposedAction::CreateApprovalItem { visibility, .. }
        | ProposedAction::Noop { visibility, .. } => visibility.unwrap_or(Visibility::Managers),
    };
    let resource = Resource {
        kind: Some(action.kind()),
        producing_actor_id: Some(&actor.id),
        team_id: actor.team_id.as_deref(),
        ..Resource::visible(visibility)
    };
    let decision = policy::decide(actor, Action::Launch, &resource);
    if !decision.allowed {
        return Some(HardStop::PolicyDenied(decision.rule_id.to_owned()));
    }
    if strings_of(action)
        .iter()
        .any(|text| secret::detect(text).total() > 0)
    {
        return Some(HardStop::SecretRisk);
    }
    let ProposedAction::LaunchJob {
        project_id,
        target_role,
        worker_agent_id,
        task_id,
        ..
    } = unwrapped(action)
    else {
        return None;
    };
    let is_director = actor.role == protocol::company::ActorRole::Director;
    if let (true, Some(team), Some(TargetRole::Worker), Some(worker)) =
        (is_director, &actor.team_id, target_role, worker_agent_id)
    {
        let agent = AgentId::parse(worker).ok().and_then(|id| {
            let path = format!("{}/agent.yaml", layout::agent(&id));
            company.read::<company::document::Agent>(&path).ok()
        });
        if agent.and_then(|agent| agent.team_id.clone()).as_ref() != Some(team) {
            return Some(HardStop::CrossTeam);
        }
    }
    let project = ProjectId::parse(project_id).ok()?;
    let task = task_id.as_deref().and_then(|task| TaskId::parse(task).ok());
    let budgets = Budgets::of(company, &project, None, task.as_ref());
    let nothing = Spent::default();
    let checks = budgets
        .checks(company, &project, nothing, &|_| nothing)
        .ok()?;
    budget::is_exceeded(&checks).then_some(HardStop::Budget)
}

/// Every text in an action, however deep.
fn strings_of(action: &ProposedAction) -> Vec<String> {
    fn collect(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            Value::Object(object) => object.values().for_each(|item| collect(item, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut found = Vec::new();
    collect(&json!(action), &mut found);
    found
}

/// Does an action. The id of a job it started is answered.
fn execute(
    jobs: &Jobs,
    company: &Company,
    action: &ProposedAction,
    actor: &Actor,
) -> Result<Option<String>, Error> {
    match action {
        ProposedAction::Noop { .. } | ProposedAction::CreateApprovalItem { .. } => Ok(None),
        ProposedAction::AddComment {
            project_id,
            body,
            target_agent_id,
            target_artifact_id,
            target_run_id,
            visibility,
            ..
        } => {
            let run_id = target_run_id.as_deref().map(RunId::parse).transpose();
            comment::add(
                company,
                comment::NewComment {
                    project_id: parsed(project_id)?,
                    author: actor.clone(),
                    body: body.to_string(),
                    agent_id: target_agent_id.as_ref().map(Text::to_string),
                    artifact_id: target_artifact_id.as_ref().map(Text::to_string),
                    run_id: run_id.map_err(|error| Error::Refused(error.to_string()))?,
                    visibility: visibility.unwrap_or(Visibility::Managers),
                },
            )?;
            Ok(None)
        }
        ProposedAction::LaunchJob { .. } => launch_again(jobs, company, action, actor),
    }
}

fn parsed(project: &str) -> Result<ProjectId, Error> {
    ProjectId::parse(project).map_err(|error| Error::Refused(error.to_string()))
}

/// Starts the job of an action unless it was started before.
fn launch_again(
    jobs: &Jobs,
    company: &Company,
    action: &ProposedAction,
    actor: &Actor,
) -> Result<Option<String>, Error> {
    let spec = job_of(company, action, actor)?;
    let id = spec.job_id.to_string();
    let project = spec.project_id.clone();
    let job =
        protocol::company::JobId::parse(&id).map_err(|error| Error::Refused(error.to_string()))?;
    if company::job::record(company, &project, &job).is_ok() {
        return Ok(None);
    }
    match jobs.submit_here(spec, Resubmit::Refuse) {
        Ok(submitted) => Ok(Some(submitted.job_id.to_string())),
        Err(crate::Error::Company(error)) => Err(error),
        Err(other) => Err(Error::Refused(other.to_string())),
    }
}

/// The contract of an action.
fn job_of(company: &Company, action: &ProposedAction, actor: &Actor) -> Result<JobSpec, Error> {
    let ProposedAction::LaunchJob {
        idempotency_key,
        project_id,
        goal,
        job_kind,
        target_role,
        worker_kind,
        worker_agent_id,
        constraints,
        deliverables,
        permission_level,
        context_note,
        ..
    } = action
    else {
        return Err(Error::Refused("the action starts no job".to_owned()));
    };
    let digest = Sha256::digest(format!("{project_id}\n{idempotency_key}"));
    let digest: String = digest
        .iter()
        .take(13)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let note = context_note.as_ref().map_or_else(
        || format!("heartbeat_action={idempotency_key}"),
        Text::to_string,
    );
    let mut seeds = vec![json!({"kind": "note", "value": note})];
    if let Some(role) = target_role {
        seeds.push(json!({"kind": "note", "value": format!("target_role={}", word(role))}));
    }
    let deliverables = match deliverables.is_empty() {
        true => vec![crate::job::text("A result that says what was done")],
        false => deliverables.clone(),
    };
    let spec = json!({
        "job_id": format!("job_hb_{digest}"),
        "job_kind": job_kind.unwrap_or(JobKind::Execution),
        "worker_kind": worker_kind,
        "workspace_dir": company.given(),
        "project_id": project_id,
        "goal": goal,
        "constraints": constraints,
        "deliverables": deliverables,
        "permission_level": permission_level,
        "context_refs": seeds,
        "worker_agent_id": worker_agent_id,
        "manager_actor_id": actor.id,
        "manager_role": actor.role,
        "manager_team_id": actor.team_id,
    });
    serde_json::from_value(spec).map_err(|error| Error::Refused(error.to_string()))
}

fn word(role: &TargetRole) -> String {
    json!(role).as_str().unwrap_or_default().to_owned()
}

/// Writes an action down for somebody to decide.
fn propose(
    company: &Company,
    action: &ProposedAction,
    source: &Source<'_>,
    reason: &str,
    redacts: bool,
) -> Result<DocumentId, Error> {
    #[derive(Serialize)]
    struct Head<'a> {
        schema_version: u32,
        r#type: &'static str,
        id: &'a DocumentId,
        created_at: String,
        title: &'a str,
        visibility: Visibility,
        produced_by: &'a str,
        run_id: &'a str,
        context_pack_id: &'a str,
        project_id: &'a str,
        proposed_action: &'a Value,
        rationale: &'a str,
    }
    let kind = action.kind();
    let (title, proposed) = match action {
        ProposedAction::CreateApprovalItem {
            title,
            proposed_action: Some(inner),
            ..
        } => (title.to_string(), json!(inner)),
        ProposedAction::CreateApprovalItem {
            title,
            idempotency_key,
            ..
        } => {
            let noop = json!({
                "kind": "noop", "idempotency_key": format!("{idempotency_key}:noop"), "risk": "low",
                "needs_approval": false, "reason": "approved without an action",
            });
            (title.to_string(), noop)
        }
        ProposedAction::LaunchJob { .. }
        | ProposedAction::AddComment { .. }
        | ProposedAction::Noop { .. } => (format!("Heartbeat approval: {kind}"), json!(action)),
    };
    let clean = |text: &str| match redacts {
        true => secret::redact(text).0.into_owned(),
        false => text.to_owned(),
    };
    let proposed: Value = match redacts {
        true => {
            let text = proposed.to_string();
            serde_json::from_str(&secret::redact_json(&text).0).map_err(|error| {
                Error::Refused(format!("an action cannot be blacked out: {error}"))
            })?
        }
        false => proposed,
    };
    let (title, reason) = (clean(&title), clean(reason));
    let id: DocumentId = company.sources().id();
    let project = parsed(action.project_id().map_or("", Text::as_str))?;
    let shown = shown(&proposed);
    let note = match redacts {
        true => {
            "\n\nredacted: true. It cannot be carried out; ask for it again without the secret."
        }
        false => "",
    };
    company.write(|writer| {
        let head = writer.yaml(&Head {
            schema_version: 1,
            r#type: "heartbeat_action_proposal",
            id: &id,
            created_at: company.sources().now_text(),
            title: &title,
            visibility: Visibility::Managers,
            produced_by: source.worker,
            run_id: source.run,
            context_pack_id: source.context_pack,
            project_id: project.as_str(),
            proposed_action: &proposed,
            rationale: &reason,
        })?;
        let text = format!(
            "---\n{head}---\n\n# {title}\n\n## Summary\n\nCoordinator queued {kind} from {} for manager approval.\n\n\
             ## Proposed Action\n\n```json\n{shown}\n```\n\n## Policy\n\nRequires manager approval before execution.{note}\n",
            source.worker
        );
        writer.put_text(&layout::document(&project, &id), &text)
    })?;
    Ok(id)
}

/// An action as people read it: what it is and how risky before what it says.
fn shown(action: &Value) -> String {
    const FIRST: [&str; 8] = [
        "idempotency_key",
        "risk",
        "needs_approval",
        "visibility",
        "summary",
        "kind",
        "project_id",
        "body",
    ];
    let fields = action.as_object().into_iter().flatten();
    let rest = fields.filter(|(name, _)| !FIRST.contains(&name.as_str()));
    let first = FIRST
        .iter()
        .filter_map(|name| Some((*name, action.get(name)?)));
    let lines: Vec<_> = first
        .chain(rest.map(|(name, value)| (name.as_str(), value)))
        .map(|(name, value)| format!("  {}: {value}", json!(name)))
        .collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}
