//! A company with two teams, their agents, a project, a task and a run.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
};

use company::{
    Companies, Company, Error, Sources,
    decisions::review::{DocumentDecision, PresenceProof},
    execution::run,
    memory::{self, NewDelta, Proposed},
    policy::Actor,
    workspace::init,
};
use protocol::{
    Id as _,
    company::{
        ActorRole, AgentId, ContextPackId, DocumentId, MemoryScopeKind, Presence, ProjectId,
        ReviewDecision, RunId, Sensitivity, Text, Visibility,
    },
};

/// 2025-11-15T12:00:00.000Z in Unix milliseconds.
const NOW: i64 = 1_763_208_000_000;

pub(crate) struct Place {
    /// Deleted on drop.
    folder: tempfile::TempDir,
    pub(crate) company: Company,
    pub(crate) project: ProjectId,
    pub(crate) run: RunId,
    pub(crate) pack: ContextPackId,
}

/// Companies with a clock that advances by one millisecond per read.
fn companies() -> Companies {
    let (clock, random) = (AtomicI64::new(NOW), AtomicU64::new(0));
    let now = move || clock.fetch_add(1, Ordering::Relaxed);
    let random = move || u128::from(random.fetch_add(1, Ordering::Relaxed));
    Companies::new(
        Sources::with_random(Arc::new(now), random),
        company::Trust::everywhere(),
        Arc::new(|_, _| {}),
    )
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("the fixture is as it was made");
        let company = companies().locate(
            folder
                .path()
                .to_str()
                .expect("the fixture is as it was made"),
        );
        let name = Text::new("Acme").expect("the fixture is as it was made");
        init::init(&company, &name, init::NonEmpty::Refuse).expect("the fixture is as it was made");
        for (agent, role, team) in [
            ("agent_a", "worker", "team_a"),
            ("agent_b", "worker", "team_b"),
            ("agent_m", "manager", "team_a"),
            ("agent_d", "director", "team_b"),
            ("agent_c", "ceo", "team_a"),
        ] {
            put(
                &company,
                &format!("org/agents/{agent}/agent.yaml"),
                &format!(
                    "schema_version: 1\ntype: agent\nid: {agent}\nname: {agent}\nrole: {role}\nprovider: codex\n\
                     team_id: {team}\ncreated_at: \"2024-05-01T09:00:00.000Z\"\nlauncher: {{}}\n"
                ),
            );
            put(
                &company,
                &format!("org/agents/{agent}/AGENTS.md"),
                &format!(
                    "# AGENTS.md - {agent}\n\n## Operating Rules\n\n## Recurring Mistakes To Avoid\n"
                ),
            );
        }
        let project = company
            .write(|writer| writer.create_project("Alpha"))
            .expect("the fixture is as it was made");
        let agent = AgentId::parse("agent_a").expect("the fixture is as it was made");
        let made = run::create(&company, &project, &agent, "codex")
            .expect("the fixture is as it was made");
        put(
            &company,
            &format!("work/projects/{project}/tasks/task_1.md"),
            &format!(
                "---\nschema_version: 1\ntype: task\nid: task_1\nproject_id: {project}\ntitle: Work\n\
                 created_at: \"2024-06-01T10:00:00.000Z\"\nstatus: draft\nvisibility: team\nteam_id: team_a\n\
                 deliverables: [A service]\nacceptance_criteria: [It works]\n\
                 milestones:\n  - id: ms_1\n    title: One\n    kind: planning\n    status: ready\n    acceptance_criteria: []\n\
                 \x20 - id: ms_2\n    title: Two\n    kind: coding\n    status: ready\n    acceptance_criteria: []\n\
                 ---\n\n# Work\n\n## Contract\n\n## Milestones\n"
            ),
        );
        Self {
            folder,
            company,
            project,
            run: made.run_id,
            pack: made.context_pack_id,
        }
    }

    /// The folder opened by another process, which finishes incomplete changes.
    pub(crate) fn reopened(&self) -> Company {
        let company = companies()
            .open(self.dir())
            .expect("the fixture is as it was made");
        company.finish_left();
        company
    }

    /// The folder of a process that ends after `writes` writes.
    pub(crate) fn ending_after(&self, writes: u64) -> Company {
        let left = AtomicU64::new(writes);
        self.with_before_write(move |_: &Path| {
            let took = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
            match took {
                Ok(_) => Ok(()),
                Err(_) => Err(Error::Refused("the process ended".to_owned())),
            }
        })
    }

    /// The folder of a process with a `before_write` hook that can make writes fail.
    pub(crate) fn with_before_write(
        &self,
        before_write: impl Fn(&Path) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Company {
        let companies = companies().with_before_write(Arc::new(before_write));
        companies
            .open(self.dir())
            .expect("the fixture is as it was made")
    }

    fn dir(&self) -> &str {
        self.folder
            .path()
            .to_str()
            .expect("the fixture is as it was made")
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.company.path(relative)).expect("the fixture is as it was made")
    }

    pub(crate) fn put(&self, relative: &str, text: &str) {
        put(&self.company, relative, text);
    }

    pub(crate) fn memory(&self) -> String {
        self.read(&format!("work/projects/{}/memory.md", self.project))
    }

    /// Types of the events of the run, in order.
    pub(crate) fn events(&self) -> Vec<String> {
        let log = format!(
            "work/projects/{}/runs/{}/events.jsonl",
            self.project, self.run
        );
        let kind = |line: &str| {
            let event: serde_json::Value =
                serde_json::from_str(line).expect("the fixture is as it was made");
            event["type"]
                .as_str()
                .expect("the fixture is as it was made")
                .to_owned()
        };
        self.read(&log).lines().map(kind).collect()
    }

    pub(crate) fn count(&self, event_type: &str) -> usize {
        let events = self.events();
        events.iter().filter(|kind| *kind == event_type).count()
    }

    /// Names of the entries of a folder that are not hidden.
    pub(crate) fn names(&self, relative: &str) -> Vec<String> {
        self.company
            .names(relative)
            .expect("the fixture is as it was made")
    }

    pub(crate) fn delta(&self, line: &str) -> NewDelta {
        NewDelta {
            id: None,
            project_id: self.project.clone(),
            title: text("Use port 8080"),
            scope_kind: MemoryScopeKind::ProjectMemory,
            scope_ref: None,
            sensitivity: Sensitivity::Internal,
            rationale: "Agreed in review".to_owned(),
            under_heading: "## Decisions".to_owned(),
            insert_lines: vec![text(line)],
            visibility: Visibility::Managers,
            produced_by: text("agent_a"),
            run_id: self.run.clone(),
            context_pack_id: self.pack.clone(),
            evidence: vec![text("art_e")],
        }
    }

    pub(crate) fn propose(&self, line: &str) -> Proposed {
        memory::propose(&self.company, &self.delta(line)).expect("the fixture is as it was made")
    }

    pub(crate) fn verdict(
        &self,
        artifact: &DocumentId,
        decision: ReviewDecision,
    ) -> DocumentDecision {
        DocumentDecision {
            project_id: self.project.clone(),
            artifact_id: artifact.clone(),
            decision,
            actor: human(),
            notes: None,
            expected_sha256: None,
            presence: PresenceProof {
                via: Presence::Terminal,
                token: None,
            },
        }
    }

    /// Writes a report on a milestone of the task.
    pub(crate) fn report(&self, id: &str, milestone: &str, more: &str) -> DocumentId {
        let (project, run) = (&self.project, &self.run);
        self.put(
            &format!("work/projects/{project}/artifacts/{id}.md"),
            &format!(
                "---\nschema_version: 1\ntype: milestone_report\nid: {id}\ncreated_at: \"2024-06-02T10:00:00.000Z\"\n\
                 title: Report\nvisibility: team\nproduced_by: agent_a\nrun_id: {run}\ncontext_pack_id: ctx_1\n\
                 project_id: {project}\ntask_id: task_1\nmilestone_id: {milestone}\nevidence_artifacts: [art_diff]\n{more}---\n\n\
                 # Report\n\n## Summary\n\n## Evidence\n\n## Next\n"
            ),
        );
        DocumentId::parse(id).expect("the fixture is as it was made")
    }

    /// Writes an action proposal of a heartbeat.
    pub(crate) fn proposal(&self, id: &str) -> DocumentId {
        let (project, run) = (&self.project, &self.run);
        self.put(
            &format!("work/projects/{project}/artifacts/{id}.md"),
            &format!(
                "---\nschema_version: 1\ntype: heartbeat_action_proposal\nid: {id}\ncreated_at: \"2024-06-02T10:00:00.000Z\"\n\
                 title: Proposal\nvisibility: managers\nproduced_by: agent_a\nrun_id: {run}\ncontext_pack_id: ctx_1\n\
                 project_id: {project}\nproposed_action:\n  kind: noop\n  idempotency_key: key_1\n  risk: low\n\
                 \x20 needs_approval: true\n  reason: none\n---\n\n# Proposal\n\n## Summary\n\n## Proposed Action\n\n## Policy\n"
            ),
        );
        DocumentId::parse(id).expect("the fixture is as it was made")
    }
}

pub(crate) fn text(text: &str) -> Text {
    Text::new(text).expect("the fixture is as it was made")
}

pub(crate) fn human() -> Actor {
    actor("human", ActorRole::Human)
}

pub(crate) fn actor(id: &str, role: ActorRole) -> Actor {
    Actor {
        id: id.to_owned(),
        role,
        team_id: None,
    }
}

/// Writes a file, replacing an existing one.
#[expect(clippy::disallowed_methods, reason = "a test plants files")]
fn put(company: &Company, relative: &str, text: &str) {
    let path = company.path(relative);
    fs::create_dir_all(path.parent().expect("the fixture is as it was made"))
        .expect("the fixture is as it was made");
    fs::write(path, text).expect("the fixture is as it was made");
}
