//! Test fixture: a company folder with a fake Codex.

#![allow(
    clippy::needless_pass_by_value,
    reason = "a test hands over what it wrote down"
)]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use company::{Companies, Company, Sources, document::Run, workspace::init::NonEmpty};
use jobs::{Jobs, Resubmit, StandaloneServices};
use protocol::{
    Id as _,
    company::{
        JobId, ProjectId, RunStatus, Text,
        job::{JobCollectResponse, JobSpec},
    },
};
use serde_json::{Value, json};
use sessions::{Options, Sessions};
use tempfile::TempDir;

/// Tests have the permission to execute.
#[expect(clippy::disallowed_methods, reason = "tests need no authorization")]
pub(crate) const MAY: protocol::MayExec = protocol::MayExec::granted();

/// The output of a worker that completed its job.
pub(crate) const DONE: &str = r#"{"status":"succeeded","summary":"done","files_changed":[],"commands_run":[],"artifacts":[],"next_actions":[],"errors":[]}"#;

/// A company folder, its jobs, and a folder with worker programs.
pub(crate) struct Fixture {
    root: Arc<TempDir>,
    pub(crate) company: Company,
    pub(crate) project: ProjectId,
    pub(crate) sessions: Sessions,
    pub(crate) jobs: Jobs,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with_now(Arc::new(|| jiff::Timestamp::now().as_millisecond()))
    }

    pub(crate) fn with_now(now: company::Now) -> Self {
        Self::with(now, Options::default())
    }

    /// Creates a fixture with declared drivers, by name.
    pub(crate) fn with_drivers(drivers: Value) -> Self {
        let options = Options {
            drivers: serde_json::from_value(drivers).expect("drivers"),
            ..Options::default()
        };
        Self::with(
            Arc::new(|| jiff::Timestamp::now().as_millisecond()),
            options,
        )
    }

    fn with(now: company::Now, options: Options) -> Self {
        let root = Arc::new(tempfile::tempdir().expect("a folder"));
        let (company, sessions, jobs) = open(root.path(), now, options);
        company::workspace::init::init(
            &company,
            &Text::new("Acme").expect("a name"),
            NonEmpty::from_force(None),
        )
        .expect("a company");
        let project = company
            .write(|writer| writer.create_project("Svc"))
            .expect("a project");
        let fixture = Self {
            root,
            company,
            project,
            sessions,
            jobs,
        };
        fs::create_dir(fixture.bin()).expect("a folder");
        fixture.agent("agent_w", "codex", json!({}));
        let bin = fixture.bin().join("codex").display().to_string();
        let machine = format!(
            "schema_version: 1\ntype: machine\nrepo_roots: {{}}\nprovider_bins:\n  codex: {bin}\n"
        );
        write(&fixture.company.path(".local/machine.yaml"), &machine);
        fixture.login("Logged in using ChatGPT");
        fixture
    }

    /// The same folder, opened by another process.
    pub(crate) fn restarted(&self) -> Self {
        let now = Arc::new(|| jiff::Timestamp::now().as_millisecond());
        let (company, sessions, jobs) = open(self.root.path(), now, Options::default());
        Self {
            root: Arc::clone(&self.root),
            company,
            project: self.project.clone(),
            sessions,
            jobs,
        }
    }

    /// The same folder for a process that ends after `writes` writes.
    pub(crate) fn ending_after(&self, writes: u64) -> (Company, Jobs) {
        let left = AtomicU64::new(writes);
        self.of_another_process(move |_: &Path| {
            let took = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
            match took {
                Ok(_) => Ok(()),
                Err(_) => Err(company::Error::Refused("the process ended".to_owned())),
            }
        })
    }

    /// The same folder for another process. `before_write` can make its writes fail.
    pub(crate) fn of_another_process(
        &self,
        before_write: impl Fn(&Path) -> Result<(), company::Error> + Send + Sync + 'static,
    ) -> (Company, Jobs) {
        let now = Arc::new(|| jiff::Timestamp::now().as_millisecond());
        let companies = Companies::new(
            Sources::new(now),
            company::Trust::everywhere(),
            Arc::new(|_, _| {}),
        )
        .with_before_write(Arc::new(before_write));
        let company = companies.locate(self.company.given());
        let sessions = Sessions::new(companies, Options::default());
        (company, Jobs::new(sessions, Arc::new(StandaloneServices)))
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.root.path().join("bin")
    }

    pub(crate) fn agent(&self, id: &str, provider: &str, launcher: Value) {
        let text = format!(
            "schema_version: 1\ntype: agent\nid: {id}\nname: {id}\nrole: worker\nprovider: {provider}\n\
             created_at: \"2024-05-01T09:00:00.000Z\"\nlauncher: {launcher}\n"
        );
        let path = self.company.path(&format!("org/agents/{id}/agent.yaml"));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        write(&path, &text);
    }

    /// Sets the script of `codex exec`. In it, `$d` is the folder of the program and `$n` the number of the call.
    pub(crate) fn codex(&self, script: &str) {
        let text = format!(
            "#!/bin/sh\nd=$(dirname \"$0\")\ncase \"$1\" in\n  login) cat $d/login; exit 0 ;;\n  --version) echo 'codex-cli 9'; exit 0 ;;\n\
             --help) echo help; exit 0 ;;\nesac\n[ \"$2\" = --help ] && exit 0\n\
             n=$(cat $d/n 2>/dev/null || echo 0); n=$((n+1)); echo $n > $d/n\n{script}\n"
        );
        let _ = fs::remove_file(self.bin().join("n"));
        let path = self.bin().join("codex");
        write(&path, &text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    }

    pub(crate) fn login(&self, says: &str) {
        write(&self.bin().join("login"), says);
    }

    /// Creates a pipe on which a worker blocks until [`Fixture::open_gate`].
    pub(crate) fn gate(&self) {
        self.gate_named("gate");
    }

    pub(crate) fn gate_named(&self, name: &str) {
        let made = Command::new("mkfifo")
            .arg(self.bin().join(name))
            .status()
            .expect("mkfifo");
        assert!(made.success());
    }

    /// Lets the blocked worker continue.
    pub(crate) async fn open_gate(&self) {
        let path = self.bin().join("gate");
        let opened = tokio::task::spawn_blocking(move || write(&path, "go\n"));
        opened.await.expect("a thread");
    }

    /// Waits until a worker has written into a pipe.
    pub(crate) async fn wait_for(&self, name: &str) {
        let path = self.bin().join(name);
        tokio::task::spawn_blocking(move || fs::read(path))
            .await
            .expect("a thread")
            .expect("a line");
    }

    pub(crate) fn spec(&self, id: &str, more: Value) -> JobSpec {
        let mut spec = json!({
            "job_id": id, "worker_kind": "codex", "workspace_dir": self.company.given(), "project_id": self.project,
            "goal": "Ship it", "constraints": [], "deliverables": ["patch"], "permission_level": "read-only",
            "context_refs": [], "context_mode": "manual", "manager_actor_id": "boss", "manager_role": "manager",
        });
        for (name, value) in more.as_object().expect("an object") {
            spec[name] = value.clone();
        }
        serde_json::from_value(spec).expect("a contract")
    }

    /// Submits a job and waits until it is over.
    pub(crate) async fn job(&self, id: &str, more: Value) -> JobCollectResponse {
        self.jobs
            .submit(self.spec(id, more), Resubmit::Refuse, MAY)
            .await
            .expect("a job");
        self.jobs
            .over(&self.company, &self.project, &job_id(id))
            .await;
        self.collect(id).await
    }

    pub(crate) async fn collect(&self, id: &str) -> JobCollectResponse {
        self.jobs
            .collect(self.company.given(), &self.project, &job_id(id), Some(MAY))
            .await
            .expect("a job")
    }

    pub(crate) async fn cancel(&self, id: &str) -> JobCollectResponse {
        self.jobs
            .cancel(self.company.given(), &self.project, &job_id(id), MAY)
            .await
            .expect("a job");
        self.jobs
            .over(&self.company, &self.project, &job_id(id))
            .await;
        self.collect(id).await
    }

    pub(crate) fn project_path(&self, relative: &str) -> PathBuf {
        self.company
            .path(&format!("work/projects/{}/{relative}", self.project))
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.project_path(relative)).expect("a file")
    }

    pub(crate) fn edit(&self, relative: &str, change: impl FnOnce(&str) -> String) {
        let text = change(&self.read(relative));
        write(&self.project_path(relative), &text);
    }

    pub(crate) fn run_status(&self, run: &str) -> RunStatus {
        let path = format!("work/projects/{}/runs/{run}/run.yaml", self.project);
        self.company.read::<Run>(&path).expect("a run").status
    }

    pub(crate) fn event_types(&self, run: &str) -> Vec<String> {
        let text = self.read(&format!("runs/{run}/events.jsonl"));
        text.lines()
            .map(|line| {
                let event: Value = serde_json::from_str(line).expect("an event");
                event["type"].as_str().expect("a type").to_owned()
            })
            .collect()
    }
}

pub(crate) fn job_id(id: &str) -> JobId {
    JobId::parse(id).expect("an id")
}

fn open(root: &Path, now: company::Now, options: Options) -> (Company, Sessions, Jobs) {
    let companies = Companies::new(
        Sources::new(now),
        company::Trust::everywhere(),
        Arc::new(|_, _| {}),
    );
    let company = companies.locate(root.join("company").to_str().expect("a path"));
    let sessions = Sessions::new(companies, options);
    let jobs = Jobs::new(sessions.clone(), Arc::new(StandaloneServices));
    (company, sessions, jobs)
}

#[expect(clippy::disallowed_methods, reason = "fixtures need not be durable")]
fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
}
