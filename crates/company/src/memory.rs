//! Memory of projects and guidance of agents. Memory changes only through approved deltas.
//!
//! [`propose`] writes a delta, [`decide`] applies or denies it, [`list`] returns deltas, and [`extract_candidates`]
//! derives suggestions from the results of a job.

mod candidates;
pub mod context_plan;
mod decide;
pub mod guidance;
pub mod mistake;
mod patch;
mod propose;

use std::sync::Arc;

use protocol::{
    Id as _,
    company::{
        ActorRole, DocumentId, MemoryScopeKind, ProjectId, ReviewDecision, Sensitivity, Text,
        Visibility,
        memory::{
            DeltaFilter, DeltaStatus, MemoryDecision, MemoryDeltaRow, MemoryListDeltasResponse,
        },
    },
};

pub use candidates::{CandidateQuery, extract_candidates};
pub(crate) use decide::deny_invalid;
pub use decide::{DecidedDelta, decide};
pub(crate) use patch::is_patch;
pub(crate) use propose::propose_within;
pub use propose::{NewDelta, Proposed, propose};

use crate::{
    Company, Error,
    decisions::{
        memory_delta::{KIND, MemoryScope},
        review::{self, ReviewKey},
    },
    document::{DocumentKind, Markdown, MemoryDeltaHead},
    documents::{self, Listed, LooseHead},
    layout,
    org::project,
    policy::{self, Action, Actor, Resource},
};

/// A delta of either schema version, with the defaults of schema 1 filled in.
#[derive(Clone, Debug)]
pub(crate) struct Delta {
    pub(crate) document: Arc<Markdown<MemoryDeltaHead>>,
    pub(crate) scope_kind: MemoryScopeKind,
    pub(crate) scope_ref: Text,
    pub(crate) sensitivity: Sensitivity,
    pub(crate) rationale: Text,
}

impl Delta {
    /// Reads a delta; fails if the document does not match the schema.
    pub(crate) fn read(company: &Company, relative: &str) -> Result<Self, Error> {
        company.read_markdown(relative).map(Self::of)
    }

    /// Fills in the defaults of a delta that was read.
    pub(crate) fn of(document: Arc<Markdown<MemoryDeltaHead>>) -> Self {
        let head = &document.head;
        let scope = ProjectId::parse(&head.project_id)
            .ok()
            .and_then(|project| MemoryScope::of_target(&head.target_file, &project));
        let by_target = match scope {
            Some(MemoryScope::Agent(agent)) => {
                (MemoryScopeKind::AgentGuidance, crate::org::text(agent))
            }
            Some(MemoryScope::Project(_)) | None => {
                (MemoryScopeKind::ProjectMemory, head.project_id.clone())
            }
        };
        let unknown = Text::new(UNKNOWN_RATIONALE).expect("the constant is not empty");
        Self {
            scope_kind: head.scope_kind.unwrap_or(by_target.0),
            scope_ref: head.scope_ref.clone().unwrap_or(by_target.1),
            sensitivity: head.sensitivity.unwrap_or(Sensitivity::Internal),
            rationale: head.rationale.clone().unwrap_or(unknown),
            document,
        }
    }

    pub(crate) fn head(&self) -> &MemoryDeltaHead {
        &self.document.head
    }
}

/// Rationale that is reported for deltas of schema 1. Clients know this text.
const UNKNOWN_RATIONALE: &str =
    "Legacy memory delta (schema v1): rationale not captured in artifact frontmatter.";

/// Returns whether the sensitivity of a document hides it from `actor`, regardless of its visibility. Lists built from
/// the index call this, because the index does not store sensitivities.
pub fn is_too_secret(company: &Company, actor: &Actor, project: &str, document: &str) -> bool {
    let (Ok(project), Ok(document)) = (ProjectId::parse(project), DocumentId::parse(document))
    else {
        return false;
    };
    let path = layout::document(&project, &document);
    let document = match company.read_markdown::<LooseHead>(&path) {
        Ok(document) => document,
        Err(error) if error.is_missing() => return false,
        // The sensitivity of an unreadable document is unknown, so only directors and above see it.
        Err(_) => return policy::rank(actor.role) < policy::rank(ActorRole::Director),
    };
    let resource = Resource {
        kind: document.head.kind(),
        sensitivity: document.head.sensitivity(),
        ..Resource::visible(Visibility::Org)
    };
    !policy::decide(actor, Action::Read, &resource).allowed
}

/// Filter of [`list`].
#[derive(Clone, Debug)]
pub struct DeltaQuery {
    /// Actor on whose behalf the deltas are listed.
    pub actor: Actor,
    /// Restricts the list to this project; all projects if absent.
    pub project: Option<ProjectId>,
    /// Restricts the list to deltas with this status.
    pub status: DeltaFilter,
    /// Maximum number of deltas.
    pub limit: usize,
}

/// Returns the deltas that the actor may see, newest first, and the number of deltas that the policy hides.
pub fn list(company: &Company, wanted: DeltaQuery) -> Result<MemoryListDeltasResponse, Error> {
    let DeltaQuery {
        actor,
        project,
        status,
        limit,
    } = wanted;
    let projects = match &project {
        Some(project) => vec![project.clone()],
        None => project::project_ids(company)?,
    };
    let mut listed = Vec::new();
    for project in &projects {
        listed.extend(documents::list(
            company,
            project,
            &[DocumentKind::MemoryDelta],
        )?);
    }
    documents::sort_newest_first(&mut listed);
    let decisions = review::latest(company)?;
    let (mut items, mut filtered) = (Vec::new(), 0);
    for one in listed {
        if items.len() == limit {
            break;
        }
        let review = decisions.get(&ReviewKey::of(&one.project, &one.id, KIND));
        let delta = Delta::read(company, &layout::document(&one.project, &one.id)).ok();
        let is_usable = delta
            .as_ref()
            .is_some_and(|delta| decide::is_usable(company, &one.project, &one.id, delta));
        let delta_status = match review.map(|review| review.decision) {
            None if is_usable => DeltaStatus::Pending,
            None => DeltaStatus::Invalid,
            Some(ReviewDecision::Approved) => DeltaStatus::Approved,
            Some(ReviewDecision::Denied) => DeltaStatus::Denied,
        };
        let fits = match status {
            DeltaFilter::All => true,
            DeltaFilter::Pending => delta_status == DeltaStatus::Pending,
            DeltaFilter::Approved => delta_status == DeltaStatus::Approved,
            DeltaFilter::Denied => delta_status == DeltaStatus::Denied,
            DeltaFilter::Invalid => delta_status == DeltaStatus::Invalid,
        };
        if !fits {
            continue;
        }
        let decision = review.map(|review| MemoryDecision {
            review_id: review.id.to_string(),
            decision: review.decision,
            actor_id: review.actor_id.to_string(),
            actor_role: review.actor_role,
            created_at: review.created_at.to_string(),
            notes: review.notes.clone().unwrap_or_default(),
        });
        let Some(delta) = delta else {
            match unreadable_row(company, &actor, &one) {
                Some(row) => items.push(MemoryDeltaRow {
                    status: delta_status,
                    decision,
                    ..row
                }),
                None => filtered += 1,
            }
            continue;
        };
        let head = delta.head();
        let team = policy::team_of(company, &head.produced_by);
        let resource = Resource {
            team_id: team.as_deref(),
            producing_actor_id: Some(&head.produced_by),
            kind: Some(KIND),
            sensitivity: Some(delta.sensitivity),
            ..Resource::visible(head.visibility)
        };
        if !policy::decide(&actor, Action::Read, &resource).allowed {
            filtered += 1;
            continue;
        }
        items.push(MemoryDeltaRow {
            artifact_id: one.id.to_string(),
            title: head.title.to_string(),
            project_id: head.project_id.to_string(),
            run_id: head.run_id.to_string(),
            created_at: head.created_at.to_string(),
            visibility: head.visibility,
            produced_by: head.produced_by.to_string(),
            scope_kind: delta.scope_kind,
            scope_ref: delta.scope_ref.to_string(),
            sensitivity: delta.sensitivity,
            rationale: delta.rationale.to_string(),
            evidence: head.evidence.clone().unwrap_or_default(),
            source_schema_version: head.schema_version,
            status: delta_status,
            decision,
        });
    }
    Ok(MemoryListDeltasResponse {
        workspace_dir: company.given().to_owned(),
        project_id: project,
        status,
        count: items.len() as u64,
        filtered_by_policy_count: filtered,
        items,
    })
}

/// Builds the row of a delta that does not match the schema; `None` if the actor may not see it. Missing visibility and
/// sensitivity are treated as the most restrictive ones.
fn unreadable_row(company: &Company, actor: &Actor, listed: &Listed) -> Option<MemoryDeltaRow> {
    let head = &listed.document.head;
    let produced_by = head.produced_by().unwrap_or_default();
    let visibility = head.visibility().unwrap_or(Visibility::PrivateAgent);
    let sensitivity = head.sensitivity().unwrap_or(Sensitivity::Restricted);
    let team = policy::team_of(company, produced_by);
    let resource = Resource {
        team_id: team.as_deref(),
        producing_actor_id: Some(produced_by),
        kind: Some(KIND),
        sensitivity: Some(sensitivity),
        ..Resource::visible(visibility)
    };
    let is_visible = policy::decide(actor, Action::Read, &resource).allowed;
    is_visible.then(|| MemoryDeltaRow {
        artifact_id: listed.id.to_string(),
        title: head.title().unwrap_or_default().to_owned(),
        project_id: listed.project.to_string(),
        run_id: head.run_id().unwrap_or_default().to_owned(),
        created_at: head.created_at().unwrap_or_default().to_owned(),
        visibility,
        produced_by: produced_by.to_owned(),
        scope_kind: MemoryScopeKind::ProjectMemory,
        scope_ref: listed.project.to_string(),
        sensitivity,
        rationale: String::new(),
        evidence: Vec::new(),
        source_schema_version: 0,
        status: DeltaStatus::Invalid,
        decision: None,
    })
}
