//! The output of commands around launches: cool-downs, worker programs, warnings and exit codes.

use std::{
    env, fs,
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Office, ServeProcess, put, put_program};

/// A home with a company that has a project and a run.
struct Desk {
    place: TempDir,
    project: String,
    run: String,
}

struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Desk {
    fn new() -> Self {
        let mut office = Office::open(env!("CARGO_BIN_EXE_ac"));
        let (run, _) = office.run("agent_a", "cmd");
        Self {
            run,
            project: office.project.clone(),
            place: office.close(),
        }
    }

    fn dir(&self) -> PathBuf {
        self.place.path().join("acme")
    }

    /// Returns an `ac` command that runs in the company folder, with the programs of `bin` and of the system and
    /// without any login.
    fn ac(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ac"));
        let bin = self.place.path().join("bin");
        command
            .env("ACCORD_HOME", self.place.path().join("home"))
            .env("HOME", self.place.path())
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env_remove("OPENAI_API_KEY")
            .env_remove("CODEX_API_KEY")
            .current_dir(self.dir())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command on a terminal, in UTC, and returns its output.
    fn shown(&self, words: &[&str]) -> String {
        let words: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
        let line = format!("'{}' {}", env!("CARGO_BIN_EXE_ac"), words.join(" "));
        let mut command = Command::new("script");
        let ac = self.ac();
        let variables = ac.get_envs();
        command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        command.args(["-qec", &line, "/dev/null"]).env("TZ", "UTC");
        command.current_dir(self.dir()).stdin(Stdio::null());
        said(&mut command).out.replace("\r\n", "\n")
    }

    fn say(&self, words: &[&str]) -> Said {
        said(self.ac().args(words))
    }

    /// Runs a command and parses its output as JSON.
    fn json(&self, words: &[&str]) -> Value {
        let said = self.say(words);
        assert_eq!(said.code, 0, "{words:?}: {}", said.err);
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{words:?}: {}", said.out))
    }

    /// Creates another run.
    fn create(&self, agent: &str, provider: &str) -> (String, String) {
        let words = ["run:create", "--project-id", &self.project];
        let said = said(
            self.ac()
                .args(words)
                .args(["--agent-id", agent, "--provider", provider]),
        );
        assert_eq!(said.code, 0, "{}", said.err);
        let made: Value = serde_json::from_str(&said.out).expect("JSON");
        (testkit::text(&made["run_id"]), said.err)
    }

    /// Launches a run. The command waits until it ends, because no gateway serves the home.
    fn launch(&self, run: &str, more: &[&str]) -> Said {
        let words = ["session:launch", "--project-id", &self.project];
        said(self.ac().args(words).args(["--run-id", run]).args(more))
    }
}

/// Returns the finding of the doctor about a worker program.
fn worker(said: &Said, program: &str) -> Value {
    let found: Value = serde_json::from_str(&said.out).expect("JSON");
    let mut findings = found["findings"].as_array().expect("a list").iter();
    let check = format!("worker {program}");
    let finding = findings.find(|finding| finding["check"] == check);
    finding.expect("it is looked at").clone()
}

fn said(command: &mut Command) -> Said {
    let output = command.output().expect("the binary can be started");
    Said {
        code: output.status.code().expect("it ends by itself"),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

#[test]
fn cool_downs_are_listed_and_ended() {
    let desk = Desk::new();
    assert_eq!(desk.json(&["cooldown", "list", "--json"]), json!([]));
    let saved = json!({"schema_version": 1, "cooldowns": {
        "codex": {"until_ms": 32_472_144_000_000_i64, "level": 1, "reason": "rate_limit:usage limit"},
        "claude": {"until_ms": 32_472_144_000_000_i64, "level": 1, "reason": "transient:"},
    }});
    put(&desk.dir().join(".local/lanes.json"), &saved.to_string());
    let listed = desk.json(&["cooldown", "list", "--json"]);
    assert_eq!(
        listed[1],
        json!({
            "provider": "codex", "reason_code": "rate_limit", "until": "2999-01-01T00:00:00.000Z", "level": 1,
            "reason": "provider `codex` cools down because it reported a rate limit: usage limit", "waiting": 0,
        })
    );
    let unasked = desk.say(&["cooldown", "clear"]);
    assert_eq!(unasked.code, 2);
    assert!(unasked.err.contains("add --now"), "{}", unasked.err);
    let cleared = desk.json(&["cooldown", "clear", "codex", "--now", "--json"]);
    assert_eq!(cleared, json!([listed[1]]));
    let left = desk.json(&["cooldown", "list", "--json"]);
    assert_eq!(left, json!([listed[0]]));
    desk.json(&["cooldown", "clear", "--now", "--json"]);
    assert_eq!(desk.json(&["cooldown", "list", "--json"]), json!([]));
}

#[test]
fn the_doctor_says_what_a_launch_says_and_the_command_it_names_helps() {
    let desk = Desk::new();
    let script = "#!/bin/sh\n[ \"$1\" = login ] && { echo 'Not logged in' >&2; exit 1; }\necho codex-cli 0.99\n";
    put_program(&desk.place.path().join("bin/codex"), script);
    let with_key =
        |words: &[&str]| said(desk.ac().env("OPENAI_API_KEY", "sk-0123456789").args(words));
    let doctor = || {
        let said = with_key(&["doctor", "--json"]);
        let found: Value = serde_json::from_str(&said.out).expect("JSON");
        let findings = found["findings"].as_array().expect("a list").clone();
        let mut findings = findings.into_iter();
        findings
            .find(|finding| finding["check"] == "worker codex")
            .expect("codex is looked at")
    };
    let refused = doctor();
    assert_eq!(refused["status"], "warn", "{refused}");
    let remedy = testkit::text(&refused["do"]);
    assert!(
        remedy.contains("provider_execution_policy.codex.channel: subscription_cli")
            && remedy.contains("`ac adapters use codex --api-key`"),
        "{remedy}"
    );
    let (run, _) = desk.create("agent_a", "codex");
    let launch = [
        "session:launch",
        "--project-id",
        &desk.project,
        "--run-id",
        &run,
    ];
    let launch = with_key(&[&launch[..], &["--prompt-text", "hello"]].concat());
    assert_eq!(launch.code, 1);
    assert!(
        launch.err.contains("no account is logged in") && launch.err.contains(&remedy),
        "{}",
        launch.err
    );

    let used = with_key(&["adapters", "use", "codex", "--api-key", "--json"]);
    let used: Value = serde_json::from_str(&used.out).expect("JSON");
    assert_eq!(used["changed"], json!(["codex", "codex_app_server"]));
    let ready = doctor();
    assert_eq!(
        (&ready["status"], &ready["found"]),
        (&json!("pass"), &json!("codex-cli 0.99, ready to launch"))
    );
    let listed = with_key(&["adapters", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.out).expect("JSON");
    assert_eq!(
        listed[1]["launch"],
        json!({"ready": true, "channel": "api"})
    );
    // The file is still valid for every reader of the folder.
    assert_eq!(desk.json(&["workspace:validate", "--json"])["ok"], true);
    let again = with_key(&["adapters", "use", "codex", "--subscription", "--json"]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(doctor()["status"], "warn");
    let neither = desk.say(&["adapters", "use", "codex"]);
    assert_eq!(neither.code, 2, "{}", neither.err);
}

#[test]
fn without_a_company_the_doctor_says_what_a_launch_in_a_new_one_would() {
    let desk = Desk::new();
    let home = desk.place.path().join("empty");
    let home = home.to_str().expect("text");
    for (login, status, found) in [
        (
            "echo 'Logged in using ChatGPT'; exit 0",
            "pass",
            "codex-cli 0.99, ready to launch",
        ),
        (
            "echo 'Not logged in' >&2; exit 1",
            "warn",
            "codex-cli 0.99, and a launch in a new company folder is refused: ",
        ),
    ] {
        let script =
            format!("#!/bin/sh\n[ \"$1\" = login ] && {{ {login}; }}\necho codex-cli 0.99\n");
        put_program(&desk.place.path().join("bin/codex"), &script);
        let codex = worker(&desk.say(&["doctor", "--json", "--home", home]), "codex");
        assert_eq!(codex["status"], status, "{codex}");
        assert!(testkit::text(&codex["found"]).starts_with(found), "{codex}");
    }
}

#[test]
fn advice_about_one_of_several_companies_names_its_folder() {
    let desk = Desk::new();
    let script = "#!/bin/sh\n[ \"$1\" = login ] && exit 1\necho codex-cli 0.99\n";
    put_program(&desk.place.path().join("bin/codex"), script);
    let other = desk.place.path().join("two words");
    let init = said(
        desk.ac()
            .args(["workspace:init", "--company-name", "Two"])
            .arg(&other),
    );
    assert_eq!(init.code, 0, "{}", init.err);
    let codex = worker(&desk.say(&["doctor", "--json"]), "codex");
    let remedy = testkit::text(&codex["do"]);
    let found = testkit::text(&codex["found"]);
    let (_, rest) = found
        .split_once("a launch in `")
        .expect("it names the folder");
    let (dir, _) = rest.split_once('`').expect("it names the folder");
    let advice = format!("`ac adapters use codex --api-key -C {dir}`");
    let quoted = format!("`ac adapters use codex --api-key -C '{dir}'`");
    assert!(
        remedy.contains(&advice) || remedy.contains(&quoted),
        "{remedy}"
    );
}

#[test]
fn the_doctor_names_the_command_that_forgets_a_company_that_is_gone() {
    let desk = Desk::new();
    let dir = desk.dir().canonicalize().expect("it is there");
    fs::rename(&dir, desk.place.path().join("elsewhere")).expect("it can be moved");
    let said = said(desk.ac().current_dir("/").args(["doctor", "--json"]));
    let forget = format!("`ac company forget {}`", dir.display());
    assert!(said.out.contains(&forget), "{}", said.out);
}

#[test]
fn a_queued_session_is_shown_with_what_it_waits_for() {
    let desk = Desk::new();
    let saved = json!({"schema_version": 1, "cooldowns": {
        "cmd": {"until_ms": 32_472_144_000_000_i64, "level": 1, "reason": "rate_limit:usage limit"},
    }});
    put(&desk.dir().join(".local/lanes.json"), &saved.to_string());
    let home = desk.place.path().join("home");
    let _serving = ServeProcess::start(Command::new(env!("CARGO_BIN_EXE_ac")), &home);
    let words = [
        "run:create",
        "--project-id",
        &desk.project,
        "--goal",
        "Sell seats",
    ];
    let more = ["--agent-id", "agent_a", "--provider", "cmd", "--json"];
    let run = testkit::text(&desk.json(&[&words[..], &more].concat())["run_id"]);
    let queued = desk.launch(&run, &["--argv", "/bin/true", "--json"]);
    assert!(queued.out.contains("\"queued\""), "{}", queued.out);
    let listed = desk.shown(&["session:list"]);
    let mut lines = listed.lines();
    let titles: Vec<_> = lines.next().expect("titles").split("  ").collect();
    let titles: Vec<_> = titles
        .iter()
        .map(|one| one.trim())
        .filter(|one| !one.is_empty())
        .collect();
    assert_eq!(
        titles,
        [
            "GOAL",
            "STATUS",
            "PROJECT",
            "QUEUE POSITION",
            "STARTED",
            "WAITS BECAUSE",
            "WAITS UNTIL",
            "RUN ID",
            "SESSION"
        ]
    );
    let row = lines.next().expect("a session");
    assert!(row.starts_with("Sell seats  queued  Alpha"), "{listed}");
    assert!(
        row.contains("reported a rate limit") && row.contains("2999-01-01 00:00:00"),
        "{listed}"
    );
    let polled = desk.shown(&["session:poll", "--session-ref", &format!("local_{run}")]);
    assert!(
        polled.starts_with("Goal            Sell seats\nStatus          queued\n"),
        "{polled}"
    );
}

#[test]
fn ending_a_cool_down_says_which_one_was_ended() {
    let desk = Desk::new();
    let saved = json!({"schema_version": 1, "cooldowns": {
        "codex": {"until_ms": 32_472_144_000_000_i64, "level": 1, "reason": "transient:"},
    }});
    put(&desk.dir().join(".local/lanes.json"), &saved.to_string());
    assert_eq!(
        desk.shown(&["cooldown", "clear", "--now"]),
        "Ended the cool-down of codex until 2999-01-01 00:00:00.\n"
    );
}

#[test]
fn a_worker_program_that_is_missing_is_not_installed_or_not_in_path() {
    let desk = Desk::new();
    let listed = desk.shown(&["adapters", "list"]);
    assert!(
        listed.contains("codex is not installed or not in PATH\n"),
        "{listed}"
    );
}

#[test]
fn names_that_stand_for_nothing_are_accepted_with_a_warning() {
    let desk = Desk::new();
    let (run, warnings) = desk.create("agent_nobody", "codexx");
    assert!(
        warnings.contains("warning: there is no agent `agent_nobody` in this company\n")
            && warnings.contains("warning: there is no provider `codexx`: expected codex, claude"),
        "{warnings}"
    );
    let launched = desk.launch(&run, &["--argv", "/bin/true"]);
    assert_eq!(launched.code, 0, "{}", launched.err);
    assert!(
        launched
            .err
            .contains("warning: there is no agent `agent_nobody`"),
        "{}",
        launched.err
    );
    let agents = desk.json(&["workspace:agents:list", "--json"]);
    let agent = testkit::text(&agents[0]["agent_id"]);
    let (_, warnings) = desk.create(&agent, "cmd");
    assert_eq!(warnings, "");
}

#[test]
fn a_run_that_was_not_started_can_be_cancelled() {
    let desk = Desk::new();
    assert_eq!(desk.json(&["run:list"])[0]["not_started"], true);
    let watched = desk.json(&["watch", "--json"]);
    assert_eq!(watched["runs"][0]["status"], "not started");
    let cancel = [
        "run:cancel",
        "--project-id",
        &desk.project,
        "--run-id",
        &desk.run,
    ];
    assert_eq!(desk.json(&cancel)["status"], "stopped");
    let listed = desk.json(&["run:list"]);
    assert_eq!(
        (&listed[0]["status"], &listed[0]["not_started"]),
        (&json!("stopped"), &Value::Null)
    );
    let again = desk.say(&cancel);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("is already stopped"), "{}", again.err);
    let launched = desk.launch(&desk.run, &["--argv", "/bin/true"]);
    assert_eq!(launched.code, 1, "{}", launched.out);
}

#[test]
fn an_empty_text_is_not_saved_by_accident() {
    let desk = Desk::new();
    let edit = |words: &[&str], text: &str| {
        let mut child = desk
            .ac()
            .args(["doc", "edit"])
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        let mut stdin = child.stdin.take().expect("it reads");
        stdin.write_all(text.as_bytes()).expect("it reads");
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        let err = String::from_utf8(output.stderr).expect("text");
        (output.status.code().expect("it ends by itself"), err)
    };
    assert_eq!(edit(&[], "Be kind.\n").0, 0);
    let (code, err) = edit(&[], " \n");
    assert_eq!(code, 2);
    assert!(err.contains("--allow-empty"), "{err}");
    assert_eq!(desk.say(&["doc", "show"]).out, "Be kind.\n");
    let (code, err) = edit(&["--allow-empty"], "");
    assert_eq!(code, 0, "{err}");
}

#[test]
fn a_command_whose_answer_tells_of_a_failure_ends_with_1_and_wrong_arguments_with_2() {
    let desk = Desk::new();
    let failed = desk.launch(
        &desk.run,
        &["--repo-id", "repo_none", "--argv", "/bin/true"],
    );
    assert_eq!(failed.code, 1, "{}", failed.out);
    assert!(failed.out.contains("\"failed\""), "{}", failed.out);
    assert!(
        failed.err.contains("error: the session failed"),
        "{}",
        failed.err
    );

    let (run, _) = desk.create("agent_a", "cmd");
    desk.launch(&run, &["--argv", "/bin/false"]);
    let session = format!("local_{run}");
    let collected = desk.say(&["session:collect", "--session-ref", &session]);
    assert_eq!(collected.code, 1, "{}", collected.out);
    assert!(collected.out.contains("\"failed\""), "{}", collected.out);

    let replay = |mode: &str| {
        let words = [
            "run:replay",
            "--project-id",
            &desk.project,
            "--run-id",
            &run,
        ];
        desk.say(&[&words[..], &["--mode", mode]].concat())
    };
    assert_eq!(replay("verified").code, 0);
    let events = desk.dir().join("work/projects").join(&desk.project);
    let events = events.join("runs").join(&run).join("events.jsonl");
    let text = fs::read_to_string(&events).expect("there are events");
    put(&events, &text.replacen("agent_a", "agent_b", 1));
    let replayed = replay("verified");
    assert_eq!(replayed.code, 1, "{}", replayed.err);
    assert!(
        replayed
            .err
            .starts_with("error: the events of the run were changed after they were written: "),
        "{}",
        replayed.err
    );
    assert_eq!(replay("raw").code, 0);

    for words in [
        &["run:list", "--project-id", "no id"][..],
        &["rpc:call", "--method", "no.such.method"],
        &[
            "rpc:call",
            "--method",
            "run.list",
            "--params",
            "{\"workspace_dir\": 7}",
        ],
        &["run:replay", "--mode", "wrong"],
        &["thread/tree", "--workspace-id", "no id"],
    ] {
        let said = desk.say(words);
        assert_eq!(said.code, 2, "{words:?}: {}", said.err);
    }
}

#[test]
fn a_job_submitted_without_a_gateway_is_waited_for_and_reading_it_changes_nothing() {
    let desk = Desk::new();
    let answer = json!({
        "status": "succeeded", "summary": "done", "files_changed": [], "commands_run": [], "artifacts": [],
        "next_actions": [], "errors": [],
    });
    let program = format!(
        "#!/bin/sh\ncase \"$1\" in\n  login) echo 'Logged in using ChatGPT'; exit 0 ;;\n  --version|--help) exit 0 ;;\n\
         esac\n[ \"$2\" = --help ] && exit 0\ncat > /dev/null\necho '{answer}'\n"
    );
    put_program(&desk.place.path().join("bin/codex"), &program);
    let agent = "schema_version: 1\ntype: agent\nid: agent_w\nname: Worker\nrole: worker\nprovider: codex\n\
        created_at: \"2024-05-01T09:00:00.000Z\"\nlauncher: {}\n";
    put(&desk.dir().join("org/agents/agent_w/agent.yaml"), agent);
    let job = json!({"job": {
        "job_id": "job_1", "worker_kind": "codex", "workspace_dir": desk.dir(), "project_id": desk.project,
        "goal": "Ship it", "constraints": [], "deliverables": ["patch"], "permission_level": "read-only",
        "context_refs": [], "context_mode": "manual",
    }});
    let submitted = desk.json(&["job:submit", "--params", &job.to_string()]);
    assert_eq!(
        (&submitted["status"], &submitted["result_status"]),
        (&json!("completed"), &json!("succeeded"))
    );
    // A command that only reads does not touch a job that another process left unfinished.
    let record = desk.dir().join(format!(
        "work/projects/{}/jobs/job_1/job.yaml",
        desk.project
    ));
    let text = fs::read_to_string(&record).expect("a record");
    let left = text.replace("status: completed", "status: running");
    assert_ne!(text, left);
    put(&record, &left);
    desk.json(&["job:list", "--project-id", &desk.project]);
    assert_eq!(fs::read_to_string(&record).expect("a record"), left);
}
