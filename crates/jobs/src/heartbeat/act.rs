//! Executes an action, or writes a proposal that waits for a decision.
//!
//! The intent to execute an action is written together with the heartbeat state, with the ids of the documents that the
//! action creates. If the process ends before the action is executed, the next tick executes it under the same ids, so
//! that it happens once.

use company::{
    Company, Error,
    conversation::comment,
    execution::heartbeat::{self as files, Undone},
    format::front_matter,
    layout,
    policy::{self, Action, Actor, Resource, Subject},
    secret,
};
use protocol::{
    Id as _, MayExec,
    company::{
        AgentId, DocumentId, JobKind, ProjectId, RunId, TaskId, Text, Visibility,
        heartbeat::{HeartbeatConfig, HeartbeatState, ProposedAction, TargetRole},
        job::JobSpec,
    },
};
use serde::Serialize;
use serde_json::{Value, json};
use sessions::{
    ProcessId,
    budget::{self, Budgets, Spent},
};

use super::{
    arbitration::{
        ActionDecision, HardStop, arbitrate, arbitrate_approved, hour_key, queue_instead, resume,
    },
    triage::Moment,
};
use crate::{JobPlacement, Jobs, Resubmit};

/// Beginning of the marker that replaces a secret.
const REDACTED: &str = "[REDACTED";

/// Result of processing actions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActionTotals {
    /// Number of executed actions.
    pub executed_actions: u64,
    /// Number of actions that were queued for a decision.
    pub queued_for_approval: u64,
    /// Number of actions that were ignored because their idempotency key was seen before.
    pub deduped_actions: u64,
    /// Number of actions that need a decision but cannot be queued, because they name no project.
    pub skipped_actions: u64,
    /// Ids of the proposals that were written.
    pub proposal_artifact_ids: Vec<String>,
    /// Ids of the jobs that were started.
    pub launched_job_ids: Vec<String>,
}

/// The origin of an action.
#[derive(Clone, Debug)]
pub(crate) struct Source<'a> {
    /// Id of the worker that proposed the action.
    pub(crate) worker: &'a str,
    /// Id of the run in which the worker reported the action. `none` if there is no run.
    pub(crate) run: &'a str,
    /// Id of the context pack of that run. `none` if there is none.
    pub(crate) context_pack: &'a str,
    /// The actor on whose behalf the action is executed.
    pub(crate) actor: &'a Actor,
}

/// The job runner, with the permission to start jobs.
#[derive(Clone, Copy)]
pub(crate) struct Starter<'a> {
    pub(crate) jobs: &'a Jobs,
    pub(crate) may: MayExec,
}

/// Decides about an action of a worker's report, and executes, queues or skips it.
pub(crate) fn report(
    jobs: Starter<'_>,
    company: &Company,
    action: &ProposedAction,
    source: &Source<'_>,
    (config, now, done_this_tick): (&HeartbeatConfig, Moment, u32),
    totals: &mut ActionTotals,
) -> Result<(), Error> {
    let stop = hard_stop(company, action, source.worker, source.actor);
    let undone = company.write(|writer| {
        let mut state = remembered(company);
        let stop = stop.as_ref();
        let verdict = arbitrate(action, stop, &mut state, config, now, done_this_tick);
        match verdict {
            ActionDecision::Deduped => {
                totals.deduped_actions += 1;
                writer.put_heartbeat_state(&state)?;
                Ok(None)
            }
            ActionDecision::Skip(_) => {
                totals.skipped_actions += 1;
                audit(company, action, source, stop);
                writer.put_heartbeat_state(&state)?;
                Ok(None)
            }
            ActionDecision::Queue(reason) => {
                let redacts = stop == Some(&HardStop::SecretRisk);
                let (id, proposal) = proposal(company, action, source, &reason, redacts)?;
                audit(company, action, source, stop);
                writer.propose_action(&state, proposal, None)?;
                totals.queued_for_approval += 1;
                totals.proposal_artifact_ids.push(id.to_string());
                Ok(None)
            }
            ActionDecision::Execute => {
                let undone = new_intent(company, action, source, Some(hour_key(now)));
                writer.begin_action(&state, &undone)?;
                Ok(Some(undone))
            }
        }
    })?;
    match undone {
        Some(undone) => finish(jobs, company, &undone, totals),
        None => Ok(()),
    }
}

/// Executes the actions that ended processes left unfinished, within the limits of this tick and hour.
pub(crate) fn resume_left(
    jobs: Starter<'_>,
    company: &Company,
    config: &HeartbeatConfig,
    now: Moment,
    totals: &mut ActionTotals,
) -> Result<(), Error> {
    for left in files::undone(company)? {
        let done = u32::try_from(totals.executed_actions).unwrap_or(u32::MAX);
        if let Some(undone) = claim(company, &left, config, now, done)? {
            finish(jobs, company, &undone, totals)?;
        }
    }
    Ok(())
}

/// Claims an unfinished action for this process. Returns `None` if another live process owns it, if it is finished
/// meanwhile, or if the limits do not permit it now.
fn claim(
    company: &Company,
    left: &Undone,
    config: &HeartbeatConfig,
    now: Moment,
    done_this_tick: u32,
) -> Result<Option<Undone>, Error> {
    company.write(|writer| {
        let key = left.action.idempotency_key();
        let found = files::undone(company)?;
        let found = found
            .into_iter()
            .find(|undone| undone.action.idempotency_key() == key);
        let Some(mut undone) = found else {
            return Ok(None);
        };
        // The caller holds `Heartbeats::acting`, so no other task of this process works on an action that it owns.
        let is_ours = undone.owner == json!(ProcessId::own());
        let owner: Option<ProcessId> = serde_json::from_value(undone.owner.clone()).ok();
        if !is_ours && owner.is_some_and(|owner| owner.is_alive()) {
            return Ok(None);
        }
        let mut state = remembered(company);
        let Undone {
            action,
            counted_hour,
            ..
        } = &mut undone;
        if !resume(
            action,
            counted_hour,
            &mut state,
            config,
            now,
            done_this_tick,
        ) {
            return Ok(None);
        }
        undone.owner = json!(ProcessId::own());
        writer.begin_action(&state, &undone)?;
        Ok(Some(undone))
    })
}

/// The intent of this process to execute an action.
fn new_intent(
    company: &Company,
    action: &ProposedAction,
    source: &Source<'_>,
    counted_hour: Option<String>,
) -> Undone {
    let Actor { id, role, team_id } = source.actor;
    Undone {
        action: action.clone(),
        actor_id: id.clone(),
        actor_role: *role,
        actor_team_id: team_id.clone(),
        worker: source.worker.to_owned(),
        run: source.run.to_owned(),
        context_pack: source.context_pack.to_owned(),
        comment_id: company.sources().id(),
        job_id: company.sources().id(),
        counted_hour,
        owner: json!(ProcessId::own()),
    }
}

/// How often an action is attempted while another process holds a lock for longer than its timeout.
const MAX_ATTEMPTS: usize = 3;

/// Executes an action whose intent is written. An action of a report that fails becomes a proposal.
fn finish(
    jobs: Starter<'_>,
    company: &Company,
    undone: &Undone,
    totals: &mut ActionTotals,
) -> Result<(), Error> {
    let is_transient = |done: &Result<_, NotDone>| matches!(done, Err(NotDone::Refused(error)) if error.is_transient());
    let mut done = execute(jobs, company, undone);
    for _ in 1..MAX_ATTEMPTS {
        if is_transient(&done) {
            done = execute(jobs, company, undone);
        }
    }
    match done {
        Ok(job) => {
            company.write(|writer| writer.end_action(undone))?;
            totals.executed_actions += 1;
            totals.launched_job_ids.extend(job);
            Ok(())
        }
        // The intent stays, so that the next process executes the action.
        Err(NotDone::Closing) => Ok(()),
        // The next tick executes it under the same ids.
        Err(NotDone::Refused(error)) if error.is_transient() && undone.counted_hour.is_some() => {
            tracing::warn!(%error, "an action of a heartbeat is postponed to the next tick");
            Ok(())
        }
        Err(NotDone::Refused(error)) if undone.counted_hour.is_none() => {
            // An approved action: the approver gets the error, and the action is not attempted again.
            company.write(|writer| writer.end_action(undone))?;
            Err(error)
        }
        Err(NotDone::Refused(error)) => company.write(|writer| {
            let mut state = remembered(company);
            queue_instead(&undone.action, &mut state);
            let source = Source {
                worker: &undone.worker,
                run: &undone.run,
                context_pack: &undone.context_pack,
                actor: &undone.actor(),
            };
            if undone.action.project_id().is_none() {
                totals.skipped_actions += 1;
                writer.put_heartbeat_state(&state)?;
                return writer.end_action(undone);
            }
            let reason = format!("hard_stop: {error}");
            let (id, proposal) = proposal(company, &undone.action, &source, &reason, false)?;
            writer.propose_action(&state, proposal, Some(undone))?;
            totals.queued_for_approval += 1;
            totals.proposal_artifact_ids.push(id.to_string());
            Ok(())
        }),
    }
}

/// Why an action was not executed.
enum NotDone {
    /// The gateway is shutting down.
    Closing,
    /// The action failed.
    Refused(Error),
}

impl From<Error> for NotDone {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Records in the worker's run that policy denies the action.
fn audit(company: &Company, action: &ProposedAction, source: &Source<'_>, stop: Option<&HardStop>) {
    let project = action.project_id().and_then(|id| ProjectId::parse(id).ok());
    if let (Some(HardStop::PolicyDenied(_)), Some(project)) = (stop, project) {
        let subject = Subject {
            project: &project,
            run: Some(source.run),
            resource_id: action.idempotency_key(),
            resource: resource(action, source.worker, source.actor),
        };
        // The check is repeated only because it writes the denial into the run's events.
        let _ = policy::check(company, source.actor, Action::Launch, &subject);
    }
}

/// Checks whether an approved action may be executed. An approval overrides budgets and policy, but neither secrets nor
/// the limits between teams.
pub(crate) fn check_approved(
    company: &Company,
    action: &ProposedAction,
    approver: &Actor,
) -> Result<(), Error> {
    let action = effective_action(action);
    if strings_of(action)
        .iter()
        .any(|text| text.contains(REDACTED))
    {
        let message = "a proposal with redacted secrets cannot be totals out";
        return Err(Error::Refused(message.to_owned()));
    }
    match hard_stop(company, action, &approver.id, approver) {
        Some(stop @ (HardStop::SecretRisk | HardStop::CrossTeam)) => {
            Err(Error::Refused(stop.reason()))
        }
        Some(HardStop::Budget | HardStop::PolicyDenied(_)) | None => Ok(()),
    }
}

/// Executes an approved action, once.
pub(crate) fn approved(
    jobs: Starter<'_>,
    company: &Company,
    action: &ProposedAction,
    approver: &Actor,
    now: Moment,
) -> Result<ActionTotals, Error> {
    check_approved(company, action, approver)?;
    let action = effective_action(action);
    let config = files::setting(company).config;
    let mut totals = ActionTotals::default();
    // An ended process may have left the action unfinished.
    let left = files::undone(company)?;
    let key = action.idempotency_key();
    let left = left
        .iter()
        .find(|undone| undone.action.idempotency_key() == key);
    if let Some(left) = left
        && let Some(undone) = claim(company, left, &config, now, 0)?
    {
        finish(jobs, company, &undone, &mut totals)?;
        return Ok(totals);
    }
    let undone = company.write(|writer| {
        let mut state = remembered(company);
        let verdict = arbitrate_approved(action, &mut state, &config, now);
        match verdict {
            ActionDecision::Deduped => totals.deduped_actions += 1,
            ActionDecision::Queue(_) | ActionDecision::Skip(_) => totals.skipped_actions += 1,
            ActionDecision::Execute => {
                let source = Source {
                    worker: &approver.id,
                    run: "none",
                    context_pack: "none",
                    actor: approver,
                };
                let undone = new_intent(company, action, &source, None);
                writer.begin_action(&state, &undone)?;
                return Ok(Some(undone));
            }
        }
        writer.put_heartbeat_state(&state)?;
        Ok(None)
    })?;
    if let Some(undone) = undone {
        finish(jobs, company, &undone, &mut totals)?;
    }
    Ok(totals)
}

/// The action that an approval is about: the one that an approval item proposes, else the action itself.
fn effective_action(action: &ProposedAction) -> &ProposedAction {
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

/// Changes the heartbeat state on disk.
pub(crate) fn change_state<R>(
    company: &Company,
    change: impl FnOnce(&mut HeartbeatState) -> R,
) -> Result<R, Error> {
    company.write(|writer| {
        let mut state = remembered(company);
        let done = change(&mut state);
        writer.put_heartbeat_state(&state)?;
        Ok(done)
    })
}

/// The heartbeat state on disk, or an empty one if the file is damaged. Writing the new state sets a damaged file
/// aside.
pub(crate) fn remembered(company: &Company) -> HeartbeatState {
    files::state(company).unwrap_or_else(|_| HeartbeatState {
        schema_version: 1,
        ..HeartbeatState::default()
    })
}

/// The policy resource of an action.
fn resource<'a>(action: &'a ProposedAction, producer: &'a str, actor: &'a Actor) -> Resource<'a> {
    let visibility = match action {
        ProposedAction::LaunchJob { visibility, .. }
        | ProposedAction::AddComment { visibility, .. }
        | ProposedAction::CreateApprovalItem { visibility, .. }
        | ProposedAction::Noop { visibility, .. } => visibility.unwrap_or(Visibility::Managers),
    };
    Resource {
        kind: Some(action.kind()),
        producing_actor_id: Some(producer),
        team_id: actor.team_id.as_deref(),
        ..Resource::visible(visibility)
    }
}

/// Returns the reason why an action must not be executed without a decision, if there is one.
fn hard_stop(
    company: &Company,
    action: &ProposedAction,
    producer: &str,
    actor: &Actor,
) -> Option<HardStop> {
    let decision = policy::decide(actor, Action::Launch, &resource(action, producer, actor));
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
    } = effective_action(action)
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

/// All strings in an action, at any depth.
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

/// Executes an action unless it was executed before. Returns the id of the job that it started.
fn execute(
    jobs: Starter<'_>,
    company: &Company,
    undone: &Undone,
) -> Result<Option<String>, NotDone> {
    match &undone.action {
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
            let new = comment::NewComment {
                project_id: parse_project(project_id)?,
                author: undone.actor(),
                body: body.to_string(),
                agent_id: target_agent_id.as_ref().map(Text::to_string),
                artifact_id: target_artifact_id.as_ref().map(Text::to_string),
                run_id: run_id.map_err(|error| Error::Refused(error.to_string()))?,
                visibility: visibility.unwrap_or(Visibility::Managers),
            };
            comment::add_once(company, &undone.comment_id, new)?;
            Ok(None)
        }
        ProposedAction::LaunchJob { .. } => {
            let spec = job_of(company, undone)?;
            let (project, job) = (spec.project_id.clone(), &undone.job_id);
            let is_known = company::execution::job::record(company, &project, job).is_ok();
            // A recorded job without an owner is resumed by the next process that opens the folder.
            if !is_known {
                let placement = JobPlacement::default();
                let submitted = jobs
                    .jobs
                    .submit_here(spec, Resubmit::Refuse, placement, jobs.may);
                match submitted {
                    Ok(_) => {}
                    Err(sessions::Error::Company(error)) => return Err(error.into()),
                    Err(sessions::Error::Closing) => return Err(NotDone::Closing),
                    Err(other) => return Err(Error::Refused(other.to_string()).into()),
                }
            }
            Ok(Some(job.to_string()))
        }
    }
}

fn parse_project(project: &str) -> Result<ProjectId, Error> {
    ProjectId::parse(project).map_err(|error| Error::Refused(error.to_string()))
}

/// The specification of the job that an action starts.
fn job_of(company: &Company, undone: &Undone) -> Result<JobSpec, Error> {
    let actor = undone.actor();
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
    } = &undone.action
    else {
        return Err(Error::Refused("the action starts no job".to_owned()));
    };
    let note = context_note.as_ref().map_or_else(
        || format!("heartbeat_action={idempotency_key}"),
        Text::to_string,
    );
    let mut seeds = vec![json!({"kind": "note", "value": note})];
    if let Some(role) = target_role {
        seeds.push(json!({"kind": "note", "value": format!("target_role={}", role_name(role))}));
    }
    let deliverables = if deliverables.is_empty() {
        vec![crate::job::text("A result that says what was done")]
    } else {
        deliverables.clone()
    };
    let spec = json!({
        "job_id": undone.job_id,
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

fn role_name(role: &TargetRole) -> String {
    json!(role).as_str().unwrap_or_default().to_owned()
}

/// The document in which an action waits for a decision: its id, path and text.
fn proposal(
    company: &Company,
    action: &ProposedAction,
    source: &Source<'_>,
    reason: &str,
    redacts: bool,
) -> Result<(DocumentId, (String, String)), Error> {
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
    let clean = |text: &str| {
        if redacts {
            secret::redact(text).0.into_owned()
        } else {
            text.to_owned()
        }
    };
    let proposed: Value = if redacts {
        let text = proposed.to_string();
        serde_json::from_str(&secret::redact_json(&text).0)
            .map_err(|error| Error::Refused(format!("an action cannot be redacted: {error}")))?
    } else {
        proposed
    };
    let (title, reason) = (clean(&title), clean(reason));
    let id: DocumentId = company.sources().id();
    let project = parse_project(action.project_id().map_or("", Text::as_str))?;
    let shown = format_action(&proposed);
    let note = if redacts {
        "\n\nredacted: true. It cannot be totals out; ask for it again without the secret."
    } else {
        ""
    };
    let body = format!(
        "# {title}\n\n## Summary\n\nCoordinator queued {kind} from {} for manager approval.\n\n\
         ## Proposed Action\n\n```json\n{shown}\n```\n\n## Policy\n\nRequires manager approval before execution.{note}\n",
        source.worker
    );
    let head = Head {
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
    };
    let text = front_matter::join(&head, &body)?;
    let relpath = layout::document(&project, &id);
    Ok((id, (relpath, text)))
}

/// Formats an action for people, with the identifying fields and the risk first.
fn format_action(action: &Value) -> String {
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
