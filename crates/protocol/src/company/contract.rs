//! The methods that the published company protocol document lists, and the extensions of this gateway.

use crate::{Dialect, FAMILIES};

/// Extension name that represents all methods of the tree family.
const TREE_FAMILY: &str = "tree_family";

/// The methods that version 1 of the company protocol document lists, sorted. The published document is fixed, so this
/// list never changes; a declared method that is not listed here is an extension.
const METHODS: [&str; 86] = [
    "adapter.status",
    "agent.profile.snapshot",
    "agent.record_mistake",
    "agent.refresh_context",
    "agent.self_improve_cycle",
    "artifact.read",
    "comment.add",
    "comment.list",
    "context.plan_for_job",
    "conversation.create_channel",
    "conversation.create_dm",
    "conversation.list",
    "conversation.members.sync",
    "conversation.message.send",
    "conversation.messages.list",
    "desktop.bootstrap.snapshot",
    "events.ack",
    "events.subscribe",
    "events.unsubscribe",
    "heartbeat.config.get",
    "heartbeat.config.set",
    "heartbeat.status",
    "heartbeat.tick",
    "inbox.list_help_requests",
    "inbox.list_reviews",
    "inbox.resolve",
    "inbox.snapshot",
    "index.list_event_parse_errors",
    "index.list_events",
    "index.list_help_requests",
    "index.list_reviews",
    "index.list_runs",
    "index.rebuild",
    "index.stats",
    "index.sync",
    "index.sync_worker_flush",
    "index.sync_worker_status",
    "job.cancel",
    "job.collect",
    "job.list",
    "job.poll",
    "job.submit",
    "memory.approve_delta",
    "memory.extract_candidates",
    "memory.list_deltas",
    "memory.propose_delta",
    "milestone.approve",
    "monitor.snapshot",
    "pipeline.client_intake.run",
    "pipeline.department.assign_tasks",
    "pm.apply_allocations",
    "pm.recommend_allocations",
    "pm.snapshot",
    "resources.snapshot",
    "run.create",
    "run.list",
    "run.replay",
    "session.collect",
    "session.launch",
    "session.list",
    "session.poll",
    "session.stop",
    "sharepack.replay",
    "system.capabilities",
    "task.list",
    "task.update_plan",
    "ui.resolve",
    "ui.snapshot",
    "usage.analytics",
    "workspace.agents.list",
    "workspace.bootstrap.enterprise",
    "workspace.diagnostics",
    "workspace.doctor",
    "workspace.export",
    "workspace.home.snapshot",
    "workspace.import",
    "workspace.init",
    "workspace.migrate",
    "workspace.open",
    "workspace.project.create_with_defaults",
    "workspace.project.link_repo",
    "workspace.projects.list",
    "workspace.repo_root.set",
    "workspace.teams.list",
    "workspace.validate",
    "worktree.cleanup",
];

/// Returns the extensions beyond the protocol document: the tree family, if it is declared, and every declared method
/// of the company family that the document does not list.
pub fn extensions() -> Vec<&'static str> {
    let has_tree_family = FAMILIES
        .iter()
        .any(|family| family.dialect == Dialect::Tree && !family.methods.is_empty());
    let mut extensions: Vec<_> = has_tree_family.then_some(TREE_FAMILY).into_iter().collect();
    let declared = FAMILIES
        .iter()
        .filter(|family| family.dialect == Dialect::Company)
        .flat_map(|family| family.methods)
        .map(|method| method.name);
    extensions.extend(declared.filter(|name| METHODS.binary_search(name).is_err()));
    extensions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_of_the_protocol_document_is_declared() {
        assert!(METHODS.is_sorted());
        let declared: Vec<_> = crate::methods().map(|(_, method)| method.name).collect();
        for name in METHODS {
            assert!(declared.contains(&name), "{name} is not declared");
        }
    }

    #[test]
    fn declared_methods_beyond_the_protocol_document_are_extensions() {
        let extensions = extensions();
        for name in [
            "tree_family",
            "pm.export",
            "index.search",
            "sharepack.create",
        ] {
            assert!(
                extensions.contains(&name),
                "{name} is not in {extensions:?}"
            );
        }
        assert!(!extensions.contains(&"pm.snapshot"));
    }
}
