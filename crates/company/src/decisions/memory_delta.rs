//! The files of a memory delta: its patch, and the memory or guidance that the patch changes.

use protocol::{
    Id as _,
    company::{AgentId, DocumentId, MemoryScopeKind, ProjectId},
};

use crate::{document::MemoryDeltaHead, layout};

/// Subject kind of a memory delta in reviews and in the policy.
pub(crate) const KIND: &str = "memory_delta";

/// Memory that a delta changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MemoryScope {
    Project(ProjectId),
    Agent(AgentId),
}

impl MemoryScope {
    pub(crate) fn kind(&self) -> MemoryScopeKind {
        match self {
            Self::Project(_) => MemoryScopeKind::ProjectMemory,
            Self::Agent(_) => MemoryScopeKind::AgentGuidance,
        }
    }

    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Project(project) => project.as_str(),
            Self::Agent(agent) => agent.as_str(),
        }
    }

    /// The only file that a delta of this scope may change.
    pub(crate) fn target(&self) -> String {
        match self {
            Self::Project(project) => layout::project_memory(project),
            Self::Agent(agent) => layout::agent_guidance(agent),
        }
    }

    /// The scope whose target file is `target`; `None` for every other path.
    pub(crate) fn of_target(target: &str, project: &ProjectId) -> Option<Self> {
        let target = target.replace('\\', "/");
        if target == layout::project_memory(project) {
            return Some(Self::Project(project.clone()));
        }
        let agent = target.strip_prefix("org/agents/")?;
        let agent = AgentId::parse(agent.strip_suffix("/AGENTS.md")?).ok()?;
        Some(Self::Agent(agent))
    }
}

/// The memory or guidance file that a delta changes; `None` if its target is neither.
pub(crate) fn target_of(head: &MemoryDeltaHead, project: &ProjectId) -> Option<String> {
    MemoryScope::of_target(&head.target_file, project).map(|scope| scope.target())
}

/// Path of the patch file of a delta, derived from its id.
pub(crate) fn patch_of(project: &ProjectId, artifact: &DocumentId) -> String {
    format!("{}/{artifact}.patch", layout::documents(project))
}
