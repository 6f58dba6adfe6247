//! The life cycle of `ac serve`.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Output},
    time::{Duration, Instant},
};

use serde_json::json;
use tempfile::TempDir;
use testkit::ServeProcess;

fn ac() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ac"))
}

fn served() -> (TempDir, ServeProcess) {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let serving = ServeProcess::start(ac(), home.path());
    (home, serving)
}

/// Runs a second `ac serve` on the same home.
fn serve_again(home: &TempDir) -> Output {
    let mut command = ac();
    command.args(["serve", "--listen", "127.0.0.1:0", "--home"]);
    let output = command.arg(home.path()).output();
    output.expect("the binary can be started")
}

#[test]
fn the_ready_file_and_standard_output_tell_where_it_is() {
    let (home, serving) = served();
    let members: Vec<_> = serving.ready.as_object().unwrap().keys().collect();
    assert_eq!(members, ["http", "pid", "token_file", "url"]);
    let (url, announcement) = (serving.url(), &serving.announcement);
    assert!(url.starts_with("ws://127.0.0.1:"), "{url}");
    assert!(announcement.contains(url), "{announcement}");
    let token_file = serving.ready["token_file"].as_str().unwrap();
    assert!(announcement.contains(token_file), "{announcement}");
    let expected = fs::canonicalize(home.path().join("token")).unwrap();
    assert_eq!(expected.to_str(), Some(token_file));
}

#[test]
fn the_token_is_for_its_owner_alone() {
    let (home, serving) = served();
    let token = fs::metadata(home.path().join("token")).unwrap();
    assert_eq!(token.permissions().mode() & 0o777, 0o600);
    assert_eq!(serving.token().len(), 43);
    assert!(!serving.announcement.contains(&serving.token()));
}

#[test]
fn a_home_is_served_by_one_process() {
    let (home, serving) = served();
    let second = serve_again(&home);
    assert_eq!(second.status.code(), Some(1));
    assert_eq!(second.stdout, b"");
    let pid = serving.ready["pid"].as_u64().unwrap();
    let expected = format!(
        "error: the home `{}` is already served by process {pid}: stop it first, or choose another home with --home\n",
        fs::canonicalize(home.path()).unwrap().display()
    );
    assert_eq!(String::from_utf8(second.stderr).unwrap(), expected);
}

#[tokio::test]
async fn a_signal_ends_it_quickly_and_without_complaint() {
    for signal in ["TERM", "INT"] {
        let (home, mut serving) = served();
        let client = serving.client().await;
        let default = client.call_raw("workspace/default", json!({})).await;
        default.unwrap();
        let started = Instant::now();
        serving.signal(signal);
        let ended = tokio::task::spawn_blocking(move || serving.wait()).await;
        let (status, complaint) = ended.unwrap();
        assert_eq!(
            (status.code(), complaint.as_str()),
            (Some(0), ""),
            "{signal}"
        );
        let elapsed = started.elapsed();
        assert!(elapsed < Duration::from_secs(3), "{elapsed:?}");
        let log = fs::metadata(home.path().join("gateway.db-wal"));
        let left = log.map_or(0, |log| log.len());
        assert_eq!(left, 0, "everything is in the database file");
    }
}

#[test]
fn a_client_in_the_middle_of_a_request_is_no_reason_to_complain() {
    let (_home, mut serving) = served();
    let mut half = TcpStream::connect(serving.address()).unwrap();
    half.write_all(b"GET /health HTTP/1.1\r\nHo").unwrap();
    serving.signal("INT");
    let (status, complaint) = serving.wait();
    assert_eq!((status.code(), complaint.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn a_client_calls_and_is_told_over_websocket() {
    let (_home, serving) = served();
    let client = serving.client().await;
    let default = client.call_raw("workspace/default", json!({})).await;
    assert_eq!(default.unwrap()["workspace"]["id"], "ws_000000000000000000");
    let told = client.notification().await.unwrap();
    assert_eq!(told.method, "workspace/changed");
}

#[tokio::test]
async fn a_wrong_token_is_refused() {
    let (_home, serving) = served();
    let refused = rpc::websocket::connect(serving.url(), "wrong").await;
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("401"), "{error}");
    assert!(error.contains("the token is not valid"), "{error}");
}

#[test]
fn a_changed_owner_token_is_named_as_the_cause_of_a_401() {
    let (home, serving) = served();
    let changed = "another-token-of-the-owner-with-enough-letters";
    gateway::replace_file(&home.path().join("token"), changed.as_bytes()).unwrap();
    let mut command = ac();
    command.args(["workspace/list", "--home"]).arg(home.path());
    let output = command.output().expect("the binary can be started");
    let complaint = String::from_utf8(output.stderr).unwrap();
    let cause = "the file `token` of the home has changed since this gateway started";
    assert!(complaint.contains(cause), "{complaint}");
    assert!(!complaint.contains(changed), "{complaint}");
    drop(serving);
}

#[test]
fn a_token_file_with_a_short_text_is_refused() {
    let home = tempfile::tempdir().unwrap();
    gateway::replace_file(&home.path().join("token"), b"hunter2").unwrap();
    let refused = serve_again(&home);
    assert_eq!(refused.status.code(), Some(1));
    let complaint = String::from_utf8(refused.stderr).unwrap();
    assert!(
        complaint.contains("it has 7 characters, expected at least 32"),
        "{complaint}"
    );
}

#[tokio::test]
async fn listening_beyond_loopback_warns_and_prints_a_link_that_works() {
    let home = tempfile::tempdir().unwrap();
    let mut serving = ServeProcess::start_at(ac(), home.path(), "0.0.0.0:0");
    let link = serving.announcement.lines().find_map(|line| {
        let (title, link) = line.trim().split_once(' ')?;
        (title == "desktop").then(|| link.trim().to_owned())
    });
    let link = link.expect("a link is printed");
    let (host, code) = link
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once("/#code="))
        .expect("an address");
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "POST /sign-in HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{code}",
        code.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.to_ascii_lowercase().contains("\r\nset-cookie:"),
        "{answer}"
    );
    // Commands find the gateway as well.
    serving.client().await;
    serving.signal("TERM");
    let (_, complaint) = tokio::task::spawn_blocking(move || serving.wait())
        .await
        .unwrap();
    assert!(
        complaint.starts_with("warning: other machines can reach 0.0.0.0:"),
        "{complaint}"
    );
}
