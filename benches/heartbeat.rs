//! Measures a heartbeat tick that wakes no worker, and planning the context of a job, in a folder with 1 000 runs,
//! 20 000 events, 2 000 documents and 500 tasks.
//!
//! `cargo bench -p jobs --bench heartbeat` prints a table and exits with code 1 if a target is missed. Files that
//! were modified very recently are not cached, so the benchmark waits before it measures.

#![expect(
    clippy::print_stdout,
    reason = "the benchmark prints its table; stdout is not a JSON-RPC channel here"
)]

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use company::{
    Companies, Company, Sources,
    execution::{heartbeat, run},
    files, layout,
    memory::context_plan::{self, Job, by_words},
    policy::Actor,
    workspace::init::{self, NonEmpty},
};
use jobs::{Heartbeats, Jobs, StandaloneServices, Tick};
use protocol::{
    Id as _,
    company::{ActorRole, AgentId, JobKind, ProjectId, Text, heartbeat::HeartbeatConfigSetParams},
};
use serde_json::json;
use sessions::{Options, Sessions};

/// Permission to start processes, which the benchmark always has.
#[expect(
    clippy::disallowed_methods,
    reason = "the benchmark has no caller to authorize"
)]
const MAY: protocol::MayExec = protocol::MayExec::granted();

const RUNS: usize = 1000;
/// Events per run.
const EVENTS: usize = 20;
const DOCUMENTS: usize = 2000;
const TASKS: usize = 500;
const AGENTS: usize = 20;
const ROUNDS: usize = 20;
const TARGET_MS: f64 = 50.0;

#[tokio::main]
async fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("company");
    let dir = dir.to_str().expect("a path");
    let companies = companies();
    let company = companies.locate(dir);
    let project = fill(&company);
    std::thread::sleep(Duration::from_millis(100));

    let sessions = Sessions::new(companies.clone(), Options::default());
    let beats = Heartbeats::new(Jobs::new(sessions, Arc::new(StandaloneServices)));
    let tick = async || {
        let begin = Instant::now();
        let ticked = beats
            .tick(&company, Tick::Asked, "bench", MAY)
            .await
            .expect("a tick");
        assert!(ticked.jobs_submitted.is_empty());
        milliseconds(begin)
    };
    let first_tick = tick().await;
    let mut ticks = Vec::new();
    for _ in 0..ROUNDS {
        ticks.push(tick().await);
    }

    let fresh = self::companies().locate(dir);
    let first_plan = plan(&fresh, &project);
    let plans = (0..ROUNDS).map(|_| plan(&fresh, &project)).collect();

    println!(
        "{RUNS} runs, {} events, {DOCUMENTS} documents, {TASKS} tasks",
        RUNS * EVENTS
    );
    println!("                            first in process      median      target");
    let mut is_met = true;
    for (name, first, times) in [
        ("heartbeat.tick", first_tick, ticks),
        ("context.plan_for_job", first_plan, plans),
    ] {
        let median = median(times);
        is_met &= median <= TARGET_MS;
        println!("{name:<24} {first:>16.1} ms {median:>10.1} ms {TARGET_MS:>8.0} ms");
    }
    if is_met {
        ExitCode::SUCCESS
    } else {
        println!("missed: each takes at most {TARGET_MS} ms when the folder is cached");
        ExitCode::FAILURE
    }
}

fn companies() -> Companies {
    let now = Arc::new(|| jiff::Timestamp::now().as_millisecond());
    Companies::new(
        Sources::new(now),
        company::Trust::everywhere(),
        Arc::new(|_, _| {}),
    )
}

fn milliseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1000.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn plan(company: &Company, project: &ProjectId) -> f64 {
    let job = Job {
        project_id: project.clone(),
        worker: AgentId::parse("agent_0").ok(),
        manager: Actor {
            id: "boss".to_owned(),
            role: ActorRole::Director,
            team_id: None,
        },
        kind: JobKind::Execution,
        goal: "Report what happened in the release".to_owned(),
        particulars: vec!["keep it short".to_owned()],
        seeds: Vec::new(),
        max_refs: None,
    };
    let begin = Instant::now();
    let plan = context_plan::plan(company, &job, &by_words).expect("a plan");
    assert!(!plan.context_refs.is_empty());
    milliseconds(begin)
}

fn put(company: &Company, relative: &str, text: &str) {
    let path = company.path(relative);
    files::make_dir(path.parent().expect("a folder")).expect("a folder");
    files::replace(&path, text.as_bytes()).expect("a file");
}

fn fill(company: &Company) -> ProjectId {
    let name = Text::new("Acme").expect("a name");
    init::init(company, &name, NonEmpty::from_force(None)).expect("a company");
    let project = company
        .write(|writer| writer.create_project("Svc"))
        .expect("a project");
    for number in 0..AGENTS {
        put(
            company,
            &format!("org/agents/agent_{number}/agent.yaml"),
            &format!(
                "schema_version: 1\ntype: agent\nid: agent_{number}\nname: A{number}\nrole: worker\nprovider: codex\n\
                 created_at: \"2024-05-01T09:00:00.000Z\"\nlauncher: {{}}\n"
            ),
        );
    }
    let unknown = AgentId::parse("agent_x").expect("an id");
    for _ in 0..RUNS {
        let made = run::create(company, &project, &unknown, "cmd").expect("a run");
        let log = format!("{}/events.jsonl", layout::run(&project, &made.run_id));
        let first = company.read_text(&log).expect("an event");
        put(company, &log, &first.repeat(EVENTS));
    }
    let below = layout::project(&project);
    let kinds = [
        ("proposal", "Summary\n\n## Plan\n\n## Risks"),
        ("milestone_report", "Summary\n\n## Evidence\n\n## Next"),
        ("manager_digest", "Summary\n\n## Decisions\n\n## Risks"),
        ("memory_delta", "Summary\n\n## Changes\n\n## Evidence"),
    ];
    for number in 0..DOCUMENTS {
        let (kind, headings) = kinds[number % kinds.len()];
        put(
            company,
            &format!("{below}/artifacts/art_{number}.md"),
            &format!(
                "---\nschema_version: 1\ntype: {kind}\nid: art_{number}\ncreated_at: \"2024-06-01T10:00:00.000Z\"\n\
                 title: What happened in part {number}\nvisibility: org\nproduced_by: agent_0\nrun_id: run_1\n\
                 context_pack_id: ctx_1\n---\n\n# What happened\n\n## {headings}\n\nWords about it.\n"
            ),
        );
    }
    for number in 0..TASKS {
        put(
            company,
            &format!("{below}/tasks/task_{number}.md"),
            &format!(
                "---\nschema_version: 1\ntype: task\nid: task_{number}\nproject_id: {project}\ntitle: T\n\
                 created_at: \"2024-06-01T10:00:00.000Z\"\nstatus: ready\nvisibility: team\nmilestones: []\n---\n\n\
                 # T\n\n## Contract\n\n## Milestones\n"
            ),
        );
    }
    let set = json!({"workspace_dir": company.given(), "tick_interval_minutes": 1440});
    let set: HeartbeatConfigSetParams = serde_json::from_value(set).expect("a setting");
    heartbeat::set(company, set).expect("a setting");
    project
}
