//! Decisions about documents. The first final decision about a document is the last one.

use std::{collections::BTreeMap, sync::Arc};

use protocol::{
    Id as _,
    company::{DocumentId, Presence, ProjectId, ReviewDecision, ReviewId, RunId},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Company, Error, Writer,
    basis::Basis,
    document::{Review, ReviewSubject},
    event::Event,
    intent::Together,
    layout,
    org::text,
    policy::{self, Actor, Decision},
    secret,
};

/// What somebody decides about a document.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The project.
    pub project_id: ProjectId,
    /// The document.
    pub artifact_id: DocumentId,
    /// What is decided.
    pub decision: ReviewDecision,
    /// Who decides.
    pub actor: Actor,
    /// What they say.
    pub notes: Option<String>,
    /// The hash of what was shown to them; none decides about whatever is there.
    pub expected_sha256: Option<String>,
    /// How they were present.
    pub presence: Present,
}

/// How whoever decides is present, for the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Present {
    /// The way.
    pub via: Presence,
    /// The token, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<PresentToken>,
}

/// The token by which whoever decides is present.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PresentToken {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
}

/// What the event of a decision says about how it came about. Approved actions that an earlier version left to do know
/// the first hash alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Provenance {
    /// The hash of the document alone.
    pub(crate) subject_sha256: String,
    /// The hash of everything the decision rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) basis_sha256: Option<String>,
    /// Whether the actor named that hash, so that nothing else could be decided about.
    #[serde(default)]
    pub(crate) is_bound: bool,
    /// How the actor was present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) presence: Option<Present>,
}

impl Verdict {
    /// What people write must not hold a secret.
    pub(crate) fn check_notes(&self) -> Result<(), Error> {
        match self.notes.as_deref().map(str::trim) {
            None | Some("") => Ok(()),
            Some(notes) => secret::refuse("review.notes", notes),
        }
    }

    /// Fails if the decision rests on something else than what was shown.
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

    /// How the decision came about.
    pub(crate) fn provenance(&self, basis: &Basis) -> Provenance {
        Provenance {
            subject_sha256: basis.document_sha256(),
            basis_sha256: Some(basis.sha256()),
            is_bound: self.expected_sha256.is_some(),
            presence: Some(self.presence.clone()),
        }
    }

    /// Fails if there is a decision about the document already.
    pub(crate) fn check_first(&self, company: &Company, kind: &str) -> Result<(), Error> {
        self.check_not_decided(company, kind, |_| true)
    }

    /// Fails if there is a final decision about the document already.
    pub(crate) fn check_not_decided(
        &self,
        company: &Company,
        kind: &str,
        is_final: impl Fn(&Review) -> bool,
    ) -> Result<(), Error> {
        let known = latest(company)?;
        let key = Subject::of(&self.project_id, &self.artifact_id, kind);
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

    /// The record of it.
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

    /// A subject of which nothing else is known.
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

/// Writes what a decision changes together with the event that tells of it. A run that has no log cannot tell of it,
/// so the event is kept beside the runs of the project.
pub(crate) fn put_decision(
    writer: &Writer<'_>,
    mut together: Together,
    project: &ProjectId,
    told: Option<Event>,
) -> Result<(), Error> {
    let company = writer.company();
    let Some(event) = told else {
        return writer.put_together(&together);
    };
    let log = format!("{}/events.jsonl", layout::run(project, &event.run_id));
    if company.path(&log).exists() {
        together.events.push((project.clone(), event));
        return writer.put_together(&together);
    }
    writer.put_together(&together)?;
    if let Err(error) = policy::audit(company, project, &[event]) {
        // The decision holds, with its review.
        tracing::warn!(%error, "a decision about a run without a log was not recorded beside it");
    }
    Ok(())
}

/// The event that tells of a decision, in the log of the run its document was made in.
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

/// What a review is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    project: String,
    artifact: String,
    kind: String,
}

impl Subject {
    /// A document of a project, as one kind of thing.
    pub fn of(project: &ProjectId, artifact: &DocumentId, kind: &str) -> Self {
        Self {
            project: project.to_string(),
            artifact: artifact.to_string(),
            kind: kind.to_owned(),
        }
    }
}

/// The decision about each document. Folders of other programs may have several: the newest counts.
pub fn latest(company: &Company) -> Result<BTreeMap<Subject, Arc<Review>>, Error> {
    let mut latest: BTreeMap<Subject, Arc<Review>> = BTreeMap::new();
    for name in company.names(layout::REVIEWS)? {
        // What cannot be read is reported by `workspace.validate`.
        let Ok(review) = company.read::<Review>(&format!("{}/{name}", layout::REVIEWS)) else {
            continue;
        };
        let subject = Subject {
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
