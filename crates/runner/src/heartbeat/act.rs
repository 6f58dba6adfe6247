//! What becomes of one action in the world: done, or written down for somebody to decide.
//!
//! That an action is going to be done is written down in the same step as that it is remembered, with the ids of what
//! it makes. A process that ends in between leaves it to the next tick, which does it under the same ids: once.

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

use super::{
    arbitration::{
        HardStop, Verdict, arbitrate, arbitrate_approved, hour_key, queue_instead, resume,
    },
    triage::Moment,
};
use crate::{
    JobPlacement, Jobs, ProcessId, Resubmit,
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

/// What starts jobs, and the right to.
#[derive(Clone, Copy)]
pub(crate) struct Starter<'a> {
    pub(crate) jobs: &'a Jobs,
    pub(crate) may: MayExec,
}

/// Decides about an action of a report and does what was decided.
pub(crate) fn report(
    jobs: Starter<'_>,
    company: &Company,
    action: &ProposedAction,
    source: &Source<'_>,
    (config, now, done_this_tick): (&HeartbeatConfig, Moment, u32),
    carried: &mut Carried,
) -> Result<(), Error> {
    let stop = hard_stop(company, action, source.worker, source.actor);
    let undone = company.write(|writer| {
        let mut state = remembered(company);
        let stop = stop.as_ref();
        let verdict = arbitrate(action, stop, &mut state, config, now, done_this_tick);
        match verdict {
            Verdict::Deduped => {
                carried.deduped_actions += 1;
                writer.put_heartbeat_state(&state)?;
                Ok(None)
            }
            Verdict::Skip(_) => {
                carried.skipped_actions += 1;
                audit(company, action, source, stop);
                writer.put_heartbeat_state(&state)?;
                Ok(None)
            }
            Verdict::Queue(reason) => {
                let redacts = stop == Some(&HardStop::SecretRisk);
                let (id, proposal) = proposal(company, action, source, &reason, redacts)?;
                audit(company, action, source, stop);
                writer.propose_action(&state, proposal, None)?;
                carried.queued_for_approval += 1;
                carried.proposal_artifact_ids.push(id.to_string());
                Ok(None)
            }
            Verdict::Execute => {
                let undone = begun(company, action, source, Some(hour_key(now)));
                writer.begin_action(&state, &undone)?;
                Ok(Some(undone))
            }
        }
    })?;
    match undone {
        Some(undone) => finish(jobs, company, &undone, carried),
        None => Ok(()),
    }
}

/// Does what processes that ended had begun, as far as the limits allow it.
pub(crate) fn resume_left(
    jobs: Starter<'_>,
    company: &Company,
    config: &HeartbeatConfig,
    now: Moment,
    carried: &mut Carried,
) -> Result<(), Error> {
    for left in files::undone(company)? {
        let done = u32::try_from(carried.executed_actions).unwrap_or(u32::MAX);
        if let Some(undone) = claimed(company, &left, config, now, done)? {
            finish(jobs, company, &undone, carried)?;
        }
    }
    Ok(())
}

/// Takes an action that was begun, if nobody who lives does it and it may be done now.
fn claimed(
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
        // Only one of this process does actions at a time, so what it left was left for good.
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

/// An action that is going to be done by this process.
fn begun(
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

/// How often an action is tried while other processes keep a lock for longer than a caller waits for it.
const TRIES: usize = 3;

/// Does what was begun. What cannot be done becomes a proposal.
fn finish(
    jobs: Starter<'_>,
    company: &Company,
    undone: &Undone,
    carried: &mut Carried,
) -> Result<(), Error> {
    let is_transient = |done: &Result<_, NotDone>| matches!(done, Err(NotDone::Refused(error)) if error.is_transient());
    let mut done = execute(jobs, company, undone);
    for _ in 1..TRIES {
        if is_transient(&done) {
            done = execute(jobs, company, undone);
        }
    }
    match done {
        Ok(job) => {
            company.write(|writer| writer.end_action(undone))?;
            carried.executed_actions += 1;
            carried.launched_job_ids.extend(job);
            Ok(())
        }
        // The next process does it.
        Err(NotDone::Closing) => Ok(()),
        // The next tick does it, under the same ids.
        Err(NotDone::Refused(error)) if error.is_transient() && undone.counted_hour.is_some() => {
            tracing::warn!(%error, "an action of a heartbeat is left to the next tick");
            Ok(())
        }
        Err(NotDone::Refused(error)) if undone.counted_hour.is_none() => {
            // Who approved it hears why; nothing is left to be done.
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
                carried.skipped_actions += 1;
                writer.put_heartbeat_state(&state)?;
                return writer.end_action(undone);
            }
            let reason = format!("hard_stop: {error}");
            let (id, proposal) = proposal(company, &undone.action, &source, &reason, false)?;
            writer.propose_action(&state, proposal, Some(undone))?;
            carried.queued_for_approval += 1;
            carried.proposal_artifact_ids.push(id.to_string());
            Ok(())
        }),
    }
}

/// Why something was not done.
enum NotDone {
    /// The gateway stops.
    Closing,
    /// It cannot be done.
    Refused(Error),
}

impl From<Error> for NotDone {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Tells the run of the worker that policy forbids what it wants.
fn audit(company: &Company, action: &ProposedAction, source: &Source<'_>, stop: Option<&HardStop>) {
    let project = action.project_id().and_then(|id| ProjectId::parse(id).ok());
    if let (Some(HardStop::PolicyDenied(_)), Some(project)) = (stop, project) {
        let subject = Subject {
            project: &project,
            run: Some(source.run),
            resource_id: action.idempotency_key(),
            resource: resource(action, source.worker, source.actor),
        };
        // It says no, which is known; the record is what matters.
        let _ = policy::check(company, source.actor, Action::Launch, &subject);
    }
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
    match hard_stop(company, action, &approver.id, approver) {
        Some(stop @ (HardStop::SecretRisk | HardStop::CrossTeam)) => {
            Err(Error::Refused(stop.reason()))
        }
        Some(HardStop::Budget | HardStop::PolicyDenied(_)) | None => Ok(()),
    }
}

/// Carries out an action somebody approved, once.
pub(crate) fn approved(
    jobs: Starter<'_>,
    company: &Company,
    action: &ProposedAction,
    approver: &Actor,
    now: Moment,
) -> Result<Carried, Error> {
    check_approved(company, action, approver)?;
    let action = unwrapped(action);
    let config = files::setting(company).config;
    let mut carried = Carried::default();
    // It may have been begun by a process that ended before it was done.
    let left = files::undone(company)?;
    let key = action.idempotency_key();
    let left = left
        .iter()
        .find(|undone| undone.action.idempotency_key() == key);
    if let Some(left) = left
        && let Some(undone) = claimed(company, left, &config, now, 0)?
    {
        finish(jobs, company, &undone, &mut carried)?;
        return Ok(carried);
    }
    let undone = company.write(|writer| {
        let mut state = remembered(company);
        let verdict = arbitrate_approved(action, &mut state, &config, now);
        match verdict {
            Verdict::Deduped => carried.deduped_actions += 1,
            Verdict::Queue(_) | Verdict::Skip(_) => carried.skipped_actions += 1,
            Verdict::Execute => {
                let source = Source {
                    worker: &approver.id,
                    run: "none",
                    context_pack: "none",
                    actor: approver,
                };
                let undone = begun(company, action, &source, None);
                writer.begin_action(&state, &undone)?;
                return Ok(Some(undone));
            }
        }
        writer.put_heartbeat_state(&state)?;
        Ok(None)
    })?;
    if let Some(undone) = undone {
        finish(jobs, company, &undone, &mut carried)?;
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
        let mut state = remembered(company);
        let done = change(&mut state);
        writer.put_heartbeat_state(&state)?;
        Ok(done)
    })
}

/// What is remembered. A damaged file is put aside when the new one is written.
pub(crate) fn remembered(company: &Company) -> HeartbeatState {
    files::state(company).unwrap_or_else(|_| HeartbeatState {
        schema_version: 1,
        ..HeartbeatState::default()
    })
}

/// What policy knows of an action.
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

/// Why an action cannot just happen.
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

/// Does an action unless it was done before. The id of a job it started is answered.
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
                project_id: parsed(project_id)?,
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
            // One without an owner is found by whoever meets the folder.
            if !is_known {
                let placement = JobPlacement::default();
                let submitted = jobs
                    .jobs
                    .submit_here(spec, Resubmit::Refuse, placement, jobs.may);
                match submitted {
                    Ok(_) => {}
                    Err(crate::Error::Company(error)) => return Err(error.into()),
                    Err(crate::Error::Closing) => return Err(NotDone::Closing),
                    Err(other) => return Err(Error::Refused(other.to_string()).into()),
                }
            }
            Ok(Some(job.to_string()))
        }
    }
}

fn parsed(project: &str) -> Result<ProjectId, Error> {
    ProjectId::parse(project).map_err(|error| Error::Refused(error.to_string()))
}

/// The contract of an action.
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
        seeds.push(json!({"kind": "note", "value": format!("target_role={}", word(role))}));
    }
    let deliverables = match deliverables.is_empty() {
        true => vec![crate::job::text("A result that says what was done")],
        false => deliverables.clone(),
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

fn word(role: &TargetRole) -> String {
    json!(role).as_str().unwrap_or_default().to_owned()
}

/// The document in which an action waits for somebody to decide: its file and its text.
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
