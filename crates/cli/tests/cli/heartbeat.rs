//! Several processes that run the heartbeat of one company folder.

use std::{fs, path::Path, process::Command, thread};

use serde_json::{Value, json};
use testkit::{Office, StdioProcess, put, put_program};

const ROUNDS: usize = 6;

/// A substitute for Codex that records each start and reports nothing to do.
fn put_codex(bin: &Path) {
    let program = "#!/bin/sh\nd=$(dirname \"$0\")\ncase \"$1\" in\n  login) echo 'Logged in using ChatGPT'; exit 0 ;;\n  \
        --version) echo 'codex-cli 9'; exit 0 ;;\n  --help) exit 0 ;;\nesac\n[ \"$2\" = --help ] && exit 0\n\
        echo started >> \"$d/starts\"\ncat > /dev/null\n\
        echo '{\"status\":\"ok\",\"token\":\"HEARTBEAT_OK\",\"summary\":\"quiet\"}'\n";
    put_program(&bin.join("codex"), program);
}

fn starts(bin: &Path) -> usize {
    let noted = fs::read_to_string(bin.join("starts")).unwrap_or_default();
    noted.lines().count()
}

#[test]
fn two_processes_that_tick_at_once_start_one_worker() {
    let mut office = Office::open(env!("CARGO_BIN_EXE_ac"));
    let bin = office.place().join("bin");
    put_codex(&bin);
    let agent = "schema_version: 1\ntype: agent\nid: agent_w\nname: Worker\nrole: worker\nprovider: codex\n\
        created_at: \"2024-05-01T09:00:00.000Z\"\nlauncher: {}\n";
    put(&office.dir().join("org/agents/agent_w/agent.yaml"), agent);
    let machine = format!(
        "schema_version: 1\ntype: machine\nrepo_roots: {{}}\nprovider_bins:\n  codex: {}\n",
        bin.join("codex").display()
    );
    put(&office.dir().join(".local/machine.yaml"), &machine);
    let settings = json!({
        "enabled": true, "tick_interval_minutes": 1440, "quiet_hours_start_hour": 0, "quiet_hours_end_hour": 0,
        "jitter_max_seconds": 0,
    });
    office.call("heartbeat.config.set", settings);

    let mut processes = ["one", "two"].map(|home| {
        let command = Command::new(env!("CARGO_BIN_EXE_ac"));
        StdioProcess::start(command, &office.place().join(home))
    });
    for process in &mut processes {
        let folder = json!({"workspace_dir": office.dir()});
        process.call("workspace.trust", &folder).expect("a company");
    }
    let dir = json!({"workspace_dir": office.dir(), "reason": "test"});
    for round in 1..=ROUNDS {
        // A new run of the worker triggers a wake-up.
        office.run("agent_w", "codex");
        let ticks: Vec<Value> = thread::scope(|scope| {
            let ticks = processes
                .each_mut()
                .map(|process| scope.spawn(|| process.call("heartbeat.tick", &dir)));
            ticks
                .into_iter()
                .map(|tick| tick.join().expect("a thread").expect("a tick"))
                .collect()
        });
        assert_eq!(starts(&bin), round, "{ticks:?}");
    }
}
