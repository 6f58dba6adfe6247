//! What projects and agents remember. Memory changes by approved deltas and in no other way.
//!
//! [`propose`] writes a delta, [`decide`] applies or refuses it, [`list`] shows deltas, [`extract_candidates`]
//! suggests some from what a job left behind.

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
        ActorRole, AgentId, DocumentId, MemoryScopeKind, ProjectId, ReviewDecision, Sensitivity,
        Text, Visibility,
        memory::{
            DeltaFilter, DeltaStatus, MemoryDecision, MemoryDeltaRow, MemoryListDeltasResponse,
        },
    },
};

pub use candidates::{WantedCandidates, extract_candidates};
pub use decide::{Decided, decide};
pub(crate) use decide::{deny_invalid, patch_of};
pub(crate) use patch::is_patch;
pub(crate) use propose::propose_within;
pub use propose::{NewDelta, Proposed, propose};

use crate::{
    Company, Error,
    decisions::review::{self, Subject},
    document::{DocumentKind, Markdown, MemoryDeltaHead},
    documents::{self, Listed, LooseHead},
    layout,
    org::project,
    policy::{self, Action, Actor, Resource},
};

/// What reviews and policy call a delta.
pub const KIND: &str = "memory_delta";

/// Whose memory a delta changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scope {
    Project(ProjectId),
    Agent(AgentId),
}

impl Scope {
    fn kind(&self) -> MemoryScopeKind {
        match self {
            Self::Project(_) => MemoryScopeKind::ProjectMemory,
            Self::Agent(_) => MemoryScopeKind::AgentGuidance,
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::Project(project) => project.as_str(),
            Self::Agent(agent) => agent.as_str(),
        }
    }

    /// The only file a delta of this scope may change.
    fn target(&self) -> String {
        match self {
            Self::Project(project) => layout::project_memory(project),
            Self::Agent(agent) => layout::agent_guidance(agent),
        }
    }

    /// The scope whose target a path is.
    fn of_target(target: &str, project: &ProjectId) -> Option<Self> {
        let target = target.replace('\\', "/");
        if target == layout::project_memory(project) {
            return Some(Self::Project(project.clone()));
        }
        let agent = target.strip_prefix("org/agents/")?;
        let agent = AgentId::parse(agent.strip_suffix("/AGENTS.md")?).ok()?;
        Some(Self::Agent(agent))
    }
}

/// A delta of either schema, as everybody but the parser sees it.
#[derive(Clone, Debug)]
pub(crate) struct Delta {
    pub(crate) document: Arc<Markdown<MemoryDeltaHead>>,
    pub(crate) scope_kind: MemoryScopeKind,
    pub(crate) scope_ref: Text,
    pub(crate) sensitivity: Sensitivity,
    pub(crate) rationale: Text,
}

impl Delta {
    /// Fails on what is not in the schema.
    pub(crate) fn read(company: &Company, relative: &str) -> Result<Self, Error> {
        company.read_markdown(relative).map(Self::of)
    }

    /// A delta that was read.
    pub(crate) fn of(document: Arc<Markdown<MemoryDeltaHead>>) -> Self {
        let head = &document.head;
        let scope = ProjectId::parse(&head.project_id)
            .ok()
            .and_then(|project| Scope::of_target(&head.target_file, &project));
        let by_target = match scope {
            Some(Scope::Agent(agent)) => (MemoryScopeKind::AgentGuidance, crate::org::text(agent)),
            Some(Scope::Project(_)) | None => {
                (MemoryScopeKind::ProjectMemory, head.project_id.clone())
            }
        };
        let unknown = Text::new(UNKNOWN_RATIONALE).expect("a sentence");
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

/// The memory or guidance that a delta wants to change, if there is such a one.
pub(crate) fn target_of(head: &MemoryDeltaHead, project: &ProjectId) -> Option<String> {
    Scope::of_target(&head.target_file, project).map(|scope| scope.target())
}

/// What deltas of schema 1 say for a reason; clients know the sentence.
const UNKNOWN_RATIONALE: &str =
    "Legacy memory delta (schema v1): rationale not captured in artifact frontmatter.";

/// Whether a document is too secret for somebody to see, whatever its visibility says. Lists that come from an index
/// ask this, because an index does not know how secret a delta is.
pub fn is_too_secret(company: &Company, actor: &Actor, project: &str, document: &str) -> bool {
    let (Ok(project), Ok(document)) = (ProjectId::parse(project), DocumentId::parse(document))
    else {
        return false;
    };
    let path = layout::document(&project, &document);
    let document = match company.read_markdown::<LooseHead>(&path) {
        Ok(document) => document,
        Err(error) if error.is_missing() => return false,
        // Nobody can tell how secret it is.
        Err(_) => return policy::rank(actor.role) < policy::rank(ActorRole::Director),
    };
    let resource = Resource {
        kind: document.head.kind(),
        sensitivity: document.head.sensitivity(),
        ..Resource::visible(Visibility::Org)
    };
    !policy::decide(actor, Action::Read, &resource).allowed
}

/// Which deltas are wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Who asks.
    pub actor: Actor,
    /// Only of this project.
    pub project: Option<ProjectId>,
    /// Only those that stand so.
    pub status: DeltaFilter,
    /// At most so many.
    pub limit: usize,
}

/// The deltas somebody may see, newest first, and how many they may not.
pub fn list(company: &Company, wanted: Wanted) -> Result<MemoryListDeltasResponse, Error> {
    let Wanted {
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
        let review = decisions.get(&Subject::of(&one.project, &one.id, KIND));
        let delta = Delta::read(company, &layout::document(&one.project, &one.id)).ok();
        let is_usable = delta
            .as_ref()
            .is_some_and(|delta| decide::is_usable(company, &one.project, &one.id, delta));
        let stands = match review.map(|review| review.decision) {
            None if is_usable => DeltaStatus::Pending,
            None => DeltaStatus::Invalid,
            Some(ReviewDecision::Approved) => DeltaStatus::Approved,
            Some(ReviewDecision::Denied) => DeltaStatus::Denied,
        };
        let fits = match status {
            DeltaFilter::All => true,
            DeltaFilter::Pending => stands == DeltaStatus::Pending,
            DeltaFilter::Approved => stands == DeltaStatus::Approved,
            DeltaFilter::Denied => stands == DeltaStatus::Denied,
            DeltaFilter::Invalid => stands == DeltaStatus::Invalid,
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
            match unreadable(company, &actor, &one) {
                Some(row) => items.push(MemoryDeltaRow {
                    status: stands,
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
            status: stands,
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

/// What can be told of a delta that cannot be read as one, or nothing to those who may not see it. What it does not say
/// is as secret as can be.
fn unreadable(company: &Company, actor: &Actor, listed: &Listed) -> Option<MemoryDeltaRow> {
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
    let is_seen = policy::decide(actor, Action::Read, &resource).allowed;
    is_seen.then(|| MemoryDeltaRow {
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
