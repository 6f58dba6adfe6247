//! `ac demo`: the demo is created once, completely, and never replaces other files.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};
use testkit::StdioProcess;

fn ac() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ac"))
}

fn demo(folder: &Path) -> Output {
    let made = ac().arg("demo").arg(folder).arg("--no-serve").output();
    made.expect("the binary can be started")
}

/// Counts the contents of the demo.
fn found(folder: &Path) -> Value {
    let dir = fs::canonicalize(folder)
        .expect("it is there")
        .join("fernway");
    let mut process = StdioProcess::start(ac(), &folder.join("home"));
    let mut call = |method: &str, params: Value| {
        let mut params = params;
        if !method.contains('/') {
            params["workspace_dir"] = json!(dir);
        }
        process.call(method, &params).expect(method)
    };
    let count = |list: &Value| list.as_array().map_or(0, Vec::len);
    let workspaces = call("workspace/list", json!({}));
    let workspace = workspaces["workspaces"]
        .as_array()
        .and_then(|list| list.iter().find(|one| one["dir"] == json!(dir)));
    let workspace = workspace.expect("the company is a workspace").clone();
    let workspace_id = &workspace["id"];
    let tree = call("thread/tree", json!({"workspace_id": workspace_id}));
    let files = call("artifact/list", json!({"workspace_id": workspace_id}));
    let files = files["items"].as_array().cloned().unwrap_or_default();
    // Uploads of people and outputs of runs.
    let (results, given): (Vec<_>, Vec<_>) = files
        .into_iter()
        .partition(|file| file["created_by_kind"] == "agent");
    let names = given.iter().map(|file| &file["artifact"]["display_name"]);
    let mut names: Vec<_> = names.cloned().collect();
    names.sort_by_key(Value::to_string);
    let projects = call("workspace.projects.list", json!({}))["projects"].clone();
    let booking = projects.as_array().and_then(|list| {
        list.iter()
            .find(|project| project["name"] == "Online booking")
    });
    let booking = booking.expect("a project")["project_id"].clone();
    let plan = call(
        "pm.snapshot",
        json!({"scope": "project", "project_id": booking}),
    );
    let tasks = plan["project"]["gantt"]["tasks"].as_array();
    let critical: Vec<_> = tasks
        .into_iter()
        .flatten()
        .filter(|task| task["critical"] == true)
        .map(|task| task["task_id"].clone())
        .collect();
    let runs = call("run.list", json!({}));
    for run in runs.as_array().into_iter().flatten() {
        let replay =
            json!({"project_id": run["project_id"], "run_id": run["run_id"], "mode": "verified"});
        let replay = call("run.replay", replay);
        assert_eq!(replay["verification_issues"], json!([]));
    }
    let goals = runs.as_array().into_iter().flatten();
    let goals = goals.filter_map(|run| run["goal"].as_str());
    let goals = goals.filter(|goal| goal.ends_with('.')).count();
    let messages = call(
        "conversation.messages.list",
        json!({"scope": "workspace", "conversation_id": "conv_workspace_home"}),
    );
    let inbox = call("inbox.snapshot", json!({"actor_role": "human"}));
    let mut kinds: Vec<_> = inbox["pending"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|pending| pending["artifact_type"].clone())
        .collect();
    kinds.sort_by_key(Value::to_string);
    json!({
        "current": workspace["is_current"],
        "valid": call("workspace.validate", json!({}))["ok"],
        "teams": count(&call("workspace.teams.list", json!({}))),
        "projects": count(&projects),
        "critical": critical,
        "runs": count(&runs),
        "goals": goals,
        "waiting": kinds,
        "instructions": count(&tree["agents_docs"]),
        "threads": count(&tree["threads"]),
        "files": names,
        "results": results.len(),
        "messages": count(&messages),
    })
}

fn whole() -> Value {
    json!({
        "current": true,
        "valid": true,
        "teams": 2,
        "projects": 2,
        "critical": [
            "task_booking_tours", "task_booking_payments", "task_booking_load", "task_booking_pilot",
            "task_booking_launch",
        ],
        "runs": 7,
        "goals": 6,
        "waiting": ["heartbeat_action_proposal", "memory_delta", "memory_delta", "milestone_report"],
        "instructions": 3,
        "threads": 3,
        "files": ["bookings-per-week.png", "prices-spring.json", "refund-rules.md"],
        "results": 11,
        "messages": 2,
    })
}

#[test]
fn a_demo_is_whole_and_a_second_one_doubles_nothing() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("new/demo");
    for _ in 0..2 {
        let made = demo(&folder);
        assert!(made.status.success(), "{made:?}");
        assert_eq!(found(&folder), whole());
    }
}

/// Creates worker programs that leave a mark when they are started.
fn marking_programs(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::create_dir_all(folder).expect("a folder for the stand-ins");
    for name in ["codex", "claude", "gemini"] {
        let path = folder.join(name);
        let script = format!(
            "#!/bin/sh\necho \"$0 $*\" >> {}/started\n",
            folder.display()
        );
        let mut file = fs::File::create(&path).expect("a new file");
        std::io::Write::write_all(&mut file, script.as_bytes()).expect("the script is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .expect("the script can be run");
    }
}

#[test]
fn a_demo_never_starts_the_worker_programs_of_this_machine() {
    let place = tempfile::tempdir().unwrap();
    let programs = place.path().join("programs");
    marking_programs(&programs);
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let folder = place.path().join("demo");
    let made = ac()
        .arg("demo")
        .arg(&folder)
        .arg("--no-serve")
        .env("PATH", &path)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let dir = fs::canonicalize(&folder).unwrap().join("fernway");
    let mut command = ac();
    command
        .env("PATH", &path)
        .env("GEMINI_API_KEY", "demo-demo-demo");
    let mut process = StdioProcess::start(command, &folder.join("home"));
    let mut call = |method: &str, params: Value| {
        let mut params = params;
        params["workspace_dir"] = json!(dir);
        process.call(method, &params).expect(method)
    };
    let config = call("heartbeat.config.get", json!({}));
    assert_eq!(config["enabled"], false);
    let project = call("workspace.projects.list", json!({}))["projects"][0]["project_id"].clone();
    let agents = call("workspace.agents.list", json!({}));
    let agent = agents[0]["agent_id"].clone();
    for provider in ["codex", "claude", "gemini"] {
        let run = json!({"project_id": project, "agent_id": agent, "provider": provider});
        let run = call("run.create", run)["run_id"].clone();
        let launch = json!({"project_id": project, "run_id": run, "prompt_text": "Do something"});
        let launched = call("session.launch", launch);
        let session = json!({"session_ref": launched["session_ref"]});
        let ended = call("session.collect", session);
        assert_eq!(ended["status"], "ended", "{provider}: {ended}");
    }
    let job = json!({"job": {
        "workspace_dir": dir, "job_id": "job_1", "project_id": project, "worker_kind": "codex", "goal": "Do something",
        "constraints": [], "deliverables": [], "permission_level": "patch", "context_refs": [],
        "context_mode": "manual", "manager_actor_id": "human", "manager_role": "human",
    }});
    process.call("job.submit", &job).unwrap();
    let poll = json!({"workspace_dir": dir, "project_id": project, "job_id": "job_1"});
    let collected = loop {
        let collected = process.call("job.collect", &poll).unwrap();
        if collected["status"] == "completed" {
            break collected;
        }
        std::thread::yield_now();
    };
    let result = &collected["result"];
    assert_eq!(result["status"], "blocked", "{collected}");
    let summary = result["summary"].as_str().unwrap();
    assert!(summary.starts_with("This is the demo"), "{summary}");
    let started = fs::read_to_string(programs.join("started")).unwrap_or_default();
    assert_eq!(started, "", "a worker program was started");
}

#[test]
fn a_demo_that_was_cut_off_is_made_anew() {
    let place = tempfile::tempdir().unwrap();
    let mut cut_off = ac()
        .arg("demo")
        .arg(place.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(cut_off.stderr.take().unwrap()).lines();
    let worked = lines.map_while(Result::ok).any(|line| line.contains("5/8"));
    assert!(worked, "it tells what it does");
    cut_off.kill().unwrap();
    cut_off.wait().unwrap();
    assert!(demo(place.path()).status.success());
    assert_eq!(found(place.path()), whole());
    // The evidence of the milestone is one of them.
    let mut approve = ac();
    approve.args(["approve", "art_refunds_report", "--home"]);
    let approved = approve.arg(place.path().join("home")).output().unwrap();
    assert!(approved.status.success(), "{approved:?}");
}

#[test]
fn a_folder_with_something_else_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("letters")).unwrap();
    let refused = demo(place.path());
    assert_eq!(refused.status.code(), Some(2));
    let expected = format!(
        "error: `{}` contains something other than a demo: name an empty folder\n",
        place.path().display()
    );
    assert_eq!(String::from_utf8(refused.stderr).unwrap(), expected);
    let left: Vec<_> = fs::read_dir(place.path()).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn a_demo_has_no_other_home_than_its_own() {
    let place = tempfile::tempdir().expect("a temporary folder can be made");
    let refused = ac()
        .args(["demo", "--no-serve", "--home"])
        .arg(place.path().join("home"))
        .output()
        .expect("the binary can be started");
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&refused.stderr),
        "error: a demo has its own home: name its folder without --home, as in `ac demo DIR`\n"
    );
    assert!(!place.path().join("home").exists());
}

#[test]
fn what_only_looks_like_a_demo_keeps_every_file() {
    for note in ["{\"my\":\"app\"}", "{}", "", "{\"demo\":1}"] {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("home")).unwrap();
        for (name, text) in [("demo.json", note), ("home/letter.txt", "precious")] {
            let mut file = fs::File::create(place.path().join(name)).unwrap();
            std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        }
        assert_eq!(demo(place.path()).status.code(), Some(2), "{note}");
        let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
        assert_eq!(
            (read("demo.json").as_str(), read("home/letter.txt").as_str()),
            (note, "precious")
        );
    }
}

#[test]
fn a_demo_is_served_and_a_second_one_tells_where() {
    let place = tempfile::tempdir().unwrap();
    let mut serving = ac()
        .args(["demo", "--listen", "127.0.0.1:0"])
        .arg(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(serving.stdout.take().unwrap()).lines();
    let address = lines
        .find_map(|line| {
            line.unwrap()
                .strip_prefix("  desktop    ")
                .map(str::to_owned)
        })
        .expect("a link");
    let host = address.split("#code=").next().unwrap().to_owned();
    let second = ac().arg("demo").arg(place.path()).output().unwrap();
    let said = String::from_utf8(second.stdout).unwrap();
    assert!(second.status.success());
    assert!(
        said.starts_with("The demo is already being served:\n"),
        "{said}"
    );
    assert!(said.contains(&format!("{host}#code=")), "{said}");
    serving.kill().unwrap();
    serving.wait().unwrap();
}
