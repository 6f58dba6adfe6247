//! Keys and private texts appear in no log at any level, and keys appear in no file but their own.

use std::{fs, io::Write as _, path::Path, process::Command};

use serde_json::json;
use testkit::{Office, ServeProcess, answer, told_until};

const CONFIGURED: &str = "sk-configured-0123456789";
const STORED: &str = "sk-stored-0123456789";
const TEXT: &str = "text that is nobody's business";

/// Returns the names of all files below a folder that contain a text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
            continue;
        }
        let bytes = fs::read(&path).expect("the owner can read the file");
        if bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
        {
            let name = path.file_name().unwrap_or_default();
            found.push(name.to_string_lossy().into_owned());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_loudest_log_has_neither_keys_nor_texts() {
    let mut model = testkit::model_server().await;
    let home = tempfile::tempdir().unwrap();
    let mut config = fs::File::create(home.path().join("config.toml")).unwrap();
    config
        .write_all(model.config(CONFIGURED).as_bytes())
        .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ac"));
    command.env("ACCORD_LOG", "trace");
    let mut serving = ServeProcess::start(command, home.path());
    // The log is a pipe, which must be read while the process writes to it.
    let log = serving.log();
    let client = serving.client().await;
    let calls = [
        ("workspace/create", json!({"workspace_id": "ws_a"})),
        (
            "thread/start",
            json!({"workspace_id": "ws_a", "thread_id": "thr_a", "model": "m", "model_provider": "openai"}),
        ),
    ];
    let save = json!({"workspace_id": "ws_a", "content": TEXT});
    let calls = calls.into_iter().chain([("thread/agents_doc/save", save)]);
    for (method, params) in calls {
        client.call_raw(method, params).await.unwrap();
    }
    for (turn, key) in [("trn_1", CONFIGURED), ("trn_2", STORED)] {
        let start = json!({"thread_id": "thr_a", "turn_id": turn, "input": [{"type": "text", "text": "hello"}]});
        client.call_raw("turn/start", start).await.unwrap();
        let question = model.question().await;
        assert_eq!(question.headers["authorization"], format!("Bearer {key}"));
        let body = json!({"error": {"message": format!("Incorrect API key provided: {key}")}});
        question.reply(401, &[], &body).await;
        told_until(&client, "turn/failed").await;
        let set = json!({"provider": "openai", "api_key": STORED});
        client.call_raw("provider/set_api_key", set).await.unwrap();
        // Error messages do not repeat a rejected key.
        let bad = json!({"provider": "openai", "api_key": format!("{STORED} {CONFIGURED}")});
        let refused = answer(&client, "provider/set_api_key", bad).await;
        assert!(
            refused.starts_with("-32602 ") && !refused.contains("sk-"),
            "{refused}"
        );
    }
    serving.signal("TERM");
    serving.wait();
    let log = log.join().unwrap();
    assert!(log.contains("a turn failed"), "the log is loud: {log}");
    for secret in [CONFIGURED, STORED, TEXT] {
        assert!(!log.contains(secret), "`{secret}` is in {log}");
    }
    assert_eq!(files_with(home.path(), CONFIGURED), ["config.toml"]);
    assert_eq!(files_with(home.path(), STORED), ["provider_keys.json"]);
}

/// Returns a command that runs under an unprivileged account: the current one, or `nobody` for root.
#[cfg(target_os = "linux")]
fn ordinary(program: &str) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let nobody = NOBODY.to_string();
    command.args([
        "--reuid",
        &nobody,
        "--regid",
        &nobody,
        "--clear-groups",
        program,
    ]);
    command
}

#[cfg(target_os = "linux")]
const NOBODY: u32 = 65534;

/// Returns the environment of a process as an ordinary program of the account sees it.
#[cfg(target_os = "linux")]
fn environment_of(pid: &str) -> Result<String, String> {
    let output = ordinary("cat").arg(format!("/proc/{pid}/environ")).output();
    let output = output.expect("there is a program `cat`");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(text(&output.stderr))
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_of_the_same_account_cannot_read_the_environment_of_the_gateway() {
    let home = tempfile::tempdir().unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let mut command = ordinary(env!("CARGO_BIN_EXE_ac"));
    command.env("DEPLOY_TOKEN", STORED);
    let serving = ServeProcess::start(command, home.path());
    let read = environment_of(&serving.ready["pid"].to_string());
    assert!(read.unwrap_err().contains("Permission denied"));

    // Child processes stay readable: a gateway finds the processes of its sessions this way.
    let mut other = ordinary("sleep");
    let mut other = other.env("PLAIN", "seen").arg("1000").spawn().unwrap();
    let pid = other.id().to_string();
    testkit::until("it is the program", || {
        let name = fs::read_to_string(format!("/proc/{pid}/comm"));
        name.is_ok_and(|name| name == "sleep\n")
    });
    let read = environment_of(&pid);
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(read.unwrap().contains("PLAIN=seen"));
}

#[test]
fn keys_and_variables_of_the_gateway_are_in_no_output_of_a_worker() {
    const VARIABLE: &str = "deploy-token-0123456789";
    let mut command = Command::new(env!("CARGO_BIN_EXE_ac"));
    command.env("DEPLOY_TOKEN", VARIABLE);
    let mut office = Office::open_with(command);
    office.call(
        "provider/set_api_key",
        json!({"provider": "openai", "api_key": STORED}),
    );
    let (run, _) = office.run("agent_w", "cmd");
    let launch = json!({
        "project_id": office.project,
        "run_id": run,
        "session_ref": "s",
        "argv": ["/bin/sh", "-c", format!("cat; echo {VARIABLE} {STORED} and more")],
        "stdin_text": format!("{STORED}\n"),
    });
    office.call("session.launch", launch);
    office.call("session.collect", json!({"session_ref": "s"}));
    let folder = office.project_dir().join("runs").join(&run);
    let printed = fs::read_to_string(folder.join("outputs/stdout.txt")).unwrap();
    assert_eq!(printed, "[redacted]\n[redacted] [redacted] and more\n");
    for secret in [VARIABLE, STORED] {
        assert_eq!(files_with(&office.dir(), secret), Vec::<String>::new());
    }
}
