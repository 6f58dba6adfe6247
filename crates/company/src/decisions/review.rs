//! Decisions about documents. The first final decision about a document cannot be changed.

use std::{collections::BTreeMap, sync::Arc};

use protocol::{
    Id as _,
    company::{DocumentId, Presence, ProjectId, ReviewDecision, ReviewId, RunId},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Company, Error, Writer,
    decisions::basis::Basis,
    document::{Review, ReviewSubject},
    event_log::Event,
    folder::intent::WriteSet,
    layout,
    org::text,
    policy::{self, Actor, Decision},
    secret,
};

/// `subject_kind` of a heartbeat action in reviews.
pub(crate) const ACTION_KIND: &str = "heartbeat_action";

/// A decision that an actor makes about a document.
#[derive(Clone, Debug)]
pub struct DocumentDecision {
    /// Project of the document.
    pub project_id: ProjectId,
    /// Id of the document.
    pub artifact_id: DocumentId,
    /// Approval or denial.
    pub decision: ReviewDecision,
    /// Actor that decides.
    pub actor: Actor,
    /// Notes of the actor.
    pub notes: Option<String>,
    /// Hash of the content that was shown to the actor. If absent, the decision applies to the current content.
    pub expected_sha256: Option<String>,
    /// How the actor's presence was proven.
    pub presence: PresenceProof,
}

/// Proof of the actor's presence, as recorded in the event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PresenceProof {
    /// Kind of proof.
    pub via: Presence,
    /// Token that was used, if the proof is a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<PresentToken>,
}

/// Token by which the actor proved to be present.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PresentToken {
    /// Id of the token.
    pub id: String,
    /// Name of the token.
    pub name: String,
}

/// Provenance of a decision, as recorded in its event. Approved actions that an earlier version stored contain
/// `subject_sha256` only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Provenance {
    /// Hash of the document alone.
    pub(crate) subject_sha256: String,
    /// Hash of all files that the decision is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) basis_sha256: Option<String>,
    /// Whether the actor stated the expected hash, so that the decision cannot apply to other content.
    #[serde(default)]
    pub(crate) is_bound: bool,
    /// Proof of the actor's presence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) presence: Option<PresenceProof>,
}

impl DocumentDecision {
    /// Rejects notes that contain a secret.
    pub(crate) fn check_notes(&self) -> Result<(), Error> {
        match self.notes.as_deref().map(str::trim) {
            None | Some("") => Ok(()),
            Some(notes) => Ok(secret::refuse("review.notes", notes)?),
        }
    }

    /// Fails if the content differs from the content that was shown to the actor.
    pub(crate) fn check_shown(&self, basis: &Basis) -> Result<(), Error> {
        let Some(expected) = &self.expected_sha256 else {
            return Ok(());
        };
        let actual = basis.sha256();
        if expected.eq_ignore_ascii_case(&actual) {
            Ok(())
        } else {
            Err(Error::BasisChanged {
                artifact_id: self.artifact_id.to_string(),
                expected: expected.clone(),
                actual,
                files: basis.files(),
            })
        }
    }

    /// Builds the provenance of the decision.
    pub(crate) fn provenance(&self, basis: &Basis) -> Provenance {
        Provenance {
            subject_sha256: basis.document_sha256(),
            basis_sha256: Some(basis.sha256()),
            is_bound: self.expected_sha256.is_some(),
            presence: Some(self.presence.clone()),
        }
    }

    /// Fails if there is already a decision about the document.
    pub(crate) fn check_first(&self, company: &Company, kind: &str) -> Result<(), Error> {
        self.check_not_decided(company, kind, |_| true)
    }

    /// Fails if there is already a final decision about the document.
    pub(crate) fn check_not_decided(
        &self,
        company: &Company,
        kind: &str,
        is_final: impl Fn(&Review) -> bool,
    ) -> Result<(), Error> {
        let known = latest(company)?;
        let key = ReviewKey::of(&self.project_id, &self.artifact_id, kind);
        match known.get(&key).filter(|review| is_final(review)) {
            None => Ok(()),
            Some(review) => Err(Error::AlreadyDecided {
                artifact_id: self.artifact_id.to_string(),
                review_id: review.id.to_string(),
                decision: review.decision,
                actor_id: review.actor_id.to_string(),
                created_at: review.created_at.to_string(),
            }),
        }
    }

    /// Builds the review that records the decision.
    pub(crate) fn review(
        &self,
        writer: &Writer<'_>,
        id: &ReviewId,
        policy: &Decision,
        subject: ReviewSubject,
    ) -> Review {
        Review {
            schema_version: 1,
            r#type: Default::default(),
            id: text(id),
            created_at: writer.now(),
            actor_id: text(&self.actor.id),
            actor_role: self.actor.role,
            decision: self.decision,
            subject,
            policy: policy.outcome(),
            notes: Some(self.notes.clone().unwrap_or_default()),
        }
    }

    /// A subject without the fields of memory deltas.
    pub(crate) fn subject(&self, kind: &str) -> ReviewSubject {
        ReviewSubject {
            kind: text(kind),
            artifact_id: text(&self.artifact_id),
            project_id: text(&self.project_id),
            target_file: None,
            patch_file: None,
            scope_kind: None,
            scope_ref: None,
            sensitivity: None,
            rationale: None,
        }
    }
}

/// Writes the files that a decision changes together with its event. If the run has no log, the event goes to the
/// project's audit log.
pub(crate) fn put_decision(
    writer: &Writer<'_>,
    mut writes: WriteSet,
    project: &ProjectId,
    event: Option<Event>,
) -> Result<(), Error> {
    let company = writer.company();
    let Some(event) = event else {
        return writer.put_all(&writes);
    };
    let log = format!("{}/events.jsonl", layout::run(project, &event.run_id));
    if company.path(&log).exists() {
        writes.events.push((project.clone(), event));
        return writer.put_all(&writes);
    }
    writer.put_all(&writes)?;
    if let Err(error) = policy::audit(company, project, &[event]) {
        // A failed audit does not change the decision; the review records it.
        tracing::warn!(%error, "the event of a decision cannot be appended to the audit log");
    }
    Ok(())
}

/// Creates the event of a decision for the log of the run that produced the document; `None` if the run id is invalid.
pub(crate) fn event(
    company: &Company,
    run: &str,
    actor: &str,
    provenance: &Provenance,
    mut payload: Value,
) -> Result<Option<Event>, Error> {
    let Ok(run) = RunId::parse(run) else {
        return Ok(None);
    };
    let provenance = serde_json::to_value(provenance)
        .map_err(|error| Error::Refused(format!("the decision cannot be written: {error}")))?;
    if let (Value::Object(payload), Value::Object(provenance)) = (&mut payload, provenance) {
        payload.extend(provenance);
    }
    policy::managers_event(company, &run, actor, "approval.decided", &payload).map(Some)
}

/// Subject of a review, used as a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReviewKey {
    project: String,
    artifact: String,
    kind: String,
}

impl ReviewKey {
    /// A document of a project, reviewed as one kind of subject.
    pub fn of(project: &ProjectId, artifact: &DocumentId, kind: &str) -> Self {
        Self {
            project: project.to_string(),
            artifact: artifact.to_string(),
            kind: kind.to_owned(),
        }
    }
}

/// Returns the decision about each document. Folders written by other programs may contain several; the newest one
/// counts.
pub fn latest(company: &Company) -> Result<BTreeMap<ReviewKey, Arc<Review>>, Error> {
    let mut latest: BTreeMap<ReviewKey, Arc<Review>> = BTreeMap::new();
    for name in company.names(layout::REVIEWS)? {
        // `workspace.validate` reports unreadable reviews.
        let Ok(review) = company.read::<Review>(&format!("{}/{name}", layout::REVIEWS)) else {
            continue;
        };
        let subject = ReviewKey {
            project: review.subject.project_id.to_string(),
            artifact: review.subject.artifact_id.to_string(),
            kind: review.subject.kind.to_string(),
        };
        let is_newer =
            |known: &Arc<Review>| (&review.created_at, &review.id) > (&known.created_at, &known.id);
        if latest.get(&subject).is_none_or(is_newer) {
            latest.insert(subject, review);
        }
    }
    Ok(latest)
}
