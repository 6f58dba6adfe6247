//! A company folder with at least one document of every kind.

use std::{fs, path::Path, sync::Arc};

use company::{Companies, Company, Sources, workspace::init};
use protocol::company::Text;
use tempfile::TempDir;

/// 2025-11-15T12:00:00.000Z in Unix milliseconds.
const NOW: i64 = 1_763_208_000_000;

/// Creates and fills a company folder in a new folder, which is deleted on drop.
pub(crate) fn new_folder() -> (TempDir, Companies, Company) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let companies = Companies::new(
        Sources::with_random(Arc::new(|| NOW), || 0),
        company::Trust::everywhere(),
        Arc::new(|_, _| {}),
    );
    let root = folder.path().join("acme");
    fs::create_dir(&root).expect("a folder");
    let company = companies.locate(root.to_str().expect("a path in UTF-8"));
    let name = Text::new("Acme").expect("a name");
    init::init(&company, &name, init::NonEmpty::Refuse).expect("a new company");
    for file in FILES.split("//- ").skip(1) {
        let (path, text) = file.split_once('\n').expect("a path and a text");
        put(&company.path(path), text);
    }
    (folder, companies, company)
}

/// Writes a file, replacing an existing one.
#[expect(clippy::disallowed_methods, reason = "a test plants files")]
pub(crate) fn put(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    fs::write(path, text).expect("a file");
}

const FILES: &str = r###"//- org/teams/team_a/team.yaml
schema_version: 1
type: team
id: team_a
name: Backend
department_key: backend
created_at: "2025-11-01T00:00:00.000Z"
//- org/teams/team_a/memory.md
# Memory
//- org/agents/agent_a/agent.yaml
schema_version: 1
type: agent
id: agent_a
name: Ada
role: worker
provider: codex
team_id: team_a
created_at: "2025-11-01T00:00:00.000Z"
launcher: {}
//- org/agents/agent_a/journal.md
# Journal
//- org/agents/agent_m/agent.yaml
schema_version: 1
type: agent
id: agent_m
name: Max
role: manager
provider: gemini
created_at: "2025-11-01T00:00:00.000Z"
//- inbox/reviews/rev_a.yaml
schema_version: 1
type: review
id: rev_a
created_at: "2025-11-01T00:00:00.000Z"
actor_id: human
actor_role: human
decision: approved
subject:
  kind: memory_delta
  artifact_id: art_delta
  project_id: proj_a
policy:
  allowed: true
  rule_id: vis.org
  reason: org_visible
notes: ""
//- inbox/help_requests/help_a.md
---
schema_version: 1
type: help_request
id: help_a
created_at: "2025-11-01T00:00:00.000Z"
title: How
visibility: managers
requester: agent_a
target_manager: agent_m
---

# How

## Question

How?

## Response
//- inbox/workspace_home/conversation.yaml
schema_version: 1
type: conversation
id: conv_workspace_home
scope: workspace
kind: home
name: Workspace Home
slug: home
visibility: org
created_at: "2025-11-01T00:00:00.000Z"
created_by: agent_m
auto_generated: true
participants:
  agent_ids: [human_ceo]
  team_ids: []
//- inbox/workspace_home/messages.jsonl
{"schema_version":1,"type":"message","id":"msg_a","conversation_id":"conv_workspace_home","created_at":"2025-11-01T00:00:00.000Z","author_id":"human","author_role":"human","kind":"text","visibility":"org","body":"Hello","mentions":[]}
//- .local/sessions/local_run_a.yaml
schema_version: 1
type: session_record
session_ref: local_run_a
workspace_dir: /somewhere
project_id: proj_a
run_id: run_a
status: ended
exit_code: 0
signal: null
started_at_ms: 1761955200000
mode: command
//- work/projects/proj_a/project.yaml
schema_version: 1
type: project
id: proj_a
name: Alpha
status: active
created_at: "2025-11-01T00:00:00.000Z"
budget:
  soft_tokens: 10
  hard_tokens: 20
//- work/projects/proj_a/repos.yaml
schema_version: 1
type: project_repo_links
project_id: proj_a
updated_at: "2025-11-01T00:00:00.000Z"
repos:
  - repo_id: main
//- work/projects/proj_a/memory.md
# Alpha

## Summary

The password: "hunter2 and more".
//- work/projects/proj_a/tasks/task_a.md
---
schema_version: 1
type: task
id: task_a
project_id: proj_a
title: Do it
created_at: "2025-11-01T00:00:00.000Z"
status: ready
visibility: team
deliverables: [it]
acceptance_criteria: [it is done]
milestones:
  - id: ms_a
    title: First
    kind: coding
    status: ready
    acceptance_criteria: [tests]
---

# Do it

## Contract

## Milestones
//- work/projects/proj_a/artifacts/art_plan.md
---
schema_version: 1
type: proposal
id: art_plan
created_at: "2025-11-01T00:00:00.000Z"
title: A plan
visibility: managers
produced_by: agent_a
run_id: run_a
context_pack_id: ctx_a
---

# A plan

## Summary

Use sk-abcdefghijklmnopqrstuvwx.

## Plan

## Risks
//- work/projects/proj_a/artifacts/art_digest.md
---
schema_version: 1
type: manager_digest
id: art_digest
created_at: "2025-11-01T00:00:00.000Z"
title: Not for all
visibility: team
produced_by: agent_m
run_id: run_hidden
context_pack_id: ctx_a
---

## Summary

## Decisions

## Risks
//- work/projects/proj_a/artifacts/art_delta.md
---
schema_version: 2
type: memory_delta
id: art_delta
created_at: "2025-11-01T00:00:00.000Z"
title: Remember
visibility: org
produced_by: agent_a
run_id: run_manual
context_pack_id: ctx_manual
project_id: proj_a
target_file: work/projects/proj_a/memory.md
patch_file: work/projects/proj_a/artifacts/art_delta.patch
scope_kind: project_memory
scope_ref: proj_a
sensitivity: internal
rationale: it helps
evidence: [art_plan]
---

## Summary

## Changes

## Evidence
//- work/projects/proj_a/artifacts/art_delta.patch
--- a/memory.md
//- work/projects/proj_a/artifacts/art_report.md
---
schema_version: 1
type: milestone_report
id: art_report
created_at: "2025-11-01T00:00:00.000Z"
title: Done
visibility: team
produced_by: agent_a
run_id: run_a
context_pack_id: ctx_a
project_id: proj_a
task_id: task_a
milestone_id: ms_a
evidence_artifacts: []
---

## Summary

## Evidence

## Next
//- work/projects/proj_a/runs/run_a/run.yaml
schema_version: 1
type: run
id: run_a
project_id: proj_a
agent_id: agent_a
provider: codex
created_at: "2025-11-01T00:00:00.000Z"
status: ended
ended_at: "2025-11-01T00:01:00.000Z"
context_pack_id: ctx_a
events_relpath: runs/run_a/events.jsonl
usage:
  source: provider_reported
  confidence: high
  total_tokens: 12
spec:
  kind: command
  argv: [x]
  worktree_relpath: .local/worktrees/proj_a/task_a/run_a
//- work/projects/proj_a/runs/run_a/events.jsonl
{"schema_version":1,"event_id":"evt_1","run_id":"run_a","visibility":"org","type":"run.started","payload":{"b":1.0,"a":2},"prev_event_hash":null,"event_hash":"h1"}
{"schema_version":1,"event_id":"evt_2","run_id":"run_a","visibility":"team","type":"provider.raw","payload":{"chunk":"for the team"},"prev_event_hash":"h1","event_hash":"h2"}

{"schema_version":1,"event_id":"evt_3","run_id":"run_a","visibility":"managers","type":"x","payload":{"password":"p"},"prev_event_hash":"h2","event_hash":"h3"}
torn token=abc
{"event_id":"evt_4","visibility":"team","payload":{"chunk":"torn
//- work/projects/proj_a/runs/run_a/outputs/stdout.txt
out
//- work/projects/proj_a/context_packs/ctx_a/manifest.yaml
schema_version: 1
type: context_pack_manifest
id: ctx_a
created_at: "2025-11-01T00:00:00.000Z"
run_id: run_a
project_id: proj_a
agent_id: agent_a
included_docs:
  - path: work/projects/proj_a/memory.md
    sha256: 0123456789abcdef
    visibility: org
tool_allowlist: []
//- work/projects/proj_a/context_packs/ctx_a/policy_snapshot.yaml
schema_version: 1
type: policy_snapshot
id: art_policy
created_at: "2025-11-01T00:00:00.000Z"
run_id: run_a
tool_allowlist: []
//- work/projects/proj_a/share_packs/share_a/manifest.yaml
schema_version: 1
type: share_pack
id: share_a
created_at: "2025-11-01T00:00:00.000Z"
project_id: proj_a
created_by: human
visibility: managers
included_artifacts:
  - artifact_id: art_plan
    type: proposal
    visibility: managers
    source_relpath: work/projects/proj_a/artifacts/art_plan.md
    bundle_relpath: work/projects/proj_a/share_packs/share_a/bundle/art_plan.md
included_runs:
  - run_id: run_a
    source_relpath: work/projects/proj_a/runs/run_a/events.jsonl
    bundle_relpath: work/projects/proj_a/share_packs/share_a/bundle/runs/run_a.events.jsonl
    included_event_count: 1
//- work/projects/proj_a/share_packs/share_a/bundle/art_plan.md
# A plan
//- work/projects/proj_a/share_packs/share_a/bundle/runs/run_a.events.jsonl
{"a":1}
"###;
