//! `inbox.snapshot`, and the lists of reviews and help requests.

use company::{
    Company,
    document::{DocumentHead, Markdown},
    layout, memory,
    policy::Actor,
};
use protocol::{
    Id as _,
    company::{
        ActorRole, DocumentId, ProjectId, ReviewDecision, Visibility,
        inbox::{
            HelpRequest, InboxDecision, InboxParseErrors, InboxPending, InboxSnapshotParams,
            InboxSnapshotResponse, Review,
        },
    },
};
use rusqlite::{Connection, params};

use super::{DEFAULT_LIMIT, People};
use crate::{
    Error, Freshness, IndexRefresh, Indexes, documents::types_to_decide, lists::word,
    search::may_see,
};

impl Indexes {
    /// Lists documents that need a decision, and recent decisions.
    pub fn inbox(
        &self,
        company: &Company,
        wanted: &InboxSnapshotParams,
        actor: Option<&Actor>,
    ) -> Result<InboxSnapshotResponse, Error> {
        let freshness = Freshness::of(wanted.refresh_index, wanted.sync_index);
        let state = self.freshen(company, freshness)?;
        let people = People::of(company)?;
        let wanted = InboxQuery {
            project: wanted.project_id.as_deref(),
            pending: wanted.pending_limit.unwrap_or(DEFAULT_LIMIT),
            decisions: wanted.decisions_limit.unwrap_or(DEFAULT_LIMIT),
            actor: actor.map(|actor| (actor, &people)),
        };
        self.read(company, |db| snapshot(company, db, &wanted, state))
    }
}

/// Parameters of an inbox view.
pub(crate) struct InboxQuery<'a> {
    pub(crate) project: Option<&'a str>,
    pub(crate) pending: u32,
    pub(crate) decisions: u32,
    /// Returns only what this actor may read; `None` for an unrestricted caller.
    pub(crate) actor: Option<(&'a Actor, &'a People)>,
}

impl InboxQuery<'_> {
    /// Whether the sensitivity of a document is above the clearance of the caller.
    fn is_too_secret(&self, company: &Company, project: &str, document: &str) -> bool {
        self.actor
            .is_some_and(|(actor, _)| memory::is_too_secret(company, actor, project, document))
    }
}

pub(super) fn snapshot(
    company: &Company,
    db: &Connection,
    wanted: &InboxQuery<'_>,
    state: IndexRefresh,
) -> Result<InboxSnapshotResponse, Error> {
    let pending = pending(company, db, wanted)?;
    let recent_decisions = decisions(company, db, wanted, None)?;
    let of_pending = pending.iter().map(|item| item.parse_error_count);
    let of_decisions = recent_decisions.iter().map(|item| item.parse_error_count);
    let most = of_pending.clone().chain(of_decisions.clone()).max();
    let max_parse_error_count = most.unwrap_or(0);
    Ok(InboxSnapshotResponse {
        workspace_dir: company.given().to_owned(),
        generated_at: company.sources().now_text(),
        index_rebuilt: state.rebuilt,
        index_synced: state.synced,
        parse_errors: InboxParseErrors {
            has_parse_errors: max_parse_error_count > 0,
            pending_with_errors: of_pending.filter(|count| *count > 0).count() as u64,
            decisions_with_errors: of_decisions.filter(|count| *count > 0).count() as u64,
            max_parse_error_count,
        },
        pending,
        recent_decisions,
        // Proposals for agent documents are not stored in the company folder; the gateway adds them.
        agents_doc_proposals: Vec::new(),
    })
}

/// Whether the caller may read a document.
fn sees(
    actor: Option<(&Actor, &People)>,
    visibility: Option<&str>,
    producer: Option<&str>,
) -> bool {
    actor.is_none_or(|(actor, people)| {
        let team = producer.and_then(|producer| people.team_of(producer));
        may_see(actor, visibility, producer, team)
    })
}

fn pending(
    company: &Company,
    db: &Connection,
    wanted: &InboxQuery<'_>,
) -> Result<Vec<InboxPending>, Error> {
    let of_project = if wanted.project.is_some() {
        "artifacts.project_id = ?1"
    } else {
        "?1 IS NULL"
    };
    let mut statement = db.prepare_cached(&format!(
        "SELECT artifacts.project_id, artifact_id, type, title, visibility, produced_by, artifacts.run_id, created_at,
             coalesce(parse_error_count, 0), is_valid
         FROM artifacts LEFT JOIN run_activity
             ON run_activity.project_id = artifacts.project_id AND run_activity.run_id = artifacts.run_id
         WHERE type IN ({}) AND {of_project} AND NOT EXISTS (
             SELECT 1 FROM reviews WHERE reviews.project_id = artifacts.project_id
             AND subject_artifact_id = artifact_id
             AND subject_kind = CASE type WHEN 'memory_delta' THEN 'memory_delta'
                 WHEN 'milestone_report' THEN 'milestone' ELSE 'heartbeat_action' END
             AND (NOT is_plan_approval OR actor_role IN ('ceo', 'human')))
         ORDER BY created_at DESC, artifact_id DESC",
        types_to_decide()
    ))?;
    let mut rows = statement.query([wanted.project])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()?
        && found.len() < wanted.pending as usize
    {
        let item = InboxPending {
            project_id: row.get(0)?,
            artifact_id: row.get(1)?,
            artifact_type: row.get(2)?,
            title: row.get(3)?,
            visibility: row.get(4)?,
            produced_by: row.get(5)?,
            run_id: row.get(6)?,
            created_at: row.get(7)?,
            parse_error_count: row.get(8)?,
            invalid: (!row.get::<_, bool>(9)?).then_some(true),
        };
        let is_seen = sees(
            wanted.actor,
            item.visibility.as_deref(),
            item.produced_by.as_deref(),
        );
        if is_seen && !wanted.is_too_secret(company, &item.project_id, &item.artifact_id) {
            found.push(item);
        }
    }
    Ok(found)
}

/// Lists decisions, newest first; all of them, or only those with the given outcome.
pub(crate) fn decisions(
    company: &Company,
    db: &Connection,
    wanted: &InboxQuery<'_>,
    only: Option<ReviewDecision>,
) -> Result<Vec<InboxDecision>, Error> {
    let of_project = if wanted.project.is_some() {
        "reviews.project_id = ?1"
    } else {
        "?1 IS NULL"
    };
    let mut statement = db.prepare_cached(&format!(
        "SELECT review_id, reviews.created_at, decision, actor_id, actor_role, subject_kind, subject_artifact_id,
             reviews.project_id, notes, artifacts.type, artifacts.run_id, coalesce(parse_error_count, 0),
             artifacts.visibility, artifacts.produced_by
         FROM reviews LEFT JOIN artifacts
             ON artifacts.project_id = reviews.project_id AND artifacts.artifact_id = reviews.subject_artifact_id
         LEFT JOIN run_activity
             ON run_activity.project_id = artifacts.project_id AND run_activity.run_id = artifacts.run_id
         WHERE {of_project} AND (?2 IS NULL OR decision = ?2)
         ORDER BY reviews.created_at DESC, review_id DESC"
    ))?;
    let only = only.map(|decision| decision.as_str());
    let mut rows = statement.query(params![wanted.project, only])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()?
        && found.len() < wanted.decisions as usize
    {
        let item = InboxDecision {
            review_id: row.get(0)?,
            created_at: row.get(1)?,
            decision: word(row, 2)?,
            actor_id: row.get(3)?,
            actor_role: word(row, 4)?,
            subject_kind: row.get(5)?,
            subject_artifact_id: row.get(6)?,
            project_id: row.get(7)?,
            notes: row.get(8)?,
            artifact_type: row.get(9)?,
            run_id: row.get(10)?,
            parse_error_count: row.get(11)?,
        };
        let (visibility, producer): (Option<String>, Option<String>) = (row.get(12)?, row.get(13)?);
        let is_theirs = wanted
            .actor
            .is_some_and(|(actor, _)| actor.id == item.actor_id);
        // Decisions about a deleted document are visible to managers only.
        let visibility = match item.artifact_type {
            Some(_) => visibility.as_deref(),
            None => Some("managers"),
        };
        let is_seen = sees(wanted.actor, visibility, producer.as_deref())
            && !wanted.is_too_secret(company, &item.project_id, &item.subject_artifact_id);
        if is_theirs || is_seen {
            found.push(item);
        }
    }
    Ok(found)
}

/// Lists the newest reviews that can be read, by file name.
pub fn list_reviews(
    company: &Company,
    limit: usize,
    actor: Option<&Actor>,
) -> Result<Vec<Review>, company::Error> {
    let people = People::of(company)?;
    let mut found = Vec::new();
    for name in company.names(layout::REVIEWS)?.iter().rev() {
        if found.len() >= limit {
            break;
        }
        if !name.ends_with(".yaml") {
            continue;
        }
        let Ok(review) = company.read::<Review>(&format!("{}/{name}", layout::REVIEWS)) else {
            continue;
        };
        if actor.is_none_or(|actor| may_see_review(company, &people, actor, &review)) {
            found.push(Review::clone(&review));
        }
    }
    Ok(found)
}

/// A review reveals content of its document, so only actors that may read the document may read the review.
fn may_see_review(company: &Company, people: &People, actor: &Actor, review: &Review) -> bool {
    if review.actor_id.as_str() == actor.id {
        return true;
    }
    let subject = &review.subject;
    let ids = ProjectId::parse(&subject.project_id).and_then(|project| {
        let document = DocumentId::parse(&subject.artifact_id)?;
        Ok((project, document))
    });
    let document = ids.ok().and_then(|(project, document)| {
        let read = company.read_markdown::<DocumentHead>(&layout::document(&project, &document));
        read.ok()
    });
    match document {
        Some(document) => {
            let head = &document.head;
            let (project, id) = (&subject.project_id, &subject.artifact_id);
            !memory::is_too_secret(company, actor, project, id)
                && sees(
                    Some((actor, people)),
                    Some(head.visibility.as_str()),
                    Some(&head.produced_by),
                )
        }
        None => actor.role != ActorRole::Worker,
    }
}

/// The manager a help request is addressed to may always read it.
pub(crate) fn may_see_request(
    actor: Option<(&Actor, &People)>,
    visibility: Visibility,
    requester: &str,
    target_manager: &str,
) -> bool {
    let is_asked = actor.is_some_and(|(actor, _)| target_manager == actor.id);
    is_asked || sees(actor, Some(visibility.as_str()), Some(requester))
}

/// Lists the newest help requests that can be read, by file name.
pub fn list_help_requests(
    company: &Company,
    limit: usize,
    actor: Option<&Actor>,
) -> Result<Vec<HelpRequest>, company::Error> {
    let people = People::of(company)?;
    let mut found = Vec::new();
    for name in company.names(layout::HELP_REQUESTS)?.iter().rev() {
        if found.len() >= limit {
            break;
        }
        if !name.ends_with(".md") {
            continue;
        }
        let read =
            company.read_markdown::<HelpRequest>(&format!("{}/{name}", layout::HELP_REQUESTS));
        let Ok(request) = read else {
            continue;
        };
        let Markdown { head, .. } = &*request;
        let actor = actor.map(|actor| (actor, &people));
        if may_see_request(
            actor,
            head.visibility,
            &head.requester,
            &head.target_manager,
        ) {
            found.push(head.clone());
        }
    }
    Ok(found)
}
