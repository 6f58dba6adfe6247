//! Decisions about documents in the inbox. Each document gets one final decision, and its effects happen once.
//!
//! This module does not execute approved heartbeat actions itself: the caller of [`resolve`] provides a [`ActionExecutor`]
//! implementation.

pub mod read;

use protocol::company::{
    DocumentId, ProjectId, ReviewDecision, ReviewId,
    inbox::{ActionExecution, InboxResolveResponse},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    Company, Error,
    decisions::{
        basis::Basis,
        memory_delta, plan_approval,
        review::{self, ACTION_KIND, DocumentDecision, Provenance},
    },
    document::{ActionProposalHead, DocumentKind},
    documents::LooseHead,
    folder::intent::WriteSet,
    layout, memory,
    pipeline::gate,
    planning::milestone,
    policy::{self, Action, Actor, Resource, Subject},
};

/// Resource kind of an action proposal in policy decisions.
const PROPOSAL_KIND: &str = "heartbeat_action_proposal";

/// Executes approved actions. The component that runs jobs implements it. [`resolve`] calls it without the write lock,
/// and again after a crash if completion was not recorded, so implementations must use the idempotency key of the
/// action to detect completed work.
pub trait ActionExecutor {
    /// Checks that the action may be executed; an error leaves the proposal undecided.
    fn check(&self, company: &Company, action: &ApprovedAction) -> Result<(), Error>;

    /// Executes the action.
    fn execute(&self, company: &Company, action: &ApprovedAction)
    -> Result<ActionExecution, Error>;
}

/// A [`ActionExecutor`] that executes nothing: decisions are only recorded.
#[derive(Clone, Copy, Debug)]
pub struct RecordOnly;

impl ActionExecutor for RecordOnly {
    fn check(&self, _company: &Company, _action: &ApprovedAction) -> Result<(), Error> {
        Ok(())
    }

    fn execute(
        &self,
        _company: &Company,
        _action: &ApprovedAction,
    ) -> Result<ActionExecution, Error> {
        Ok(ActionExecution::default())
    }
}

/// An approved action with its content at the time of approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovedAction {
    /// Project of the proposal.
    pub project_id: ProjectId,
    /// Document id of the proposal.
    pub artifact_id: DocumentId,
    /// The review that approved it.
    pub review_id: ReviewId,
    /// Id of the approving actor.
    pub actor_id: String,
    /// Role of the approving actor.
    pub actor_role: protocol::company::ActorRole,
    /// Team of the approving actor; absent if it has none.
    pub actor_team_id: Option<String>,
    /// The action to execute.
    pub proposed_action: Map<String, Value>,
    /// The run whose log records the decision and the execution.
    run_id: String,
    policy: Value,
    #[serde(flatten)]
    provenance: Provenance,
}

impl ApprovedAction {
    /// The approving actor.
    pub fn actor(&self) -> Actor {
        Actor {
            id: self.actor_id.clone(),
            role: self.actor_role,
            team_id: self.actor_team_id.clone(),
        }
    }

    /// Kind of the action: `launch_job`, `add_comment`, `create_approval_item` or `noop`; empty if it is missing.
    pub fn kind(&self) -> &str {
        let kind = self.proposed_action.get("kind");
        kind.and_then(Value::as_str).unwrap_or_default()
    }

    fn path(&self) -> String {
        format!("{}/{}.json", layout::APPROVED_ACTIONS, self.review_id)
    }
}

/// Records a decision about a document and applies its effects.
pub fn resolve(
    company: &Company,
    verdict: &DocumentDecision,
    executor: &dyn ActionExecutor,
) -> Result<InboxResolveResponse, Error> {
    verdict.check_notes()?;
    let relpath = layout::document(&verdict.project_id, &verdict.artifact_id);
    let document = company
        .read_markdown::<LooseHead>(&relpath)
        .map_err(|error| error.or_not_found("Artifact", verdict.artifact_id.as_str()))?;
    let kind = document.head.kind().unwrap_or_default();
    let response = |review_id, subject_kind: &str| InboxResolveResponse {
        review_id,
        decision: verdict.decision,
        subject_kind: subject_kind.to_owned(),
        project_id: verdict.project_id.clone(),
        artifact_id: verdict.artifact_id.clone(),
        task_id: None,
        milestone_id: None,
        task_status: None,
        milestone_status: None,
        rebased: None,
        execution: None,
    };
    let is_denied = verdict.decision == ReviewDecision::Denied;
    // A malformed document cannot be approved; denying it must be possible, or it would stay in the inbox forever.
    let deny_invalid = |subject_kind: &str, policy_kind: &str| {
        let review_id = company.write(|writer| {
            let basis = Basis::read(company, &verdict.project_id, &verdict.artifact_id)?;
            memory::deny_invalid(writer, verdict, &basis, subject_kind, policy_kind)
        })?;
        Ok(response(review_id, subject_kind))
    };
    if kind == DocumentKind::MemoryDelta.as_str() {
        let decided = match memory::decide(company, verdict) {
            Err(Error::FileInvalid { .. }) if is_denied => {
                return deny_invalid(memory_delta::KIND, memory_delta::KIND);
            }
            other => other?,
        };
        Ok(InboxResolveResponse {
            rebased: decided.rebased.then_some(true),
            ..response(decided.review_id, memory_delta::KIND)
        })
    } else if kind == DocumentKind::MilestoneReport.as_str() {
        let decided = match milestone::decide(company, verdict, None) {
            Err(Error::FileInvalid { path, .. }) if is_denied && path == relpath => {
                return deny_invalid(milestone::KIND, milestone::REPORT_KIND);
            }
            other => other?,
        };
        Ok(InboxResolveResponse {
            task_id: Some(decided.task_id.to_string()),
            milestone_id: Some(decided.milestone_id.to_string()),
            task_status: Some(decided.task_status),
            milestone_status: Some(decided.milestone_status),
            ..response(decided.review_id, milestone::KIND)
        })
    } else if kind == DocumentKind::HeartbeatActionProposal.as_str() {
        // Without this lock, an action that one thread is executing would look abandoned to another thread.
        let executing = company.executing();
        execute_all_pending(company, executor)?;
        let (review_id, action) = match decide_action(company, verdict, executor) {
            Err(Error::FileInvalid { .. }) if is_denied => {
                return deny_invalid(ACTION_KIND, PROPOSAL_KIND);
            }
            other => other?,
        };
        let execution = action.map(|action| execute(company, &action, executor));
        drop(executing);
        Ok(InboxResolveResponse {
            execution: execution.transpose()?,
            ..response(review_id, ACTION_KIND)
        })
    } else {
        Err(unsupported(kind, &verdict.artifact_id))
    }
}

/// The error for a document type that takes no decisions.
fn unsupported(kind: &str, artifact: &DocumentId) -> Error {
    Error::Refused(format!(
        "Unsupported artifact type for inbox resolution: {kind} (artifact {artifact})"
    ))
}

/// Writes the review of a proposal and, for an approval, the action to execute, in one atomic change.
fn decide_action(
    company: &Company,
    verdict: &DocumentDecision,
    executor: &dyn ActionExecutor,
) -> Result<(ReviewId, Option<ApprovedAction>), Error> {
    company.write(|writer| {
        let project = &verdict.project_id;
        let basis = Basis::read(company, project, &verdict.artifact_id)?;
        let proposal = basis.document::<ActionProposalHead>()?;
        let head = &proposal.head;
        if head.project_id.as_str() != project.as_str() {
            return Err(Error::Refused(format!(
                "the proposal belongs to project `{}`, expected project `{project}`",
                head.project_id
            )));
        }
        let subject = Subject {
            project,
            run: Some(&head.run_id),
            resource_id: &head.id,
            resource: Resource {
                kind: Some(PROPOSAL_KIND),
                ..Resource::visible(head.visibility)
            },
        };
        let policy = policy::check(company, &verdict.actor, Action::Approve, &subject)?;
        // A manager's review of an executive plan does not open its gate, so it must not prevent the CEO's decision.
        let opens = plan_approval::is_plan_approval(head) && gate::opens(verdict.actor.role);
        verdict.check_not_decided(company, ACTION_KIND, |earlier| {
            !opens || gate::opens(earlier.actor_role)
        })?;
        verdict.check_shown(&basis)?;
        let review_id: ReviewId = company.sources().id();
        let review = verdict.review(writer, &review_id, &policy, verdict.subject(ACTION_KIND));
        let action = ApprovedAction {
            project_id: project.clone(),
            artifact_id: verdict.artifact_id.clone(),
            review_id: review_id.clone(),
            actor_id: verdict.actor.id.clone(),
            actor_role: verdict.actor.role,
            actor_team_id: verdict.actor.team_id.clone(),
            proposed_action: head.proposed_action.clone(),
            run_id: head.run_id.to_string(),
            policy: json!(review.policy),
            provenance: verdict.provenance(&basis),
        };
        let mut writes = WriteSet {
            files: vec![(layout::review(&review_id), writer.yaml(&review)?)],
            ..WriteSet::default()
        };
        match verdict.decision {
            ReviewDecision::Denied => {
                let event = action.event(company, verdict.decision, None)?;
                review::put_decision(writer, writes, project, event)?;
                Ok((review_id, None))
            }
            ReviewDecision::Approved => {
                executor.check(company, &action)?;
                let text = company.sealed(&action.path(), &action).map_err(|error| {
                    Error::Refused(format!("the action cannot be written: {error}"))
                })?;
                writes.files.push((action.path(), text));
                writer.put_all(&writes)?;
                Ok((review_id, Some(action)))
            }
        }
    })
}

impl ApprovedAction {
    fn event(
        &self,
        company: &Company,
        decision: ReviewDecision,
        execution: Option<&ActionExecution>,
    ) -> Result<Option<crate::event_log::Event>, Error> {
        let mut payload = json!({
            "review_id": self.review_id,
            "decision": decision,
            "subject_kind": ACTION_KIND,
            "artifact_id": self.artifact_id,
            "proposed_action_kind": self.kind(),
            "policy": self.policy,
        });
        if let Some(execution) = execution {
            payload["execution"] = json!(execution);
        }
        let (run, actor) = (&self.run_id, &self.actor_id);
        review::event(company, run, actor, &self.provenance, payload)
    }
}

/// Executes an approved action, appends the event about it, and removes it from the pending actions.
fn execute(
    company: &Company,
    action: &ApprovedAction,
    executor: &dyn ActionExecutor,
) -> Result<ActionExecution, Error> {
    let execution = executor.execute(company, action)?;
    let event = action.event(company, ReviewDecision::Approved, Some(&execution))?;
    company.write(|writer| {
        // Another process may have recorded the execution in the meantime.
        if !company.path(&action.path()).exists() {
            return Ok(());
        }
        let writes = WriteSet {
            removed: vec![action.path()],
            ..WriteSet::default()
        };
        review::put_decision(writer, writes, &action.project_id, event)
    })?;
    Ok(execution)
}

/// Executes approved actions that an ended process left pending. A process that can execute actions calls this when it
/// first opens a folder.
pub fn execute_pending(company: &Company, executor: &dyn ActionExecutor) -> Result<(), Error> {
    let _executing = company.executing();
    execute_all_pending(company, executor)
}

fn execute_all_pending(company: &Company, executor: &dyn ActionExecutor) -> Result<(), Error> {
    for name in company.names(layout::APPROVED_ACTIONS)? {
        let path = format!("{}/{name}", layout::APPROVED_ACTIONS);
        let text = company.read_text(&path)?;
        match company.open_sealed::<ApprovedAction>(&path, &text) {
            Ok(Some(action)) => match execute(company, &action, executor) {
                // A caller with the `exec` scope executes it later.
                Err(Error::NeedsExec) => return Ok(()),
                executed => executed.map(drop)?,
            },
            Ok(None) => {
                tracing::warn!(
                    path,
                    "an approved action was not written by this machine and is left alone"
                );
            }
            Err(error) => tracing::warn!(%error, path, "an approved action cannot be read"),
        }
    }
    Ok(())
}
