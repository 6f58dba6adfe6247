//! `ac open` and `ac desktop-session`: signing browsers in and out, and sessions across restarts.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;
use testkit::{ServeProcess, put_program};

fn ac() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ac"))
}

fn served() -> (TempDir, ServeProcess) {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let serving = ServeProcess::start(ac(), home.path());
    (home, serving)
}

/// Runs a command on a home.
fn run(home: &TempDir, arguments: &[&str]) -> Output {
    let mut command = ac();
    command.args(arguments).arg("--home").arg(home.path());
    command.output().expect("the binary can be started")
}

/// Runs a command that must succeed and returns its output.
fn printed(home: &TempDir, arguments: &[&str]) -> String {
    let output = run(home, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("the binary prints text")
}

/// Creates a sign-in code with `ac open --print`.
fn code(home: &TempDir) -> String {
    let address = printed(home, &["open", "--print"]);
    let (_, code) = address.trim().split_once("/#code=").expect("a code");
    code.to_owned()
}

/// Sends a request with these lines and this body, and reads the response for up to ten seconds.
fn send(serving: &ServeProcess, request: &str, lines: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(serving.address()).expect("the gateway listens");
    let head = format!(
        "{request} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\nConnection: close\r\n{lines}\r\n{body}",
        serving.address(),
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("it reads");
    let limit = Some(Duration::from_secs(10));
    stream.set_read_timeout(limit).expect("a limit can be set");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

/// Signs in and returns the header lines that authenticate further requests. `None` for an invalid code.
fn sign_in(serving: &ServeProcess, code: &str) -> Option<String> {
    let answer = send(serving, "POST /sign-in", "User-Agent: Test/1.0\r\n", code);
    if !answer.starts_with("HTTP/1.1 200") {
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        return None;
    }
    let (head, body) = answer.split_once("\r\n\r\n").expect("a body");
    let cookie = head
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.and_then(|cookie| cookie.split(';').next());
    let body: Value = serde_json::from_str(body).expect("JSON");
    Some(format!(
        "Cookie: {}\r\nAccord-Page-Key: {}\r\nOrigin: http://{}\r\n",
        cookie.expect("a cookie"),
        body["page_key"].as_str().expect("a page key"),
        serving.address()
    ))
}

fn is_signed_in(serving: &ServeProcess, lines: &str) -> bool {
    let answer = send(serving, "GET /metrics", lines, "");
    answer.starts_with("HTTP/1.1 200")
}

/// Kills a gateway and starts it again at the same address.
fn restart(home: &TempDir, mut serving: ServeProcess) -> ServeProcess {
    let address = serving.address().to_owned();
    serving.signal("KILL");
    serving.wait();
    ServeProcess::start_at(ac(), home.path(), &address)
}

#[test]
fn a_code_works_once_even_if_the_gateway_is_killed_in_between() {
    let (home, serving) = served();
    let (used, unused) = (code(&home), code(&home));
    let browser = sign_in(&serving, &used).expect("the code is good");
    let serving = restart(&home, serving);
    assert_eq!(sign_in(&serving, &used), None);
    assert!(is_signed_in(&serving, &browser), "the session goes on");
    assert!(sign_in(&serving, &unused).is_some());
}

#[test]
fn a_new_token_of_the_owner_ends_sessions_and_codes() {
    let (home, serving) = served();
    let code = code(&home);
    let browser = sign_in(&serving, &self::code(&home)).expect("the code is good");
    fs::remove_file(home.path().join("token")).unwrap();
    let serving = restart(&home, serving);
    assert!(!is_signed_in(&serving, &browser));
    assert_eq!(sign_in(&serving, &code), None);
    let listed = printed(&home, &["desktop-session", "list"]);
    assert_eq!(listed, "No browser is signed in. `ac open` signs one in.\n");
}

#[test]
fn a_browser_is_listed_and_signed_out_alone() {
    let (home, serving) = served();
    let ended = sign_in(&serving, &code(&home)).expect("the code is good");
    let sessions = || -> Vec<Value> {
        let text = printed(&home, &["desktop-session", "list", "--json"]);
        let listed: Value = serde_json::from_str(&text).expect("JSON");
        listed["sessions"].as_array().expect("a list").clone()
    };
    let listed = sessions();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["user_agent"], "Test/1.0");
    let id = listed[0]["id"].as_str().unwrap().to_owned();
    let kept = sign_in(&serving, &code(&home)).expect("the code is good");

    let mut connection = TcpStream::connect(serving.address()).unwrap();
    let upgrade = format!(
        "GET /ws HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{ended}\r\n",
        serving.address()
    );
    connection.write_all(upgrade.as_bytes()).unwrap();
    let said = printed(&home, &["desktop-session", "end", &id]);
    assert_eq!(
        said,
        format!("The browser with the session `{id}` is signed out.\n")
    );
    let heard = heard_until(&mut connection, b"access_revoked");
    assert!(heard.starts_with(b"HTTP/1.1 101"));
    assert!(!is_signed_in(&serving, &ended));
    assert!(is_signed_in(&serving, &kept));

    let again = run(&home, &["desktop-session", "end", &id]);
    assert_eq!(again.status.code(), Some(1));
    let expected = format!(
        "error: there is no desktop session `{id}`: `ac desktop-session list` lists the sessions\n"
    );
    assert_eq!(String::from_utf8(again.stderr).unwrap(), expected);
    printed(&home, &["desktop-session", "end", "--all"]);
    assert!(!is_signed_in(&serving, &kept));
    assert_eq!(sessions(), Vec::<Value>::new());
}

/// Reads a connection until `end` arrives. Fails after ten seconds without data.
fn heard_until(connection: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let limit = Some(Duration::from_secs(10));
    let set = connection.set_read_timeout(limit);
    set.expect("a limit can be set");
    let (mut heard, mut piece) = (Vec::new(), [0; 1024]);
    while !heard.windows(end.len()).any(|window| window == end) {
        let count = connection.read(&mut piece).expect("more comes in time");
        assert!(count > 0, "the connection ended early");
        heard.extend_from_slice(&piece[..count]);
    }
    heard
}

/// Runs `ac open` with a substitute for the browser, which records its arguments and exits with `code`.
fn open_with_browser(home: &TempDir, place: &Path, code: u8) -> (String, Vec<PathBuf>) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let arguments = place.join("arguments");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\nexit {code}\n",
        arguments.display()
    );
    put_program(&place.join(opener), &script);
    let mut command = ac();
    command.arg("open").arg("--home").arg(home.path());
    let output = command.env("PATH", place).output();
    let output = output.expect("the binary can be started");
    assert!(output.status.success(), "{output:?}");
    let given = fs::read_to_string(arguments).expect("the program was started");
    let said = String::from_utf8(output.stdout).expect("the binary prints text");
    (said, given.lines().map(PathBuf::from).collect())
}

#[test]
fn the_code_reaches_the_browser_in_a_file_that_only_its_owner_reads() {
    let (home, serving) = served();
    let place = tempfile::tempdir().unwrap();
    let (said, given) = open_with_browser(&home, place.path(), 0);
    let page = fs::canonicalize(home.path()).unwrap().join("open.html");
    assert_eq!(given, std::slice::from_ref(&page));
    assert!(!said.contains("code="), "{said}");
    let mode = fs::metadata(&page).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(&page).unwrap();
    let link = format!("url=http://{}/#code=", serving.address());
    let (_, code) = text.split_once(&link).expect("a link");
    let (code, _) = code.split_once('"').expect("its end");
    assert!(sign_in(&serving, code).is_some());
    // The next command replaces the page.
    open_with_browser(&home, place.path(), 0);
    assert!(!fs::read_to_string(&page).unwrap().contains(code));
}

#[test]
fn without_a_browser_the_address_is_printed() {
    let (home, serving) = served();
    let place = tempfile::tempdir().unwrap();
    let (said, _) = open_with_browser(&home, place.path(), 3);
    let expected = format!(
        "No browser could be started. Open this address:\nhttp://{}/#code=",
        serving.address()
    );
    assert!(said.starts_with(&expected), "{said}");
}
