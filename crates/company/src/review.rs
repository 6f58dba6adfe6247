//! Decisions about documents. The first final decision about a document is the last one.

use std::{collections::BTreeMap, sync::Arc};

use protocol::company::{DocumentId, ProjectId, ReviewDecision, ReviewId};

use crate::{
    Company, Error, Writer,
    document::{Review, ReviewSubject},
    layout,
    org::text,
    policy::{Actor, Decision},
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
}

impl Verdict {
    /// What people write must not hold a secret.
    pub(crate) fn check_notes(&self) -> Result<(), Error> {
        match self.notes.as_deref().map(str::trim) {
            None | Some("") => Ok(()),
            Some(notes) => secret::refuse("review.notes", notes),
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
