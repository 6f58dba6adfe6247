//! Measures sessions: launching and collecting `/bin/true` against the bare process and the bare file operations, with
//! and without a long history, and two hundred sessions with much output.
//!
//! `cargo bench -p sessions --bench sessions` prints a table and exits with code 1 if a target is missed. The bare side
//! starts the same program, waits for it, and makes the writes that a session needs: six durable replacements of
//! documents and three appends with a sync. Both measurements alternate, and their medians are compared.

#![expect(
    clippy::print_stdout,
    reason = "the benchmark prints its table; stdout is not a JSON-RPC channel here"
)]

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use company::{
    Companies, Company, Sources,
    document::Run,
    events::replay::{self, Options as ReplayOptions},
    execution::run,
    files, layout,
    workspace::init::{self, NonEmpty},
};
use protocol::{
    Id as _,
    company::{AgentId, ProjectId, RunId, RunStatus, Text, run::ReplayMode},
};
use serde_json::{Value, json};
use sessions::{Options, Sessions, lanes::Limits};
use tokio::{process::Command, task::JoinSet};

/// Permission to start processes, which the benchmark always has.
#[expect(
    clippy::disallowed_methods,
    reason = "the benchmark has no caller to authorize"
)]
const MAY: protocol::MayExec = protocol::MayExec::granted();

const ROUNDS: usize = 60;
const HISTORY: usize = 300;
const SESSIONS: usize = 200;
const AT_A_TIME: u64 = 8;
const LINES: usize = 10_000;

#[tokio::main]
async fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let office = Office::open(folder.path());
    let mut failed = false;
    let mut check = |what: &str, value: f64, unit: &str, target: f64| {
        let missed = value > target;
        failed |= missed;
        let mark = if missed { "MISSED" } else { "" };
        println!("{what:<58} {value:>9.2} {unit:<6} target {target:>7.2} {mark}");
    };

    let (bare, fresh) = office.compare(folder.path()).await;
    for _ in 0..HISTORY {
        let run = office.run();
        office.ended(&run, &["/bin/true"]).await;
    }
    let (bare_later, later) = office.compare(folder.path()).await;
    /// Maximum median time of a launch and collect, in milliseconds.
    const TARGET_MS: f64 = 15.0;
    check(
        "launch + collect of /bin/true",
        millis(fresh),
        "ms",
        TARGET_MS,
    );
    println!(
        "{:<58} {:>9.2} ms",
        "  the bare process and files",
        millis(bare)
    );
    check(
        "  ratio to the bare process and files",
        ratio(fresh, bare),
        "x",
        4.0,
    );
    check(
        "launch + collect with 300 earlier runs",
        millis(later),
        "ms",
        TARGET_MS,
    );
    let drift = ratio(later, fresh) / ratio(bare_later, bare);
    check(
        "  slowdown by them, relative to the bare side",
        drift,
        "x",
        1.3,
    );

    let before = resident_mb();
    let began = Instant::now();
    let (lost, broken, after_first) = office.many().await;
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{SESSIONS} sessions of {LINES} lines, {AT_A_TIME} at a time: {seconds:.1} s, {:.0} lines/s",
        (SESSIONS * LINES) as f64 / seconds
    );
    check("  lines lost", lost as f64, "", 0.0);
    check("  logs that are not intact", broken as f64, "", 0.0);
    let after = resident_mb();
    println!(
        "{:<58} {before:>9.1} MB before, {after_first:.1} MB after {AT_A_TIME}, {after:.1} MB at the end",
        "  memory"
    );
    check(
        "  memory growth after the first sessions",
        after - after_first,
        "MB",
        16.0,
    );
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn millis(length: Duration) -> f64 {
    length.as_secs_f64() * 1000.0
}

fn ratio(left: Duration, right: Duration) -> f64 {
    left.as_secs_f64() / right.as_secs_f64()
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples[samples.len() / 2]
}

fn resident_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}

struct Office {
    company: Company,
    project: ProjectId,
    sessions: Sessions,
}

impl Office {
    fn open(folder: &Path) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the benchmark runs in real time")]
        let now = || {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            let since = since.expect("a clock after 1970");
            i64::try_from(since.as_millis()).expect("a clock before the year 292 million")
        };
        let companies = Companies::new(
            Sources::new(Arc::new(now)),
            company::Trust::everywhere(),
            Arc::new(|_, _| {}),
        );
        let root = folder.join("office").display().to_string();
        let name = Text::new("Office").expect("a name");
        init::init(&companies.locate(&root), &name, NonEmpty::from_force(None))
            .expect("a company folder");
        let company = companies.open(&root).expect("a company folder");
        let project = company.write(|writer| writer.create_project("P"));
        let limits = Limits {
            workspace: AT_A_TIME,
            provider: AT_A_TIME,
            team: AT_A_TIME,
        };
        let options = Options {
            limits,
            ..Options::default()
        };
        Self {
            project: project.expect("a project"),
            sessions: Sessions::new(companies, options),
            company,
        }
    }

    fn run(&self) -> RunId {
        let agent = AgentId::parse("agent_w").expect("an id");
        run::create(&self.company, &self.project, &agent, "cmd")
            .expect("a run")
            .run_id
    }

    /// Launches a session and waits for its end.
    async fn ended(&self, run: &RunId, argv: &[&str]) {
        let params = json!({
            "workspace_dir": self.company.given(),
            "project_id": self.project,
            "run_id": run,
            "argv": argv,
        });
        let params = serde_json::from_value(params).expect("params");
        let launched = self.sessions.launch(params, MAY).await.expect("a launch");
        let collected =
            self.sessions
                .collect(Some(self.company.given()), &launched.session_ref, Some(MAY));
        assert_eq!(
            collected.await.expect("an end").state.status,
            RunStatus::Ended
        );
    }

    /// Returns the median durations of the bare process with its files and of a session, measured alternately.
    async fn compare(&self, folder: &Path) -> (Duration, Duration) {
        let (mut bare, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let began = Instant::now();
            bare_session(folder).await;
            bare.push(began.elapsed());
            let run = self.run();
            let began = Instant::now();
            self.ended(&run, &["/bin/true"]).await;
            ours.push(began.elapsed());
        }
        (median(bare), median(ours))
    }

    /// Runs many sessions with much output. Returns the number of lines that are missing in the events, the number of
    /// logs that are not intact, and the memory in megabytes after the first sessions.
    async fn many(&self) -> (usize, usize, f64) {
        let script = format!(
            "i=0; while [ $i -lt {LINES} ]; do echo \"line $i of a worker that says a lot\"; i=$((i+1)); done"
        );
        let (mut lost, mut broken, mut after_first) = (0, 0, 0.0);
        let mut open = JoinSet::new();
        let mut runs = (0..SESSIONS).map(|_| self.run()).collect::<Vec<_>>();
        let mut done = 0;
        loop {
            while open.len() < 8
                && let Some(run) = runs.pop()
            {
                let (sessions, company, project) = (
                    self.sessions.clone(),
                    self.company.clone(),
                    self.project.clone(),
                );
                let script = script.clone();
                open.spawn(async move {
                    let office = Self {
                        company,
                        project,
                        sessions,
                    };
                    office.ended(&run, &["/bin/sh", "-c", &script]).await;
                    run
                });
            }
            let Some(ended) = open.join_next().await else {
                return (lost, broken, after_first);
            };
            let run = ended.expect("a session");
            let (lines, intact) = self.printed(&run);
            lost += LINES - lines;
            broken += usize::from(!intact);
            done += 1;
            if done == 16 {
                after_first = resident_mb();
            }
        }
    }

    /// Returns the number of output lines in the events of a run, and whether its log is intact.
    fn printed(&self, run: &RunId) -> (usize, bool) {
        let folder = layout::run(&self.project, run);
        let path = self.company.path(&format!("{folder}/events.jsonl"));
        let document = self
            .company
            .read::<Run>(&format!("{folder}/run.yaml"))
            .expect("a run");
        let options = ReplayOptions {
            mode: ReplayMode::Verified,
            tail: None,
            after_seq: 0,
            limit: None,
            events_tail: document.events_tail.clone(),
        };
        let replayed = replay::replay(&path, &options).expect("a log").replayed;
        let mut lines = 0;
        for event in &replayed.events {
            let event: Value = serde_json::from_str(event.get()).expect("an event");
            if event["type"] == "provider.raw" {
                lines += event["payload"]["chunk"]
                    .as_str()
                    .unwrap_or_default()
                    .matches('\n')
                    .count();
            }
        }
        (lines, replayed.deterministic_ok)
    }
}

/// Starts the bare process and makes the writes that a session needs.
async fn bare_session(folder: &Path) {
    let document = vec![b'x'; 700];
    let log = folder.join("bare.jsonl");
    let append = || {
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&log)
            .expect("a log");
        file.write_all(&document)
            .and_then(|()| file.sync_data())
            .expect("an append");
    };
    let replace = |name: &str| files::replace(&folder.join(name), &document).expect("a document");
    append();
    replace("record");
    replace("run");
    append();
    let mut child = Command::new("/bin/true").spawn().expect("a process");
    replace("record");
    child.wait().await.expect("an end");
    append();
    replace("run");
    replace("usage");
    replace("record");
}
