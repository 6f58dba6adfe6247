//! Measures the index: building it against only parsing and inserting the same rows, updating it against a `stat` of
//! the same files, and the views that are read from it.
//!
//! `cargo bench -p index --bench index` prints a table and exits with code 1 if a target is missed. The measurements
//! alternate, and medians are compared. Targets in milliseconds apply to the wall clock, so they require an otherwise
//! idle machine; the CPU time is printed beside it.
//! `-- --million` adds a folder of a million events, indexed by a separate process whose peak memory is measured.

#![expect(
    clippy::print_stdout,
    reason = "the benchmark prints its table; stdout is not a JSON-RPC channel here"
)]

use std::{
    borrow::Cow,
    fs::{self, File, OpenOptions},
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::Arc,
    time::Instant,
};

use company::{Companies, Company, Sources, execution::run::LiveRuns};
use index::{Indexes, LiveSessions};
use protocol::company::{
    Text, index::IndexSyncWorkerStatusResponse, monitor::MonitorSnapshotParams,
    ui::UiSnapshotParams, usage::UsageAnalyticsParams,
};
use rusqlite::{Connection, params};
use serde::Deserialize;
use serde_json::value::RawValue;

const ROUNDS: usize = 7;
const RUNS: usize = 1_000;
const EVENTS: usize = 100;
const MILLION_RUNS: usize = 10_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(place) = arguments.iter().position(|argument| argument == "--child") {
        return child(Path::new(&arguments[place + 1]));
    }
    let mut table = Table::default();
    thousand(&mut table);
    if arguments.iter().any(|argument| argument == "--million") {
        million(&mut table);
    }
    if table.missed {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

#[derive(Default)]
struct Table {
    missed: bool,
}

impl Table {
    fn row(&mut self, what: &str, value: &str, verdict: Option<(bool, String)>) {
        let verdict = match verdict {
            Some((holds, target)) => {
                self.missed |= !holds;
                format!("{target} {}", if holds { "ok" } else { "MISSED" })
            }
            None => String::new(),
        };
        println!("{what:<50} {value:>26}   {verdict}");
    }

    fn rate(&mut self, what: &str, seconds: f64, of: f64, least: Option<f64>) {
        let rate = (RUNS * EVENTS) as f64 / seconds;
        let ratio = of / seconds;
        let verdict = least.map(|least| (ratio >= least, format!("≥ {least:.2}×")));
        self.row(what, &format!("{rate:.0} events/s {ratio:.2}×"), verdict);
    }

    fn time(&mut self, what: &str, took: Took, bare: Option<f64>, most_ms: Option<f64>) {
        let verdict = most_ms.map(|most| (took.wall * 1e3 <= most, format!("≤ {most:.0} ms")));
        let ratio = bare.map_or_else(String::new, |bare| format!(" {:.1}×", took.wall / bare));
        let (cpu, wall) = (took.cpu * 1e3, took.wall * 1e3);
        let value = format!("{wall:.2} ms (cpu {cpu:.1}){ratio}");
        self.row(what, &value, verdict);
    }
}

fn thousand(table: &mut Table) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    make_company(folder.path(), RUNS);
    let (indexes, company) = open(folder.path());
    let logs: Vec<PathBuf> = (0..RUNS)
        .map(|run| run_dir(folder.path(), run).join("events.jsonl"))
        .collect();
    let raw_place = tempfile::tempdir().expect("a temporary folder");
    let mut samples: [Vec<Took>; 8] = Default::default();
    for round in 0..ROUNDS {
        let raw =
            measure(|| parse_and_insert(&logs, &raw_place.path().join(format!("raw-{round}"))));
        let rebuilt = measure(|| drop(indexes.rebuild(&company).expect("a rebuild")));
        indexes.sync(&company).expect("a sync");
        let bare = measure(|| look_at(folder.path()));
        let unchanged = measure(|| drop(indexes.sync(&company).expect("a sync")));
        append(&logs[round * 7]);
        let appended = measure(|| {
            let counts = indexes.sync(&company).expect("a sync");
            assert_eq!(counts.events_indexed, 1);
        });
        let views = [
            measure(|| monitor(&indexes, &company)),
            measure(|| ui(&indexes, &company)),
            measure(|| resources(&company)),
        ];
        let round = [
            raw, rebuilt, bare, unchanged, appended, views[0], views[1], views[2],
        ];
        for (samples, sample) in samples.iter_mut().zip(round) {
            samples.push(sample);
        }
    }
    let [
        raw,
        rebuilt,
        bare,
        unchanged,
        appended,
        monitor,
        ui,
        resources,
    ] = samples.map(|samples| median(&samples));
    println!("{RUNS} runs × {EVENTS} events, medians of {ROUNDS} rounds\n");
    table.rate(
        "parse and insert only, one thread",
        raw.wall,
        raw.wall,
        None,
    );
    table.rate("index.rebuild", rebuilt.wall, raw.wall, Some(0.60));
    println!();
    table.time("stat of the same files", bare, Some(bare.wall), None);
    table.time(
        "index.sync, nothing changed",
        unchanged,
        Some(bare.wall),
        Some(15.0),
    );
    table.time(
        "index.sync, one event appended",
        appended,
        Some(bare.wall),
        Some(20.0),
    );
    table.time(
        "monitor.snapshot, with its sync",
        monitor,
        Some(bare.wall),
        Some(25.0),
    );
    table.time(
        "ui.snapshot, with its sync",
        ui,
        Some(bare.wall),
        Some(25.0),
    );
    table.time(
        "resources.snapshot, from the documents",
        resources,
        Some(bare.wall),
        None,
    );
}

fn million(table: &mut Table) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    make_company(folder.path(), MILLION_RUNS);
    println!("\n{MILLION_RUNS} runs × {EVENTS} events, views as medians of {ROUNDS} rounds\n");
    let program = std::env::current_exe().expect("this program");
    let child = Command::new(program)
        .arg("--child")
        .arg(folder.path())
        .status();
    table.missed |= !child.expect("a child").success();
}

/// Prints the rows of a large folder. Returns a failure if a target is missed.
fn child(folder: &Path) -> ExitCode {
    let mut table = Table::default();
    let (indexes, company) = open(folder);
    let rebuild = measure(|| drop(indexes.rebuild(&company).expect("a rebuild")));
    let memory = peak_mb();
    let rate = (MILLION_RUNS * EVENTS) as f64 / rebuild.wall;
    table.row("index.rebuild", &format!("{rate:.0} events/s"), None);
    let verdict = (memory <= 300.0, "≤ 300 MB".to_owned());
    table.row(
        "peak memory of the rebuild",
        &format!("{memory:.0} MB"),
        Some(verdict),
    );
    indexes.sync(&company).expect("a sync");
    let several = |work: &dyn Fn()| median(&(0..ROUNDS).map(|_| measure(work)).collect::<Vec<_>>());
    let unchanged = several(&|| drop(indexes.sync(&company).expect("a sync")));
    table.time("index.sync, nothing changed", unchanged, None, None);
    let views: [(&str, &dyn Fn()); 4] = [
        ("monitor.snapshot, with its sync", &|| {
            monitor(&indexes, &company)
        }),
        ("ui.snapshot, with its sync", &|| ui(&indexes, &company)),
        ("resources.snapshot, from the documents", &|| {
            resources(&company)
        }),
        ("usage.analytics, with its sync", &|| {
            usage(&indexes, &company)
        }),
    ];
    for (what, view) in views {
        table.time(what, several(view), None, Some(50.0));
    }
    table.row(
        "peak memory after all views",
        &format!("{:.0} MB", peak_mb()),
        None,
    );
    if table.missed {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn peak_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) / 1024.0
}

fn open(folder: &Path) -> (Indexes, Company) {
    let sources = Sources::new(Arc::new(|| {
        let since = std::time::UNIX_EPOCH.elapsed().expect("a time after 1970");
        i64::try_from(since.as_millis()).expect("a time before the end")
    }));
    let companies = Companies::new(sources, company::Trust::everywhere(), Arc::new(|_, _| {}));
    let company = companies
        .open(folder.to_str().expect("a path of text"))
        .expect("a company folder");
    (Indexes::new(), company)
}

fn dir(company: &Company) -> Text {
    Text::new(company.given()).expect("a path")
}

fn monitor(indexes: &Indexes, company: &Company) {
    let params = MonitorSnapshotParams {
        workspace_dir: dir(company),
        project_id: None,
        limit: None,
        refresh_index: None,
        sync_index: None,
        actor_id: None,
        actor_role: None,
        actor_team_id: None,
    };
    let shown = indexes
        .monitor(company, &params, &LiveSessions::new(), None)
        .expect("a snapshot");
    assert_eq!(shown.rows.len(), 200);
}

fn ui(indexes: &Indexes, company: &Company) {
    let params = UiSnapshotParams {
        workspace_dir: dir(company),
        project_id: None,
        monitor_limit: None,
        pending_limit: None,
        decisions_limit: None,
        refresh_index: None,
        sync_index: None,
        actor_id: None,
        actor_role: None,
        actor_team_id: None,
    };
    let status = IndexSyncWorkerStatusResponse::default();
    let shown = indexes
        .ui(company, &params, &LiveSessions::new(), None, &status)
        .expect("a snapshot");
    assert_eq!(shown.monitor.rows.len(), 200);
}

fn resources(company: &Company) {
    let shown = company::execution::resources::snapshot(company, None, &LiveRuns::new());
    shown.expect("a snapshot");
}

fn usage(indexes: &Indexes, company: &Company) {
    let params = UsageAnalyticsParams {
        workspace_dir: dir(company),
        project_id: None,
        limit: None,
        refresh_index: None,
        sync_index: None,
    };
    indexes.usage(company, &params).expect("a snapshot");
}

/// Inserts the same rows into the same table and does nothing else: one thread, one transaction, no file state, no
/// views.
fn parse_and_insert(logs: &[PathBuf], place: &Path) {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow)]
        ts_wallclock: Cow<'a, str>,
        ts_monotonic_ms: i64,
        #[serde(borrow)]
        actor: Cow<'a, str>,
        #[serde(borrow)]
        session_ref: Cow<'a, str>,
        #[serde(borrow)]
        visibility: Cow<'a, str>,
        #[serde(borrow)]
        payload: &'a RawValue,
    }
    let db = Connection::open(place).expect("a database");
    db.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
         CREATE TABLE events (project_id TEXT, run_id TEXT, seq INTEGER, type TEXT, ts_wallclock TEXT,
             ts_monotonic_ms INTEGER, actor TEXT, session_ref TEXT, visibility TEXT, payload_json TEXT, raw_json TEXT,
             PRIMARY KEY (project_id, run_id, seq));
         CREATE INDEX events_type ON events(type);
         CREATE INDEX events_time ON events(ts_wallclock DESC);
         BEGIN",
    )
    .expect("a table");
    let mut insert = db
        .prepare("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")
        .expect("a statement");
    for log in logs {
        let text = fs::read_to_string(log).expect("a log");
        let run = log
            .parent()
            .and_then(|run| run.file_name())
            .and_then(|run| run.to_str());
        for (place, line) in text.lines().enumerate() {
            let event: Line<'_> = serde_json::from_str(line).expect("an event");
            insert
                .execute(params![
                    "proj_bench",
                    run,
                    place as i64 + 1,
                    event.kind,
                    event.ts_wallclock,
                    event.ts_monotonic_ms,
                    event.actor,
                    event.session_ref,
                    event.visibility,
                    event.payload.get(),
                    line,
                ])
                .expect("a row");
        }
    }
    drop(insert);
    db.execute_batch("COMMIT").expect("a commit");
    drop(db);
    fs::remove_file(place).expect("the database");
}

/// Reads the metadata of the documents and logs of all runs.
fn look_at(folder: &Path) {
    let runs = folder.join("work/projects/proj_bench/runs");
    for entry in fs::read_dir(runs).expect("the runs") {
        let run = entry.expect("a run").path();
        for file in ["run.yaml", "events.jsonl"] {
            run.join(file).metadata().expect("a file");
        }
    }
}

fn run_dir(folder: &Path, run: usize) -> PathBuf {
    folder.join(format!("work/projects/proj_bench/runs/run_{run:026}"))
}

fn append(log: &Path) {
    let mut file = OpenOptions::new().append(true).open(log).expect("a log");
    writeln!(file, "{}", event("run_appended", 9_999)).expect("an event");
}

fn event(run: &str, number: usize) -> String {
    let (kind, payload) = match number % 10 {
        0 => (
            "policy.decision",
            r#"{"allowed":true,"rule_id":"vis.org","reason":"org_visible","action":"launch","resource_id":"x","resource_kind":"run","resource_visibility":"org"}"#,
        ),
        5 => (
            "usage.reported",
            r#"{"source":"provider_reported","confidence":"high","total_tokens":900}"#,
        ),
        _ => (
            "provider.raw",
            r#"{"stream":"stdout","chunk":"compiling the next part of the program, nothing to worry about\n"}"#,
        ),
    };
    let (minute, second, hash) = (number / 60 % 60, number % 60, "0123456789abcdef".repeat(4));
    format!(
        r#"{{"schema_version":1,"ts_wallclock":"2026-07-01T12:{minute:02}:{second:02}.000Z","run_id":"{run}","session_ref":"local_{run}","actor":"system","visibility":"org","type":"{kind}","payload":{payload},"event_id":"evt_{number:026}","correlation_id":"local_{run}","causation_id":null,"ts_monotonic_ms":{number},"prev_event_hash":"{hash}","event_hash":"{hash}"}}"#
    )
}

fn make_company(folder: &Path, runs: usize) {
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        let mut file = File::create(path).expect("a file");
        file.write_all(text.as_bytes()).expect("some text");
    };
    let time = "2026-07-01T12:00:00.000Z";
    write(
        "company/company.yaml",
        &format!("schema_version: 1\ntype: company\nid: cmp_1\nname: Bench\ncreated_at: {time}\n"),
    );
    write(
        ".local/machine.yaml",
        "schema_version: 1\ntype: machine\nrepo_roots: {}\nprovider_bins: {}\n",
    );
    write(
        "work/projects/proj_bench/project.yaml",
        &format!(
            "schema_version: 1\ntype: project\nid: proj_bench\nname: Bench\nstatus: active\ncreated_at: {time}\n"
        ),
    );
    for agent in 0..8 {
        write(
            &format!("org/agents/agent_{agent}/agent.yaml"),
            &format!(
                "schema_version: 1\ntype: agent\nid: agent_{agent}\nname: Agent {agent}\nrole: worker\nprovider: codex\ncreated_at: {time}\nlauncher: {{}}\n"
            ),
        );
    }
    for run in 0..runs {
        let id = format!("run_{run:026}");
        let place = run_dir(folder, run);
        fs::create_dir_all(&place).expect("a folder");
        let (hour, minute, second) = (run / 3600, run / 60 % 60, run % 60);
        let document = format!(
            "schema_version: 1\ntype: run\nid: {id}\nproject_id: proj_bench\nagent_id: agent_{}\nprovider: codex\ncreated_at: 2026-07-01T{hour:02}:{minute:02}:{second:02}.000Z\nstatus: ended\ncontext_pack_id: ctx_{run}\nevents_relpath: runs/{id}/events.jsonl\nusage:\n  source: provider_reported\n  confidence: high\n  total_tokens: 900\n  cost_usd: 0.5\n",
            run % 8
        );
        let mut file = File::create(place.join("run.yaml")).expect("a file");
        file.write_all(document.as_bytes()).expect("some text");
        let mut log = BufWriter::new(File::create(place.join("events.jsonl")).expect("a file"));
        for number in 0..EVENTS {
            writeln!(log, "{}", event(&id, number)).expect("an event");
        }
        log.flush().expect("a log");
    }
}

/// Duration of a measurement in seconds.
#[derive(Clone, Copy)]
struct Took {
    /// Elapsed time on the wall clock.
    wall: f64,
    /// CPU time of this thread only.
    cpu: f64,
}

fn measure(work: impl FnOnce()) -> Took {
    let (started, on_cpu) = (Instant::now(), cpu_seconds());
    work();
    Took {
        wall: started.elapsed().as_secs_f64(),
        cpu: cpu_seconds() - on_cpu,
    }
}

fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split_whitespace().next();
    first
        .and_then(|nanoseconds| nanoseconds.parse::<f64>().ok())
        .unwrap_or(f64::NAN)
        / 1e9
}

fn median(samples: &[Took]) -> Took {
    let middle = |of: fn(&Took) -> f64| {
        let mut sorted: Vec<f64> = samples.iter().map(of).collect();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    };
    Took {
        wall: middle(|took| took.wall),
        cpu: middle(|took| took.cpu),
    }
}
