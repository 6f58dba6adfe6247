//! A company folder built from text, for tests.

use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use company::{Companies, Company, Sources};
use index::Indexes;
use serde::de::DeserializeOwned;
use serde_json::json;

pub(crate) struct Folder {
    dir: tempfile::TempDir,
    pub(crate) company: Company,
    pub(crate) companies: Companies,
    pub(crate) indexes: Indexes,
}

/// Files get the system time, so the clock of the company uses it as well.
pub(crate) fn companies() -> Companies {
    let now = || {
        let since = std::time::UNIX_EPOCH.elapsed().expect("a time after 1970");
        i64::try_from(since.as_millis()).expect("a time before the end")
    };
    Companies::new(
        Sources::new(Arc::new(now)),
        company::Trust::everywhere(),
        Arc::new(|_, _| {}),
    )
}

pub(crate) fn at(path: &Path) -> Company {
    companies().locate(path.to_str().expect("a path of text"))
}

/// A line of an event log.
pub(crate) fn line(kind: &str) -> String {
    line_for(
        kind,
        "org",
        &json!({"rule_id": "vis.org", "policy": {"rule_id": "vis.no"}}),
    )
}

pub(crate) fn line_for(kind: &str, visibility: &str, payload: &serde_json::Value) -> String {
    json!({
        "schema_version": 1, "ts_wallclock": "2026-07-01T12:00:00.000Z", "run_id": "run_1",
        "session_ref": "local_run_1", "actor": "system", "visibility": visibility, "type": kind, "payload": payload,
        "ts_monotonic_ms": 7,
    })
    .to_string()
}

/// A document.
pub(crate) fn document(id: &str, kind: &str, title: &str, body: &str) -> String {
    visible(id, kind, title, body, "org")
}

pub(crate) fn visible(id: &str, kind: &str, title: &str, body: &str, visibility: &str) -> String {
    format!(
        "---\nschema_version: 1\ntype: {kind}\nid: {id}\ncreated_at: 2026-07-02T10:00:00.000Z\ntitle: {title}\n\
         visibility: {visibility}\nproduced_by: agent_1\nrun_id: run_1\ncontext_pack_id: ctx_1\n---\n\n# {title}\n\n{body}\n"
    )
}

impl Folder {
    /// A company with one document of each kind.
    pub(crate) fn with_everything() -> Self {
        let folder = Self::empty();
        for (agent, team) in [("agent_1", "team_1"), ("agent_2", "team_2")] {
            folder.write(
                &format!("org/agents/{agent}/agent.yaml"),
                &format!(
                    "schema_version: 1\ntype: agent\nid: {agent}\nname: {agent}\nrole: worker\nprovider: codex\n\
                     team_id: {team}\ncreated_at: 2026-06-01T00:00:00.000Z\nlauncher: {{}}\n"
                ),
            );
        }
        folder.run("run_1", "agent_1", "running");
        folder.events("run_1", &[&line("run.started"), &line("policy.decision")]);
        folder.write(
            "work/projects/proj_1/artifacts/art_1.md",
            &document("art_1", "memory_delta", "A delta", "Some text."),
        );
        folder.write(
            "work/projects/proj_1/tasks/task_1.md",
            "---\nschema_version: 1\ntype: task\nid: task_1\nproject_id: proj_1\ntitle: A task\n\
             created_at: 2026-06-01T10:00:00.000Z\nstatus: draft\nvisibility: team\nteam_id: team_1\nmilestones:\n  - id: ms_1\n    title: First\n\
             \x20   kind: coding\n    status: done\n    acceptance_criteria: []\n---\n\n## Contract\n\nPolish the gearbox.\n",
        );
        folder.write(
            "inbox/reviews/rev_1.yaml",
            "schema_version: 1\ntype: review\nid: rev_1\ncreated_at: 2026-07-01T00:00:00.000Z\nactor_id: human\n\
             actor_role: human\ndecision: approved\nsubject:\n  kind: milestone\n  artifact_id: art_0\n  project_id: proj_1\n\
             policy:\n  allowed: true\n  rule_id: vis.org\n  reason: org_visible\nnotes: fine\n",
        );
        folder.write(
            "inbox/help_requests/help_1.md",
            "---\nschema_version: 1\ntype: help_request\nid: help_1\ncreated_at: 2026-07-11T00:00:00.000Z\n\
             title: Need help\nvisibility: managers\nrequester: agent_1\ntarget_manager: agent_9\n---\n\n## Question\n",
        );
        folder.write(
            "inbox/comments/cmt_1.yaml",
            "schema_version: 1\ntype: comment\nid: cmt_1\ncreated_at: 2026-07-01T00:00:00.000Z\nauthor_id: human\n\
             author_role: human\nvisibility: managers\ntarget:\n  project_id: proj_1\n  agent_id: agent_1\nbody: look at the gearbox\n",
        );
        folder.write(
            "inbox/conversations/conv_1/conversation.yaml",
            "schema_version: 1\ntype: conversation\nid: conv_1\nscope: workspace\nkind: channel\nname: General\nslug: general\n\
             visibility: team\ncreated_at: 2026-07-01T00:00:00.000Z\ncreated_by: human\nauto_generated: false\n\
             participants:\n  agent_ids:\n    - agent_1\n  team_ids: []\n",
        );
        let message = json!({
            "schema_version": 1, "type": "message", "id": "msg_1", "conversation_id": "conv_1",
            "created_at": "2026-07-01T00:00:01.000Z", "author_id": "agent_1", "author_role": "worker", "kind": "text",
            "visibility": "team", "body": "the gearbox is stuck", "mentions": [],
        });
        folder.write(
            "inbox/conversations/conv_1/messages.jsonl",
            &format!("{message}\nnot a message\n"),
        );
        folder.write(
            "work/projects/proj_1/jobs/job_1/job.yaml",
            "status: running\n",
        );
        folder
    }

    pub(crate) fn empty() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let companies = companies();
        let company = companies.locate(dir.path().to_str().expect("a path of text"));
        let folder = Self {
            dir,
            company,
            companies,
            indexes: Indexes::new(),
        };
        folder.write(
            "company/company.yaml",
            "schema_version: 1\ntype: company\nid: cmp_1\nname: Test\ncreated_at: 2026-06-01T00:00:00.000Z\n",
        );
        folder.write(
            "work/projects/proj_1/project.yaml",
            "schema_version: 1\ntype: project\nid: proj_1\nname: One\nstatus: active\ncreated_at: 2026-06-01T00:00:00.000Z\n",
        );
        folder
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    /// Replaces a file.
    pub(crate) fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        self.overwrite(&path, text);
    }

    pub(crate) fn overwrite(&self, path: &Path, text: &str) {
        self.overwrite_bytes(path, text.as_bytes());
    }

    pub(crate) fn overwrite_bytes(&self, path: &Path, bytes: &[u8]) {
        let mut file = File::create(path).expect("a file");
        file.write_all(bytes).expect("some text");
    }

    pub(crate) fn remove(&self, relative: &str) {
        let path = self.path(relative);
        if path.is_dir() {
            fs::remove_dir_all(path).expect("a folder")
        } else {
            fs::remove_file(path).expect("a file")
        }
    }

    /// A run whose creation time follows from the number in its id.
    pub(crate) fn run(&self, id: &str, agent: &str, status: &str) {
        let number: u32 = id
            .rsplit('_')
            .next()
            .and_then(|number| number.parse().ok())
            .unwrap_or(0);
        self.write(
            &format!("work/projects/proj_1/runs/{id}/run.yaml"),
            &format!(
                "schema_version: 1\ntype: run\nid: {id}\nproject_id: proj_1\nagent_id: {agent}\nprovider: codex\n\
                 created_at: 2026-07-01T08:{:02}:{:02}.000Z\nstatus: {status}\ncontext_pack_id: ctx_1\n\
                 events_relpath: runs/{id}/events.jsonl\nusage:\n  source: provider_reported\n  confidence: high\n\
                 \x20 total_tokens: 100\n  cost_usd: 0.25\n",
                number / 60,
                number % 60
            ),
        );
    }

    pub(crate) fn events(&self, run: &str, lines: &[&str]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.write(
            &format!("work/projects/proj_1/runs/{run}/events.jsonl"),
            &text,
        );
    }

    pub(crate) fn append(&self, run: &str, line: &str) {
        self.append_raw(run, &format!("{line}\n"));
    }

    pub(crate) fn append_raw(&self, run: &str, text: &str) {
        let path = self.path(&format!("work/projects/proj_1/runs/{run}/events.jsonl"));
        let mut file = OpenOptions::new().append(true).open(path).expect("a log");
        file.write_all(text.as_bytes()).expect("some text");
    }

    /// Parameters that contain only the folder.
    pub(crate) fn params<T: DeserializeOwned>(&self) -> T {
        self.params_with(json!({}))
    }

    pub(crate) fn params_with<T: DeserializeOwned>(&self, mut params: serde_json::Value) -> T {
        params["workspace_dir"] = self.company.given().into();
        serde_json::from_value(params).expect("params")
    }
}
