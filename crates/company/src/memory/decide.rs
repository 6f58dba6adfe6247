//! Approves or denies a memory delta. The review, the changed memory and the event are written atomically.

use std::sync::Arc;

use protocol::company::{
    DocumentId, MemoryScopeKind, ProjectId, ReviewDecision, ReviewId, Sensitivity, Visibility,
    inbox::InboxFileRole, workspace::ValidationIssue,
};
use serde_json::json;

use super::{Delta, patch};
use crate::{
    Company, Error, Writer,
    decisions::{
        basis::Basis,
        memory_delta::{KIND, MemoryScope, patch_of},
        review::{self, DocumentDecision},
    },
    document::ReviewSubject,
    folder::intent::WriteSet,
    layout,
    policy::{self, Action, Resource, Subject},
    secret,
};

/// Result of a decision about a delta.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedDelta {
    /// Id of the review.
    pub review_id: ReviewId,
    /// Whether the patch no longer applied and its lines were inserted under their heading instead.
    pub rebased: bool,
}

/// Approves and applies a delta, or denies it.
pub fn decide(company: &Company, verdict: &DocumentDecision) -> Result<DecidedDelta, Error> {
    verdict.check_notes()?;
    company.write(|writer| {
        let basis = Basis::read(company, &verdict.project_id, &verdict.artifact_id)?;
        let is_denied = verdict.decision == ReviewDecision::Denied;
        let delta = match basis.document().map(Arc::new).map(Delta::of) {
            // An unreadable delta cannot be approved, but it can be denied, so that it does not stay in the inbox
            // forever.
            Err(Error::FileInvalid { .. }) if is_denied => {
                let review_id = deny_invalid(writer, verdict, &basis, KIND, KIND)?;
                return Ok(DecidedDelta {
                    review_id,
                    rebased: false,
                });
            }
            delta => delta?,
        };
        let head = delta.head();
        // A denial changes no memory, so the target file is not validated.
        let target = match verdict.decision {
            ReviewDecision::Denied => None,
            ReviewDecision::Approved => {
                Some(target(&verdict.project_id, &verdict.artifact_id, &delta)?)
            }
        };
        let subject = Subject {
            project: &verdict.project_id,
            run: Some(&head.run_id),
            resource_id: &head.id,
            // No `producing_actor_id`: proposing a delta gives no right to decide about it.
            resource: Resource {
                kind: Some(KIND),
                ..Resource::visible(head.visibility)
            },
        };
        let policy = policy::check(company, &verdict.actor, Action::Approve, &subject)?;
        verdict.check_first(company, KIND)?;
        verdict.check_shown(&basis)?;
        let changed = target
            .map(|target| Ok::<_, Error>((apply(&basis, &delta, &target)?, target)))
            .transpose()?;
        let rebased = changed.as_ref().is_some_and(|(changed, _)| changed.rebased);
        let review_id: ReviewId = company.sources().id();
        let review = verdict.review(
            writer,
            &review_id,
            &policy,
            ReviewSubject {
                target_file: Some(head.target_file.clone()),
                patch_file: Some(head.patch_file.clone()),
                scope_kind: Some(delta.scope_kind),
                scope_ref: Some(delta.scope_ref.clone()),
                sensitivity: Some(delta.sensitivity),
                rationale: Some(delta.rationale.clone()),
                ..verdict.subject(KIND)
            },
        );
        let mut payload = json!({
            "review_id": review_id,
            "decision": verdict.decision,
            "subject_kind": KIND,
            "artifact_id": verdict.artifact_id,
            "target_file": head.target_file,
            "patch_file": head.patch_file,
            "scope_kind": delta.scope_kind,
            "scope_ref": delta.scope_ref,
            "sensitivity": delta.sensitivity,
            "policy": review.policy,
        });
        if rebased {
            payload["rebased"] = true.into();
        }
        // Managers see an event for every decision, but the rationale only if they may see the delta.
        let is_for_managers = head.visibility != Visibility::PrivateAgent
            && delta.sensitivity != Sensitivity::Restricted;
        if is_for_managers {
            payload["rationale"] = delta.rationale.as_str().into();
        }
        let mut writes = WriteSet {
            files: vec![(layout::review(&review_id), writer.yaml(&review)?)],
            ..WriteSet::default()
        };
        writes
            .files
            .extend(changed.map(|(changed, target)| (target, changed.text)));
        let provenance = verdict.provenance(&basis);
        let event = review::event(
            company,
            &head.run_id,
            &verdict.actor.id,
            &provenance,
            payload,
        )?;
        review::put_decision(writer, writes, &verdict.project_id, event)?;
        Ok(DecidedDelta { review_id, rebased })
    })
}

/// Denies a document that is typed as a delta but does not match the schema, so that it leaves the inbox.
pub(crate) fn deny_invalid(
    writer: &Writer<'_>,
    verdict: &DocumentDecision,
    basis: &Basis,
    subject_kind: &str,
    policy_kind: &str,
) -> Result<ReviewId, Error> {
    let company = writer.company();
    let head = basis.loose_head();
    let subject = Subject {
        project: &verdict.project_id,
        run: head.run_id(),
        resource_id: verdict.artifact_id.as_str(),
        resource: Resource {
            kind: Some(policy_kind),
            // A missing visibility is treated as the most restrictive one.
            ..Resource::visible(head.visibility().unwrap_or(Visibility::PrivateAgent))
        },
    };
    let policy = policy::check(company, &verdict.actor, Action::Approve, &subject)?;
    verdict.check_first(company, subject_kind)?;
    verdict.check_shown(basis)?;
    let review_id: ReviewId = company.sources().id();
    let subject = verdict.subject(subject_kind);
    let review = verdict.review(writer, &review_id, &policy, subject);
    let writes = WriteSet {
        files: vec![(layout::review(&review_id), writer.yaml(&review)?)],
        ..WriteSet::default()
    };
    let payload = json!({
        "review_id": review_id,
        "decision": verdict.decision,
        "subject_kind": subject_kind,
        "artifact_id": verdict.artifact_id,
        "policy": review.policy,
        "invalid": true,
    });
    let run = head.run_id().unwrap_or_default();
    let provenance = verdict.provenance(basis);
    let event = review::event(company, run, &verdict.actor.id, &provenance, payload)?;
    review::put_decision(writer, writes, &verdict.project_id, event)?;
    Ok(review_id)
}

/// Returns whether a delta could be applied, judged by its own files: its target is a memory file that it may change,
/// and its patch changes that file.
pub(crate) fn is_usable(
    company: &Company,
    project: &ProjectId,
    artifact: &DocumentId,
    delta: &Delta,
) -> bool {
    let Ok(target) = target(project, artifact, delta) else {
        return false;
    };
    let patch_file = delta.head().patch_file.replace('\\', "/");
    let patch = company.read_text(&patch_file);
    company.read_text(&target).is_ok() && patch.is_ok_and(|patch| patch::changes(&patch, &target))
}

/// Returns the file that a delta changes, after validating its id, project, scope and patch path.
fn target(project: &ProjectId, artifact: &DocumentId, delta: &Delta) -> Result<String, Error> {
    let head = delta.head();
    if head.id.as_str() != artifact.as_str() {
        return Err(Error::Refused(format!(
            "delta `{artifact}` has id `{}` in its front matter",
            head.id
        )));
    }
    if head.project_id.as_str() != project.as_str() {
        return Err(Error::Refused(format!(
            "the delta belongs to project `{}`, not to `{project}`",
            head.project_id
        )));
    }
    let scope = MemoryScope::of_target(&head.target_file, project);
    let is_meant = |scope: &MemoryScope| {
        let is_v1 = head.schema_version == 1;
        is_v1 || (scope.kind() == delta.scope_kind && scope.id() == delta.scope_ref.as_str())
    };
    let Some(scope) = scope.filter(is_meant) else {
        return Err(Error::Refused(format!(
            "a delta of {} `{}` cannot change `{}`",
            match delta.scope_kind {
                MemoryScopeKind::ProjectMemory => "project",
                MemoryScopeKind::AgentGuidance => "agent",
            },
            delta.scope_ref,
            head.target_file
        )));
    };
    let patch = patch_of(project, artifact);
    if head.patch_file.replace('\\', "/") == patch {
        Ok(scope.target())
    } else {
        Err(Error::Refused(format!(
            "the patch file of the delta must be `{patch}`, found `{}`",
            head.patch_file
        )))
    }
}

struct Changed {
    text: String,
    rebased: bool,
}

/// Applies the delta to the memory. If the patch no longer applies, its lines are inserted under their heading again.
fn apply(basis: &Basis, delta: &Delta, target: &str) -> Result<Changed, Error> {
    let text = basis.text(InboxFileRole::Target)?;
    let patch_file = delta.head().patch_file.replace('\\', "/");
    let patch = basis.text(InboxFileRole::Patch)?;
    secret::refuse("memory_delta.patch_file", patch)?;
    let changed = match patch::applied(patch, text) {
        Some(text) => Changed {
            text,
            rebased: false,
        },
        None => {
            let unclean = || Error::FolderInvalid {
                sentence: "Patch did not apply cleanly to target file".to_owned(),
                issues: vec![ValidationIssue {
                    code: "memory_delta_invalid".to_owned(),
                    message: format!("{patch_file}: the patch does not fit `{target}`"),
                    path: Some(patch_file.clone()),
                }],
            };
            let lines = patch::only_inserted(patch).ok_or_else(unclean)?;
            let heading = inserted_under(&delta.document.body).ok_or_else(unclean)?;
            Changed {
                text: patch::insert_under(text, heading, &lines)?,
                rebased: true,
            }
        }
    };
    secret::refuse("memory_delta.target_after_apply", &changed.text)?;
    Ok(changed)
}

/// The heading that the body of a delta records.
fn inserted_under(body: &str) -> Option<&str> {
    let line = body
        .lines()
        .find_map(|line| line.strip_prefix("- inserted_under: "))?;
    line.trim().strip_prefix('`')?.strip_suffix('`')
}
