//! `ac trash`, the confirmation before a folder is deleted, and how company folders are named and forgotten.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::StdioProcess;

struct Said {
    code: i32,
    out: String,
    err: String,
}

/// Returns an `ac` command in a separate folder, which is also the home folder of the user.
fn ac(place: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ac"));
    command
        .env("ACCORD_HOME", place.path().join("accord"))
        .env("HOME", place.path())
        .current_dir(place.path())
        .stdin(Stdio::null());
    command
}

fn run(place: &TempDir, words: &[&str]) -> Said {
    let output = ac(place).args(words).output();
    let Output {
        status,
        stdout,
        stderr,
    } = output.expect("the binary can be started");
    Said {
        code: status.code().expect("it ends by itself"),
        out: String::from_utf8(stdout).expect("text"),
        err: String::from_utf8(stderr).expect("text"),
    }
}

/// Runs a command and parses its output as JSON.
fn print(place: &TempDir, words: &[&str]) -> Value {
    let said = run(place, words);
    assert_eq!(said.code, 0, "{words:?}: {}", said.err);
    serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{words:?}: {}", said.out))
}

#[test]
fn deleting_a_folder_asks_first_and_the_trash_brings_it_back() {
    let place = tempfile::tempdir().unwrap();
    let made = print(&place, &["thread/folder/create", "--name", "Backend"]);
    let folder = made["folder"]["id"].as_str().unwrap();
    print(
        &place,
        &[
            "thread/folder/create",
            "--name",
            "Inner",
            "--parent-folder-id",
            folder,
        ],
    );
    print(
        &place,
        &["thread/start", "--thread-id", "thr_a", "--name", "Login"],
    );
    print(
        &place,
        &["thread/move", "--thread-id", "thr_a", "--folder-id", folder],
    );
    let save = [
        "thread/agents_doc/save",
        "--folder-id",
        folder,
        "--content",
        "Be brief.\n",
    ];
    print(&place, &save);

    let delete = ["thread/folder/delete", "--folder-id", folder];
    let asked = run(&place, &delete);
    assert_eq!(asked.code, 2);
    for sentence in [
        "Delete the folder `Backend`?",
        "Its AGENTS.md (version 1, 10 characters) is deleted with it",
        "1 thread and 1 folder in it are kept and move one level up, to the root of the tree.",
        "It can be restored for 30 days: `ac trash restore fld_",
        "Add --yes to skip this question",
    ] {
        assert!(asked.err.contains(sentence), "{sentence}: {}", asked.err);
    }
    let tree = print(&place, &["tree", "--json"]);
    assert_eq!(tree["folders"].as_array().unwrap().len(), 2);

    let deleted = print(&place, &[&delete[..], &["--yes"]].concat());
    assert_eq!(deleted, json!({"deleted": true}));
    let listed = run(&place, &["trash", "list"]);
    assert!(
        listed.out.contains("AGENTS.md, 1 thread, 1 folder  "),
        "{}",
        listed.out
    );
    let items = print(&place, &["trash", "list", "--json"]);
    assert_eq!(items["items"][0]["id"], folder);

    let unknown = run(&place, &["trash", "restore", "fld_nothing"]);
    assert_eq!(unknown.code, 2);
    assert_eq!(
        unknown.err,
        "error: `fld_nothing` is not in the trash: `ac trash list` lists its items\n"
    );
    let restored = run(&place, &["trash", "restore", folder]);
    assert_eq!(restored.out, "Restored the folder `Backend`.\n");
    let drawn = run(&place, &["tree"]);
    assert!(
        drawn.out.contains("AGENTS.md  v3 · 10 characters"),
        "{}",
        drawn.out
    );

    run(&place, &[&delete[..], &["--yes"]].concat());
    let asked = run(&place, &["trash", "purge", "--all"]);
    assert_eq!(asked.code, 2);
    assert!(
        asked
            .err
            .contains("Delete the folder `Backend` permanently?"),
        "{}",
        asked.err
    );
    let purged = run(&place, &["trash", "purge", "--all", "--yes"]);
    assert_eq!(purged.out, "1 item was deleted permanently.\n");
    assert_eq!(run(&place, &["trash", "list"]).out, "The trash is empty.\n");
}

#[test]
fn a_tilde_and_a_relative_path_are_resolved_by_the_command() {
    let place = tempfile::tempdir().unwrap();
    print(&place, &["workspace:init", "~/alpha"]);
    print(&place, &["workspace:init", "beta"]);
    print(
        &place,
        &[
            "workspace:init",
            "--params",
            r#"{"workspace_dir": "~/gamma"}"#,
        ],
    );
    for name in ["alpha", "beta", "gamma"] {
        let mark = place.path().join(name).join("company/company.yaml");
        assert!(mark.exists(), "{name}");
    }
    assert!(!place.path().join("~").exists());
    let raw = r#"{"workspace_dir": "~/delta"}"#;
    let refused = run(
        &place,
        &["rpc:call", "--method", "workspace.init", "--params", raw],
    );
    assert_ne!(refused.code, 0);
    assert!(
        refused
            .err
            .contains("`~/delta` is not resolved by the gateway"),
        "{}",
        refused.err
    );
    assert!(!place.path().join("~").exists());
}

#[test]
fn a_stdio_server_takes_relative_paths_from_its_current_folder_and_no_tilde() {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ac"));
    command.current_dir(place.path());
    let mut server = StdioProcess::start(command, &place.path().join("accord"));
    let made = server.call("workspace.init", &json!({"workspace_dir": "acme"}));
    assert_eq!(made, Ok(json!({"ok": true})));
    assert!(place.path().join("acme/company/company.yaml").exists());
    let refused = server.call("workspace.init", &json!({"workspace_dir": "~/acme"}));
    assert_eq!(refused.unwrap_err()["code"], -32602);
    assert!(!place.path().join("~").exists());
}

#[test]
fn a_company_folder_that_is_gone_is_reported_and_can_be_forgotten() {
    let place = tempfile::tempdir().unwrap();
    print(&place, &["workspace:init", "acme", "--name", "Acme"]);
    let dir = place.path().canonicalize().unwrap().join("acme");
    let folder = |status: &Value| status["workspaces"][0]["folder_state"].clone();
    assert_eq!(folder(&print(&place, &["status", "--json"])), "there");
    fs::remove_dir_all(&dir).unwrap();
    let status = print(&place, &["status", "--json"]);
    assert_eq!(folder(&status), "missing");
    assert_eq!(status["workspaces"][0]["folder"], json!(dir));
    assert_eq!(status["company"], Value::Null);

    let unknown = run(&place, &["company", "forget", "other"]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown
            .err
            .contains("is not a company folder that this home knows: expected one of"),
        "{}",
        unknown.err
    );
    let forgotten = run(&place, &["company", "forget", "acme"]);
    assert_eq!(forgotten.code, 0, "{}", forgotten.err);
    assert!(forgotten.out.starts_with("`Acme` ("), "{}", forgotten.out);
    let status = print(&place, &["status", "--json"]);
    assert_eq!(status["workspaces"], json!([]));
    assert!(!Path::new(&dir).exists());
}
