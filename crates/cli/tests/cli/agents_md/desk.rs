//! A test fixture with a home and a repository, and functions to run `ac` there.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A home and a repository.
pub(crate) struct Desk {
    folder: TempDir,
}

/// The output and the exit code of a command.
#[derive(Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    printed: String,
    said: String,
}

impl Ended {
    pub(crate) fn new(code: i32, printed: &str, said: &str) -> Self {
        Self {
            code,
            printed: printed.to_owned(),
            said: said.to_owned(),
        }
    }
}

impl Desk {
    /// Creates a repository in which these files are committed.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let desk = Self { folder };
        fs::create_dir(desk.path("repo")).expect("a folder can be made");
        desk.git(&["init", "-q", "-b", "main"]);
        for (path, content) in files {
            desk.put(path, content);
        }
        desk.commit();
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.path("repo").join(path)
    }

    pub(crate) fn put(&self, path: &str, content: &str) {
        put(&self.file(path), content);
    }

    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.file(path)).ok()
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        let named = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        command.arg("-C").arg(self.path("repo")).args(named);
        let status = command.args(arguments).status();
        assert!(status.expect("git runs").success(), "git {arguments:?}");
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ac"));
        command
            .args(words)
            .current_dir(self.folder.path())
            .env("ACCORD_HOME", self.path("home"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn sync(&self, words: &[&str]) -> Ended {
        let words = [&["agents-md", "sync", "repo"], words].concat();
        ended(self.command(&words).output().expect("ac starts"))
    }

    /// Returns the rows of a sync and checks that its exit code reports remaining differences.
    pub(crate) fn rows(&self, words: &[&str]) -> Value {
        let synced = self.sync(&[words, &["--json"]].concat());
        let answer: Value = serde_json::from_str(&synced.printed).expect("an answer");
        assert_eq!(synced.code == 1, answer["left"] != 0, "{synced:?}");
        answer["rows"].clone()
    }

    pub(crate) fn call(&self, method: &str, mut params: Value) -> Value {
        params["workspace_id"] = json!(self.workspace());
        self.raw_call(method, &params)
    }

    pub(crate) fn workspace(&self) -> String {
        let found = self.raw_call("workspace/default", &json!({}));
        found["workspace"]["id"].as_str().expect("an id").to_owned()
    }

    pub(crate) fn raw_call(&self, method: &str, params: &Value) -> Value {
        let words = [
            "rpc:call",
            "--method",
            method,
            "--params",
            &params.to_string(),
        ];
        let output = ended(self.command(&words).output().expect("ac starts"));
        assert_eq!(output.code, 0, "{method}: {output:?}");
        serde_json::from_str(&output.printed).expect("an answer")
    }

    pub(crate) fn save(&self, folder: Option<&Value>, content: &str) {
        let params = json!({"folder_id": folder, "content": content});
        self.call("thread/agents_doc/save", params);
    }

    pub(crate) fn make_folder(&self, name: &str) -> Value {
        let made = self.call("thread/folder/create", json!({"name": name}));
        made["folder"]["id"].clone()
    }

    pub(crate) fn folder(&self, path: &str) -> Value {
        let exported = self.call("thread/agents_doc/export", json!({}));
        let folders = exported["folders"].as_array().expect("a list");
        let found = folders.iter().find(|folder| folder["path"] == path);
        found.expect("it is there")["folder_id"].clone()
    }

    /// Returns the documents as path, text and version.
    pub(crate) fn docs(&self) -> Vec<(String, String, i64)> {
        let exported = self.call("thread/agents_doc/export", json!({}));
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let files = exported["files"].as_array().expect("a list").iter();
        let doc = |file: &Value| {
            let version = file["version"].as_i64().expect("a number");
            (text(&file["path"]), text(&file["content"]), version)
        };
        files.map(doc).collect()
    }
}

pub(crate) fn ended(output: Output) -> Ended {
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ended {
        code: output.status.code().expect("a code"),
        printed: text(output.stdout),
        said: text(output.stderr),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "what a test lays out need not survive a crash"
)]
pub(crate) fn put(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
    fs::write(path, content).expect("a file can be written");
}

pub(crate) fn doc(path: &str, content: &str, version: i64) -> (String, String, i64) {
    (path.to_owned(), content.to_owned(), version)
}
