//! What a tick costs that wakes nobody: 1 000 runs with 20 000 events and 500 tasks.
//!
//! `cargo bench -p runner --bench heartbeat` prints a table and ends with code 1 when the target is missed.

#![expect(
    clippy::print_stdout,
    reason = "a bench prints its table, and no JSON-RPC client listens"
)]

use std::{process::ExitCode, sync::Arc, time::Instant};

use company::{
    Companies, Sources, files, heartbeat,
    init::{self, NonEmpty},
    layout, run,
};
use protocol::{
    Id as _,
    company::{AgentId, Text, heartbeat::HeartbeatConfigSetParams},
};
use runner::{Alone, Heartbeats, Jobs, Options, Sessions, Tick};
use serde_json::json;

const RUNS: usize = 1000;
const EVENTS: usize = 20;
const TASKS: usize = 500;
const ROUNDS: usize = 20;
const TARGET_MS: f64 = 50.0;

#[tokio::main]
async fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let now = Arc::new(|| jiff::Timestamp::now().as_millisecond());
    let companies = Companies::new(Sources::new(now), Arc::new(|_, _| {}));
    let company = companies.at(folder.path().join("company").to_str().expect("a path"));
    let name = Text::new("Acme").expect("a name");
    init::init(&company, &name, NonEmpty::from_force(None)).expect("a company");
    let project = company
        .write(|writer| writer.create_project("Svc"))
        .expect("a project");
    let agent = AgentId::parse("agent_x").expect("an id");
    for number in 0..20 {
        let path = company.path(&format!("org/agents/agent_{number}/agent.yaml"));
        let text = format!(
            "schema_version: 1\ntype: agent\nid: agent_{number}\nname: A{number}\nrole: worker\nprovider: codex\n\
             created_at: \"2024-05-01T09:00:00.000Z\"\nlauncher: {{}}\n"
        );
        files::make_dir(path.parent().expect("a folder")).expect("a folder");
        files::replace(&path, text.as_bytes()).expect("an agent");
    }
    for _ in 0..RUNS {
        let made = run::create(&company, &project, &agent, "cmd").expect("a run");
        let path = company.path(&format!(
            "{}/events.jsonl",
            layout::run(&project, &made.run_id)
        ));
        let first = company.read_text(&format!(
            "{}/events.jsonl",
            layout::run(&project, &made.run_id)
        ));
        files::replace(&path, first.expect("an event").repeat(EVENTS).as_bytes()).expect("events");
    }
    for number in 0..TASKS {
        let path = company.path(&format!(
            "{}/tasks/task_{number}.md",
            layout::project(&project)
        ));
        let text = format!(
            "---\nschema_version: 1\ntype: task\nid: task_{number}\nproject_id: {project}\ntitle: T\n\
             created_at: \"2024-06-01T10:00:00.000Z\"\nstatus: ready\nvisibility: team\nmilestones: []\n---\n\n\
             # T\n\n## Contract\n\n## Milestones\n"
        );
        files::replace(&path, text.as_bytes()).expect("a task");
    }
    let set = json!({"workspace_dir": company.given(), "tick_interval_minutes": 1440});
    let set: HeartbeatConfigSetParams = serde_json::from_value(set).expect("a setting");
    heartbeat::set(&company, set).expect("a setting");
    let sessions = Sessions::new(companies, Options::default());
    let beats = Heartbeats::new(Jobs::new(sessions, Arc::new(Alone)));

    let measure = async || {
        let begin = Instant::now();
        let ticked = beats
            .tick(&company, Tick::Asked, "bench")
            .await
            .expect("a tick");
        assert!(ticked.jobs_submitted.is_empty());
        begin.elapsed().as_secs_f64() * 1000.0
    };
    let first = measure().await;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        times.push(measure().await);
    }
    times.sort_by(f64::total_cmp);
    let median = times[ROUNDS / 2];
    println!(
        "first tick of a process, {RUNS} runs, {} events {first:>9.1} ms",
        RUNS * EVENTS
    );
    println!("tick without launches                        {median:>9.1} ms   target {TARGET_MS}");
    match median <= TARGET_MS {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
