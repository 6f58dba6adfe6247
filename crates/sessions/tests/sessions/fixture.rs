//! Test fixture: a company with one project, and its sessions.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, sync::Arc};

use company::{
    Companies, Company, Sources,
    document::{Machine, Run},
    events::replay::{self, Options as ReplayOptions},
    execution::run,
    layout,
    workspace::init::{self, NonEmpty},
};
use protocol::{
    Id as _,
    company::{
        AgentId, ProjectId, RunId, Text,
        run::ReplayMode,
        session::{
            CompanySessionCollectResponse, CompanySessionLaunchParams, CompanySessionLaunchResponse,
        },
    },
};
use serde_json::Value;
use sessions::{Options, ProcessId, Sessions, lanes::Limits};
use tempfile::TempDir;
use tokio::sync::Notify;

/// Tests have the permission to execute.
#[expect(clippy::disallowed_methods, reason = "tests need no authorization")]
pub(crate) const MAY: protocol::MayExec = protocol::MayExec::granted();

/// Test fixture: a company with one project, and its sessions.
pub(crate) struct Fixture {
    _folder: TempDir,
    pub(crate) company: Company,
    pub(crate) project: ProjectId,
    pub(crate) sessions: Sessions,
    /// Notified whenever events are written.
    pub(crate) appended: Arc<Notify>,
}

pub(crate) fn text(text: impl Into<String>) -> Text {
    Text::new(text).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "tests plant files of people")]
pub(crate) fn plant(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

impl Fixture {
    pub(crate) fn open() -> Self {
        Self::with(Options::default())
    }

    pub(crate) fn with(options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let appended = Arc::new(Notify::new());
        let tell = Arc::clone(&appended);
        #[expect(
            clippy::disallowed_methods,
            reason = "real processes need the real time"
        )]
        let now = || {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            i64::try_from(since.unwrap().as_millis()).unwrap()
        };
        let companies = Companies::new(
            Sources::new(Arc::new(now)),
            company::Trust::everywhere(),
            Arc::new(move |_, _| tell.notify_waiters()),
        );
        let root = folder.path().join("office").display().to_string();
        let company = companies.locate(&root);
        init::init(&company, &text("Fixture"), NonEmpty::from_force(None)).unwrap();
        let company = companies.open(&root).unwrap();
        let project = company.write(|writer| writer.create_project("P")).unwrap();
        Self {
            _folder: folder,
            sessions: Sessions::new(companies, options),
            company,
            project,
            appended,
        }
    }

    pub(crate) fn run_of(&self, provider: &str) -> RunId {
        let agent = AgentId::parse("agent_w").unwrap();
        run::create(&self.company, &self.project, &agent, provider)
            .unwrap()
            .run_id
    }

    pub(crate) fn params(&self, run: &RunId, argv: &[&str]) -> CompanySessionLaunchParams {
        let params = serde_json::json!({
            "workspace_dir": self.company.given(),
            "project_id": self.project,
            "run_id": run,
            "argv": argv,
        });
        serde_json::from_value(params).unwrap()
    }

    pub(crate) async fn launch(&self, argv: &[&str]) -> (RunId, CompanySessionLaunchResponse) {
        let run = self.run_of("cmd");
        let launched = self
            .sessions
            .launch(self.params(&run, argv), MAY)
            .await
            .unwrap();
        (run, launched)
    }

    /// Runs a shell script in a session and waits until it is over.
    pub(crate) async fn script(&self, script: &str) -> (RunId, CompanySessionCollectResponse) {
        let (run, launched) = self.launch(&["/bin/sh", "-c", script]).await;
        (run, self.collect(&launched.session_ref).await)
    }

    pub(crate) async fn collect(&self, session_ref: &str) -> CompanySessionCollectResponse {
        self.sessions
            .collect(Some(self.company.given()), session_ref, Some(MAY))
            .await
            .unwrap()
    }

    pub(crate) async fn stop(&self, session_ref: &str) {
        self.sessions
            .stop(Some(self.company.given()), session_ref, MAY)
            .await
            .unwrap();
    }

    pub(crate) fn events(&self, run: &RunId) -> Vec<Value> {
        let path = self
            .company
            .path(&format!("{}/events.jsonl", layout::run(&self.project, run)));
        let lines = fs::read_to_string(path).unwrap();
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub(crate) fn types(&self, run: &RunId) -> Vec<String> {
        let events = self.events(run);
        events
            .iter()
            .map(|event| event["type"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The output of a run, from its events.
    pub(crate) fn printed(&self, run: &RunId) -> String {
        let events = self.events(run);
        let raw = events
            .iter()
            .filter(|event| event["type"] == "provider.raw");
        raw.map(|event| event["payload"]["chunk"].as_str().unwrap())
            .collect()
    }

    /// Waits until the output of a run contains `wanted`, and returns the output.
    pub(crate) async fn until_printed(&self, run: &RunId, wanted: &str) -> String {
        loop {
            let appended = self.appended.notified();
            tokio::pin!(appended);
            appended.as_mut().enable();
            let printed = self.printed(run);
            if printed.contains(wanted) {
                return printed;
            }
            appended.await;
        }
    }

    pub(crate) fn output(&self, run: &RunId, name: &str) -> Vec<u8> {
        let folder = layout::run(&self.project, run);
        fs::read(self.company.path(&format!("{folder}/outputs/{name}"))).unwrap()
    }

    pub(crate) fn document(&self, run: &RunId) -> Run {
        let path = format!("{}/run.yaml", layout::run(&self.project, run));
        Run::clone(&self.company.read::<Run>(&path).unwrap())
    }

    /// Asserts that the events of a run are unchanged and complete.
    pub(crate) fn assert_intact(&self, run: &RunId) {
        let path = self
            .company
            .path(&format!("{}/events.jsonl", layout::run(&self.project, run)));
        let options = ReplayOptions {
            mode: ReplayMode::Verified,
            tail: None,
            after_seq: 0,
            limit: None,
            events_tail: self.document(run).events_tail,
        };
        assert!(options.events_tail.is_some());
        let replayed = replay::replay(&path, &options).unwrap().replayed;
        assert_eq!(replayed.verification_issues, []);
        assert!(replayed.deterministic_ok);
    }

    pub(crate) fn set_machine(&self, change: impl FnOnce(&mut Machine)) {
        let mut machine = Machine::initial();
        change(&mut machine);
        self.company
            .write(|writer| writer.put(layout::MACHINE, &machine))
            .unwrap();
    }
}

pub(crate) fn is_alive(pid: &str) -> bool {
    ProcessId::of(pid.parse().unwrap()).is_alive()
}

pub(crate) fn program(folder: &Path, name: &str, script: &str) -> String {
    let path = folder.join(name);
    plant(&path, &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

pub(crate) fn one_at_a_time() -> Options {
    Options {
        limits: Limits {
            workspace: 1,
            provider: 1,
            team: 1,
        },
        ..Options::default()
    }
}
