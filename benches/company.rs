//! Measures company folders: lists and snapshots of a large folder over stdio, and durable writes against the bare file
//! operations that they need.
//!
//! `cargo bench -p cli --bench company` prints a table and exits with code 1 if a target is missed. The folder has 5
//! projects with 100 runs of 100 events each. The measurements alternate, and medians are compared. The time of a first
//! call is measured from the request to the response in a process that has just opened the folder.

#![expect(
    clippy::print_stdout,
    reason = "the benchmark prints its table; stdout is not a JSON-RPC channel here"
)]

use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::Path,
    process::{Command, ExitCode},
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use company::{
    Companies, Company, Sources,
    conversation::{self, ConversationScope, NewMessage},
    event_log::{Event, Payload},
    execution::run,
    policy::Actor,
    workspace::init::{self, NonEmpty},
};
use protocol::{
    Id as _,
    company::{
        ActorRole, AgentId, ConversationId, MessageKind, ProjectId, RunId, Text, Visibility,
    },
};
use serde_json::json;
use testkit::StdioProcess;

const PROJECTS: usize = 5;
const RUNS: usize = 100;
const EVENTS: usize = 100;
const ROUNDS: usize = 60;

/// Methods with the views they are called for; each has the target `LIMIT`.
const CALLS: [(&str, Option<&str>); 5] = [
    ("workspace.projects.list", None),
    ("desktop.bootstrap.snapshot", Some("home")),
    ("desktop.bootstrap.snapshot", Some("resources")),
    ("desktop.bootstrap.snapshot", Some("conversation")),
    ("desktop.bootstrap.snapshot", Some("activities")),
];
/// Maximum duration of a call.
const LIMIT: Duration = Duration::from_millis(60);
/// Number of processes that make a first call.
const PROCESSES: usize = 5;

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let company = open(folder.path());
    let projects = fill(&company);
    println!("{PROJECTS} projects, {RUNS} runs each, {EVENTS} events each\n");
    println!("{:<64} {:>12} {:>12}", "", "measured", "target");
    let mut is_met = true;
    let mut row = |name: &str, measured: String, target: &str, met: bool| {
        is_met &= met;
        let mark = if met { "" } else { "  missed" };
        println!("{name:<64} {measured:>12} {target:>12}{mark}");
    };
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
    for (method, view) in CALLS {
        let name = match view {
            Some(view) => format!("{method} {view}"),
            None => method.to_owned(),
        };
        let first = first_call(folder.path(), method, view, Index::Gone);
        // The view `activities` is read from the index, which the first call builds.
        match view {
            Some("activities") => row(&format!("{name}, builds the index"), ms(first), "", true),
            _ => row(
                &format!("{name}, first call"),
                ms(first),
                "< 60 ms",
                first < LIMIT,
            ),
        }
        let again = first_call(folder.path(), method, view, Index::Kept);
        let name_again = format!("{name}, first call, existing index");
        row(&name_again, ms(again), "< 60 ms", again < LIMIT);
        let warm = later_calls(folder.path(), method, view);
        row(&name, ms(warm), "< 60 ms", warm < LIMIT);
    }
    let writes = Rows::measure(&company, &projects[0], folder.path());
    let ratio = |ours: Duration, bare: Duration| ours.as_secs_f64() / bare.as_secs_f64();
    let create = ratio(writes.create, writes.bare_create);
    row(
        "run.create / bare file operations",
        format!("{create:.2}x"),
        "<= 3.00x",
        create <= 3.0,
    );
    let send = ratio(writes.send, writes.bare_send);
    row(
        "message.send / bare append and fsync",
        format!("{send:.2}x"),
        "<= 3.00x",
        send <= 3.0,
    );
    if is_met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Whether a new process finds an index in the folder.
#[derive(Clone, Copy, PartialEq)]
enum Index {
    Gone,
    Kept,
}

/// Returns the median duration of the first call of a process after it opened the folder.
fn first_call(folder: &Path, method: &str, view: Option<&str>, index: Index) -> Duration {
    let times = (0..PROCESSES).map(|_| {
        if index == Index::Gone {
            for entry in fs::read_dir(folder.join(".local")).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.to_string_lossy().contains("index.sqlite") {
                    fs::remove_file(path).expect("a file");
                }
            }
        }
        let home = tempfile::tempdir().expect("a home");
        let mut process = start(folder, home.path());
        timed(|| call(&mut process, folder, method, view))
    });
    median(times.collect())
}

/// Returns the median duration of later calls.
fn later_calls(folder: &Path, method: &str, view: Option<&str>) -> Duration {
    let home = tempfile::tempdir().expect("a home");
    let mut process = start(folder, home.path());
    call(&mut process, folder, method, view);
    let times = (0..ROUNDS).map(|_| timed(|| call(&mut process, folder, method, view)));
    median(times.collect())
}

fn start(folder: &Path, home: &Path) -> StdioProcess {
    let mut process = StdioProcess::start(Command::new(env!("CARGO_BIN_EXE_ac")), home);
    let opened = process.call("workspace.open", &json!({"workspace_dir": folder}));
    opened.expect("a company folder");
    process
}

fn call(process: &mut StdioProcess, folder: &Path, method: &str, view: Option<&str>) {
    let mut params = json!({"workspace_dir": folder, "limit": 20});
    if let Some(view) = view {
        params["view"] = json!(view);
        params["scope"] = json!("workspace");
        params["actor_id"] = json!("human");
        params["conversation_id"] = json!("conv_workspace_home");
    }
    process.call(method, &params).expect("an answer");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Median durations of the writes and of the bare operations they need.
struct Rows {
    create: Duration,
    bare_create: Duration,
    send: Duration,
    bare_send: Duration,
}

impl Rows {
    fn measure(company: &Company, project: &ProjectId, folder: &Path) -> Self {
        let agent = AgentId::parse("agent_bench").expect("an id");
        let scope = ConversationScope::Project(project.clone());
        let conversation = ConversationId::parse(&format!("conv_{project}_home")).expect("an id");
        let bare = folder.join("bare");
        fs::create_dir_all(&bare).expect("a folder");
        let log = bare.join("messages.jsonl");
        File::create(&log).expect("a file");
        let [mut create, mut bare_create, mut send, mut bare_send] = [const { Vec::new() }; 4];
        for round in 0..ROUNDS {
            create.push(timed(|| {
                drop(run::create(company, project, &agent, "cmd").expect("a run"))
            }));
            bare_create.push(timed(|| bare_documents(&bare, round)));
            send.push(timed(|| {
                let sent = conversation::send(company, &scope, &conversation, message());
                drop(sent.expect("a message"));
            }));
            bare_send.push(timed(|| bare_append(&log)));
        }
        Self {
            create: median(create),
            bare_create: median(bare_create),
            send: median(send),
            bare_send: median(bare_send),
        }
    }
}

/// Replaces three documents and appends one line, the minimum that `run.create` needs.
fn bare_documents(folder: &Path, round: usize) {
    for name in ["manifest.yaml", "policy_snapshot.yaml", "run.yaml"] {
        let (temporary, path) = (
            folder.join(format!("{name}.tmp")),
            folder.join(format!("{round}-{name}")),
        );
        let mut file = File::create(&temporary).expect("a file");
        file.write_all(&[b'x'; 400]).expect("a write");
        file.sync_all().expect("a sync");
        fs::rename(&temporary, &path).expect("a rename");
        File::open(folder)
            .expect("a folder")
            .sync_all()
            .expect("a sync");
    }
    let path = folder.join(format!("{round}-events.jsonl"));
    File::create(&path).expect("a file");
    bare_append(&path);
}

fn bare_append(path: &Path) {
    let mut file = OpenOptions::new().append(true).open(path).expect("a file");
    file.write_all(&[b'x'; 400]).expect("a write");
    file.sync_data().expect("a sync");
}

fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn open(folder: &Path) -> Company {
    #[expect(clippy::disallowed_methods, reason = "the benchmark runs in real time")]
    let now = || {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a time")
            .as_millis() as i64
    };
    let companies = Companies::new(
        Sources::new(Arc::new(now)),
        company::Trust::everywhere(),
        Arc::new(|_, _| {}),
    );
    companies.locate(folder.to_str().expect("a path that is text"))
}

fn fill(company: &Company) -> Vec<ProjectId> {
    let name = Text::new("Bench").expect("a name");
    init::init(company, &name, NonEmpty::Accept).expect("a company");
    let agent = AgentId::parse("agent_bench").expect("an id");
    (0..PROJECTS)
        .map(|number| {
            let project = company.write(|writer| {
                let project = writer.create_project(&format!("Project {number}"))?;
                writer.ensure_project_defaults(&project, "human_ceo", None)?;
                Ok(project)
            });
            let project = project.expect("a project");
            for _ in 0..RUNS {
                let run = run::create(company, &project, &agent, "cmd")
                    .expect("a run")
                    .run_id;
                let events: Vec<_> = (1..EVENTS).map(|_| event(company, &run)).collect();
                company
                    .append_events(&project, &run, &events)
                    .expect("events");
            }
            project
        })
        .collect()
}

fn event(company: &Company, run: &RunId) -> Event {
    Event {
        ts_wallclock: company.sources().now_text(),
        run_id: run.clone(),
        session_ref: "local".to_owned(),
        actor: "agent_bench".to_owned(),
        visibility: Visibility::Team,
        event_type: "provider.raw".to_owned(),
        payload: Payload::new(&json!({"stream": "stdout", "chunk": "some text ".repeat(20)}))
            .expect("a payload"),
        event_id: company.sources().id(),
        correlation_id: None,
        causation_id: None,
        ts_monotonic_ms: 0,
    }
}

fn message() -> NewMessage {
    NewMessage {
        author: Actor {
            id: "human".to_owned(),
            role: ActorRole::Human,
            team_id: None,
        },
        body: "some text ".repeat(20),
        kind: MessageKind::Text,
        visibility: None,
        mentions: Vec::new(),
    }
}
