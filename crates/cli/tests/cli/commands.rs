//! The commands for people: their output, error messages and exit codes.

use std::{
    fs,
    io::Write as _,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Office, ServeProcess};

/// A home with a company that has a project, a run and an item to decide.
struct Desk {
    place: TempDir,
    project: String,
    delta: String,
}

impl Desk {
    fn new() -> Self {
        let mut office = Office::open(env!("CARGO_BIN_EXE_ac"));
        let run = office.run("agent_a", "cmd");
        Self {
            delta: office.delta(&run),
            project: office.project.clone(),
            place: office.close(),
        }
    }

    fn home(&self) -> PathBuf {
        self.place.path().join("home")
    }

    fn dir(&self) -> PathBuf {
        let place = self.place.path().canonicalize().expect("it is there");
        place.join("acme")
    }

    /// Returns an `ac` command that runs in the company folder.
    fn ac(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ac"));
        command.env("ACCORD_HOME", self.home());
        command.current_dir(self.dir()).stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Said {
        said(self.ac().args(words))
    }

    /// Runs a command on a terminal, in UTC. The output includes standard error.
    fn shown(&self, words: &[&str]) -> Said {
        let words = words.iter().map(|word| format!("'{word}'"));
        let words: Vec<_> = words.collect();
        let line = format!("'{}' {}", env!("CARGO_BIN_EXE_ac"), words.join(" "));
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]);
        command.env("ACCORD_HOME", self.home()).env("TZ", "UTC");
        command.current_dir(self.dir()).stdin(Stdio::null());
        let mut said = said(command.env("COLUMNS", "80"));
        said.out = said.out.replace("\r\n", "\n");
        said
    }

    /// Creates a run of an agent that does not exist.
    fn new_run(&self) -> String {
        self.run_of("agent_a")
    }

    fn run_of(&self, agent: &str) -> String {
        let words = [
            "run:create",
            "--project-id",
            &self.project,
            "--agent-id",
            agent,
        ];
        let made = self.json(&[&words[..], &["--provider", "cmd", "--json"]].concat());
        made["run_id"].as_str().expect("an id").to_owned()
    }

    /// Launches a command as the session of a run, without a gateway.
    fn launch(&self, run: &str, argv: &[&str]) -> Said {
        let words = [
            "session:launch",
            "--project-id",
            &self.project,
            "--run-id",
            run,
        ];
        let argv = argv.iter().map(|word| format!("--argv={word}"));
        said(self.ac().args(words).args(argv).arg("--json"))
    }

    /// Runs a command and parses its output as JSON.
    fn json(&self, words: &[&str]) -> Value {
        let said = self.run(words);
        assert_eq!(said.code, 0, "{words:?}: {}", said.err);
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{words:?}: {}", said.out))
    }
}

struct Said {
    code: i32,
    out: String,
    err: String,
}

fn said(command: &mut Command) -> Said {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("the binary can be started");
    Said {
        code: status.code().expect("it ends by itself"),
        out: String::from_utf8(stdout).expect("text"),
        err: String::from_utf8(stderr).expect("text"),
    }
}

#[test]
fn status_tells_of_the_home_and_the_company_around_here() {
    let desk = Desk::new();
    let status = desk.json(&["status"]);
    assert_eq!(
        status["company"],
        json!({"folder": desk.dir(), "waiting_for_you": 1, "running": 0})
    );
    assert_eq!(status["gateway"], "not running: `ac serve` starts it");
    assert_eq!(status["projects"][0]["name"], "Alpha");
    assert_eq!(status["workspaces"][0]["name"], "Acme");
    // Outside of a company folder, the only company of the home is used.
    let elsewhere = said(desk.ac().args(["status", "--json"]).current_dir("/"));
    let elsewhere: Value = serde_json::from_str(&elsewhere.out).unwrap();
    assert_eq!(elsewhere["company"], status["company"]);
}

#[test]
fn what_waits_is_shown_and_decided_once() {
    let desk = Desk::new();
    let inbox = desk.json(&["inbox"]);
    assert_eq!(inbox[0]["id"], json!(desk.delta));
    assert_eq!(inbox[0]["title"], "Use port 8080");
    let approved = desk.json(&["approve", &desk.delta, "--notes", "Fine"]);
    assert_eq!(approved["decision"], "approved");

    let again = desk.run(&["approve", &desk.delta]);
    assert_eq!(again.code, 0);
    assert!(
        again.err.contains("was approved by human at"),
        "{}",
        again.err
    );
    let answer: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(
        (&answer["already"], &answer["review_id"]),
        (&json!(true), &approved["review_id"])
    );
    let otherwise = desk.run(&["deny", &desk.delta]);
    assert_eq!(otherwise.code, 1);
    assert!(
        otherwise.err.ends_with(", which is final\n"),
        "{}",
        otherwise.err
    );

    assert_eq!(desk.json(&["inbox"]), json!([]));
    assert_eq!(desk.json(&["inbox", "--json"]), json!([]));
    let unknown = desk.run(&["approve", "art_nothing"]);
    assert_eq!(unknown.code, 2);
    assert_eq!(
        unknown.err,
        "error: no item `art_nothing` waits for a decision: `ac inbox` lists the items\n"
    );
}

#[test]
fn proposals_are_decided_once_also_where_there_is_no_company() {
    let place = tempfile::tempdir().unwrap();
    let ac = |words: &[&str], text: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ac"));
        command.env("ACCORD_HOME", place.path().join("home"));
        let input = place.path().join("input");
        let mut file = fs::File::create(&input).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        command.stdin(fs::File::open(input).unwrap());
        said(command.args(words).current_dir(place.path()))
    };
    let nothing = ac(&["inbox"], "");
    assert_eq!(
        (nothing.code, nothing.out.as_str(), nothing.err.as_str()),
        (
            0,
            "[]\n",
            "There is no company folder here: only proposals are shown.\n"
        )
    );
    assert_eq!(ac(&["doc", "edit"], "# Rules\n").code, 0);
    let propose = ["doc", "propose", "--because", "shorter"];
    for text in ["# One\n", "# Two\n"] {
        let proposed = ac(&propose, text);
        assert_eq!(proposed.code, 0, "{}", proposed.err);
    }
    let inbox: Value = serde_json::from_str(&ac(&["inbox"], "").out).unwrap();
    let ids = ["0", "1"].map(|at| inbox.pointer(&format!("/{at}/id")).unwrap());
    let [first, second] = ids.map(|id| id.as_str().unwrap().to_owned());
    let denied = ac(&["deny", &first], "");
    assert_eq!(denied.code, 0, "{}", denied.err);
    for again in [&first, &first[..12]] {
        let again = ac(&["deny", again], "");
        assert_eq!(again.code, 0, "{}", again.err);
        assert!(again.err.contains("was denied by owner"), "{}", again.err);
    }
    assert_eq!(ac(&["approve", ""], "").code, 2, "nothing was named");
    let contrary = ac(&["approve", &first], "");
    assert_eq!(contrary.code, 1, "{}", contrary.err);
    let approved: Value = serde_json::from_str(&ac(&["approve", &second], "").out).unwrap();
    assert_eq!(approved["saved_version"], 2);
    assert_eq!(ac(&["inbox", "--json"], "").out.trim(), "[]");
}

#[test]
fn outside_of_company_folders_everything_of_the_home_waits() {
    let desk = Desk::new();
    let input = desk.place.path().join("input");
    let ac = |words: &[&str], text: &str| {
        gateway::replace_file(&input, text.as_bytes()).unwrap();
        let mut command = desk.ac();
        command.stdin(fs::File::open(&input).unwrap());
        let said = said(command.args(words).current_dir(desk.place.path()));
        assert_eq!(said.code, 0, "{words:?}: {}", said.err);
        said.out
    };
    let other = ["--workspace-id", "ws_other"];
    ac(&[&["workspace/create"], &other[..]].concat(), "");
    let create = ["thread/folder/create", "--name", "Shop"];
    ac(&[&create[..], &other].concat(), "");
    let propose = ["doc", "propose", "--because", "better", "Shop"];
    for number in 0..25 {
        let text = format!("# Rules, version {number}\n");
        ac(
            &[&propose[..], &["--workspace", "ws_other"]].concat(),
            &text,
        );
    }
    let inbox: Value = serde_json::from_str(&ac(&["inbox", "--json"], "")).unwrap();
    let inbox = inbox.as_array().unwrap();
    assert_eq!(inbox.len(), 26);
    assert_eq!(inbox[0]["id"], json!(desk.delta));
    assert!(inbox[1..].iter().all(|one| one["file"] == "Shop/AGENTS.md"));
    let last = inbox[25]["id"].as_str().unwrap();
    ac(&["deny", last], "");
    // In the company folder only items of the company are listed.
    assert_eq!(desk.json(&["inbox", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn the_tree_and_its_documents_are_those_of_the_company_around_here() {
    let desk = Desk::new();
    let tree = desk.run(&["tree"]);
    assert!(tree.out.ends_with("└─ Alpha/\n"), "{}", tree.out);
    let mut edit = desk.ac();
    edit.args(["doc", "edit", "Alpha", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut editing = edit.spawn().unwrap();
    editing
        .stdin
        .take()
        .unwrap()
        .write_all(b"# Rules\n- Be brief.\n")
        .unwrap();
    let edited = editing.wait_with_output().unwrap();
    let edited: Value = serde_json::from_slice(&edited.stdout).unwrap();
    assert_eq!(edited["doc"]["version"], 1);
    assert_eq!(
        desk.run(&["doc", "show", "Alpha"]).out,
        "# Rules\n- Be brief.\n"
    );
    assert_eq!(
        desk.run(&["doc", "show"]).out,
        "No AGENTS.md applies here.\n"
    );
    assert_eq!(desk.json(&["doc", "history", "Alpha"])[0]["version"], 1);
    let unknown = desk.run(&["doc", "show", "Beta"]);
    assert_eq!(
        unknown.err,
        "error: there is no folder `Beta`: `ac tree` shows the folders\n"
    );
}

#[test]
fn instructions_go_into_the_tree_and_out_again() {
    let desk = Desk::new();
    let (from, to) = (desk.place.path().join("from"), desk.place.path().join("to"));
    fs::create_dir_all(from.join("api")).unwrap();
    gateway::replace_file(&from.join("api/AGENTS.md"), b"# API\n").unwrap();
    let imported = desk.json(&["agents-md", "import", "--json", from.to_str().unwrap()]);
    assert_eq!(imported["docs"][0]["content"], "# API\n");
    let exported = desk.json(&["agents-md", "export", "--json", to.to_str().unwrap()]);
    assert_eq!(exported, json!({"files": [to.join("api/AGENTS.md")]}));
    assert_eq!(
        fs::read_to_string(to.join("api/AGENTS.md")).unwrap(),
        "# API\n"
    );
}

#[test]
fn projects_with_the_same_name_are_told_apart() {
    let desk = Desk::new();
    desk.json(&["workspace:project:create_with_defaults", "--name", "Alpha"]);
    let tree = desk.json(&["tree", "--json"]);
    let ids: Vec<&str> = tree["folders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|folder| folder["id"].as_str().unwrap())
        .collect();
    let refused = desk.run(&["doc", "show", "Alpha"]);
    assert_eq!(refused.code, 2);
    for id in &ids {
        assert!(refused.err.contains(id), "{}", refused.err);
        assert!(desk.run(&["tree"]).out.contains(&format!("Alpha/  {id}")));
        assert_eq!(desk.run(&["doc", "show", id]).code, 0);
    }
}

#[test]
fn what_a_model_says_acts_on_no_terminal() {
    let desk = Desk::new();
    let asked = desk.run(&[
        "ask",
        "\u{1b}]0;title\u{7}one\u{1b}[2J\ttwo\nthree\u{9b}31m\u{202e}",
    ]);
    assert_eq!(asked.code, 0, "{}", asked.err);
    assert_eq!(asked.out, " ]0;title one [2J\ttwo\nthree 31m \n");
}

#[test]
fn a_question_is_answered_and_the_thread_goes_on() {
    let desk = Desk::new();
    let asked = desk.run(&["ask", "Hello", "there"]);
    assert_eq!((asked.code, asked.out.as_str()), (0, "Hello there\n"));
    let thread = asked
        .err
        .split_whitespace()
        .find(|word| word.starts_with("thr_"))
        .unwrap();
    let turn = desk.json(&["ask", "--thread", thread, "--json", "And", "now?"]);
    assert_eq!(
        (&turn["thread_id"], &turn["turn"]["status"]),
        (&json!(thread), &json!("Completed"))
    );
    assert!(
        desk.run(&["tree"]).out.contains(thread),
        "it is a thread of the company"
    );
    let unknown = desk.run(&["ask", "--thread", "thr_000000000000000000", "x"]);
    assert_eq!(unknown.code, 1);
    let failed = desk.run(&["ask", "--provider", "nobody", "x"]);
    assert_eq!(failed.code, 1, "{}", failed.err);
}

#[test]
fn words_are_found() {
    let desk = Desk::new();
    desk.json(&[
        "conversation:message:send",
        "--scope",
        "project",
        "--project-id",
        &desk.project,
        "--conversation-id",
        &format!("conv_{}_home", desk.project),
        "--author-id",
        "human",
        "--author-role",
        "human",
        "--body",
        "The harbour is frozen",
    ]);
    let found = desk.json(&["search", "frozen"]);
    assert!(
        found[0]["text"].as_str().unwrap().contains("frozen"),
        "{found}"
    );
    assert!(desk.json(&["search", "--json", "frozen"])["items"].is_array());
    assert_eq!(desk.run(&["search", "volcano"]).out, "Nothing was found.\n");
}

#[test]
fn the_desktop_of_a_running_gateway_is_opened() {
    let desk = Desk::new();
    let alone = desk.run(&["open", "--print"]);
    assert_eq!(alone.code, 1);
    assert_eq!(
        alone.err,
        "error: no gateway serves this home: `ac serve` starts one\n"
    );
    let serving = ServeProcess::start(Command::new(env!("CARGO_BIN_EXE_ac")), &desk.home());
    let address = desk.run(&["open", "--print"]).out;
    assert!(
        address.starts_with(&format!("http://{}/#code=", serving.address())),
        "{address}"
    );
    let address = desk.json(&["open", "--json"])["address"].clone();
    assert!(address.as_str().unwrap().contains("/#code="));
    // Other commands connect to it.
    assert_eq!(desk.json(&["status"])["gateway"], json!(serving.url()));
    assert_eq!(
        desk.json(&["watch", "--json"])["inbox"][0]["title"],
        "Use port 8080"
    );
}

#[test]
fn a_service_and_completions_are_printed() {
    let desk = Desk::new();
    let service = desk.run(&["service", "install", "--print"]);
    assert!(service.out.contains("serve"), "{}", service.out);
    assert!(
        service.out.contains(desk.home().to_str().unwrap()),
        "{}",
        service.out
    );
    for shell in ["bash", "zsh", "fish"] {
        let script = desk.run(&["completions", shell]);
        assert_eq!(script.code, 0);
        assert!(script.out.contains("workspace:init"), "{shell}");
        let hidden = ["projection-worker", "projection__worker"];
        let is_named = hidden.iter().any(|name| script.out.contains(name));
        assert!(!is_named, "{shell}: it is hidden");
    }
    let wrong = desk.run(&["completions", "tcsh"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.lines().count() <= 2, "{}", wrong.err);
}

#[test]
fn a_doctor_tells_a_lost_database_from_a_new_home() {
    let desk = Desk::new();
    let database = |path: &Path| {
        let said = said(desk.ac().args(["doctor", "--json", "--home"]).arg(path));
        let findings: Value = serde_json::from_str(&said.out).unwrap();
        let all = findings["findings"].as_array().unwrap();
        let found = all.iter().find(|finding| finding["check"] == "database");
        let found = found.unwrap();
        let words = ["status", "found", "do"].map(|name| found[name].as_str().unwrap().to_owned());
        (said.code, words)
    };
    let new = tempfile::tempdir().unwrap();
    let (code, [status, found, _]) = database(new.path());
    assert_eq!((code, &*status, &*found), (0, "warn", "there is none yet"));
    for left in ["gateway.db-wal", "gateway.db-shm"] {
        let _ = fs::remove_file(desk.home().join(left));
    }
    gateway::replace_file(&desk.home().join("gateway.db"), &[7; 10_000]).unwrap();
    let (code, [status, _, remedy]) = database(&desk.home());
    assert_eq!((code, &*status), (1, "fail"));
    assert!(remedy.contains("ac restore"), "{remedy}");
    fs::remove_file(desk.home().join("gateway.db")).unwrap();
    let (code, [status, found, remedy]) = database(&desk.home());
    assert_eq!((code, &*status, &*found), (1, "fail", "it is missing"));
    assert!(remedy.contains("ac restore"), "{remedy}");
}

#[test]
fn a_command_leaves_no_process_behind_in_the_home() {
    let home = tempfile::tempdir().unwrap();
    let tree = ["tree", "--home", home.path().to_str().unwrap()];
    assert_eq!(
        said(Command::new(env!("CARGO_BIN_EXE_ac")).args(tree)).code,
        0
    );
    let left = fs::read_dir(home.path().join("processes")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn a_doctor_names_the_file_that_keeps_the_home_from_opening() {
    let desk = Desk::new();
    gateway::replace_file(&desk.home().join("config.toml"), b"no = such = thing").unwrap();
    let sick = desk.run(&["doctor", "--json"]);
    assert_eq!(
        (sick.code, sick.err.as_str()),
        (1, "error: one check failed\n")
    );
    let findings: Value = serde_json::from_str(&sick.out).unwrap();
    let all = findings["findings"].as_array().unwrap();
    let broken = all.iter().find(|finding| finding["status"] == "fail");
    let broken = broken.unwrap();
    assert_eq!(broken["check"], "opening");
    let found = broken["found"].as_str().unwrap();
    assert!(found.contains("config.toml"), "{found}");
}

#[test]
fn putting_a_folder_makes_a_manifest_of_its_files() {
    let desk = Desk::new();
    let folder = desk.place.path().join("notes");
    fs::create_dir_all(folder.join("deep")).unwrap();
    for (name, text) in [("a.txt", "one"), ("deep/b.txt", "two")] {
        let mut file = fs::File::create(folder.join(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
    let manifest = desk.json(&["artifact", "put", "--json", folder.to_str().unwrap()]);
    assert_eq!(manifest["kind"], "directory_manifest");
    assert_eq!(manifest["display_name"], "notes.manifest.json");
    let copy = desk.place.path().join("copy.json");
    let id = manifest["artifact_id"].as_str().unwrap();
    desk.run(&["artifact", "get", id, "-o", copy.to_str().unwrap()]);
    let copy: Value = serde_json::from_str(&fs::read_to_string(copy).unwrap()).unwrap();
    let paths: Vec<_> = copy["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["a.txt", "deep/b.txt"]);
    let listed = desk.json(&["artifact", "list", "--json"]);
    let imported = listed["items"].as_array().unwrap().iter();
    let imported = imported.filter(|item| item["created_by_kind"] == "import");
    assert_eq!(imported.count(), 3);
    // A link may stand where the download is written first.
    let victim = desk.place.path().join("victim");
    std::os::unix::fs::symlink(&victim, desk.dir().join("a.txt.part")).unwrap();
    let got = desk.run(&[
        "artifact",
        "get",
        copy["files"][0]["artifact_id"].as_str().unwrap(),
    ]);
    assert_eq!(got.code, 0, "{}", got.err);
    assert_eq!(fs::read_to_string(desk.dir().join("a.txt")).unwrap(), "one");
    assert!(!victim.exists(), "the link was followed");
}

#[test]
fn a_doctor_finds_what_is_broken() {
    let desk = Desk::new();
    let well = desk.run(&["doctor", "--json"]);
    let findings: Value = serde_json::from_str(&well.out).unwrap();
    assert_eq!(
        (well.code, &findings["ok"]),
        (0, &json!(true)),
        "{findings}"
    );
    let file = desk.place.path().join("note.txt");
    fs::File::create(&file)
        .unwrap()
        .write_all(b"a note")
        .unwrap();
    desk.json(&["artifact", "put", "--json", file.to_str().unwrap()]);
    let blob = find_file(&desk.home().join("artifacts/workspaces"));
    let mut opened = fs::OpenOptions::new().append(true).open(blob).unwrap();
    opened.write_all(b", changed").unwrap();
    let log = find_file(
        &desk
            .dir()
            .join("work/projects")
            .join(&desk.project)
            .join("runs"),
    );
    let events = log.parent().unwrap().join("events.jsonl");
    let text = fs::read_to_string(&events)
        .unwrap()
        .replacen("cmd", "dmc", 1);
    gateway::replace_file(&events, text.as_bytes()).unwrap();
    fs::set_permissions(desk.home().join("token"), fs::Permissions::from_mode(0o644)).unwrap();

    let sick = desk.run(&["doctor", "--json"]);
    assert_eq!(sick.code, 1);
    assert!(
        sick.err.ends_with("error: 3 checks failed\n"),
        "{}",
        sick.err
    );
    let findings: Value = serde_json::from_str(&sick.out).unwrap();
    let broken: Vec<_> = findings["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["status"] == "fail")
        .map(|finding| {
            (
                finding["check"].as_str().unwrap(),
                finding["do"].is_string(),
            )
        })
        .collect();
    let chain = format!("company {} events.chain", desk.dir().display());
    assert_eq!(
        broken,
        [("home", true), ("artifacts", true), (chain.as_str(), true)]
    );
}

/// Returns the first file below a folder.
fn find_file(folder: &Path) -> PathBuf {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                return path;
            }
        }
    }
    panic!("there is no file");
}

#[test]
fn whatever_is_wrong_is_said_in_two_lines_at_most() {
    let desk = Desk::new();
    let place = desk.place.path();
    let missing = place.join("missing");
    let missing = missing.to_str().unwrap();
    let home = desk.home();
    let home = home.to_str().unwrap();
    let cases: [(&[&str], i32, &str); 9] = [
        (
            &[],
            2,
            "error: no command was given\nhint: `ac demo` starts a demo, `ac --help` lists the commands\n",
        ),
        (
            &["serve", "--lissten", "x"],
            2,
            "error: unexpected argument '--lissten' found\nhint: a similar argument exists: '--listen'\n",
        ),
        (
            &["inbx"],
            2,
            "error: there is no command `inbx`; did you mean `ac inbox`?\nhint: `ac --help` lists the commands, `ac methods` lists those of the protocol\n",
        ),
        (
            &["inbox", "-C", missing],
            2,
            "does not exist: name a company folder, or create one with `ac workspace:init DIR`\n",
        ),
        (
            &["inbox", "-C", home],
            2,
            "is not a company folder: name one, or turn it into one with `ac workspace:init --force DIR`\n",
        ),
        (
            &["workspace:open", missing],
            2,
            "does not exist: name a company folder, or create one with `ac workspace:init DIR`\n",
        ),
        (
            &["workspace:open", home],
            2,
            "is not a company folder: name one, or turn it into one with `ac workspace:init --force DIR`\n",
        ),
        (
            &["run:replay"],
            2,
            "hint: usage: ac run:replay --project-id <TEXT> --run-id <TEXT> [DIR]\n",
        ),
        (
            &["run:list", missing],
            2,
            "does not exist: name a company folder, or create one with `ac workspace:init DIR`\n",
        ),
    ];
    for (words, code, end) in cases {
        let said = desk.run(words);
        assert_eq!(
            (said.code, said.out.as_str()),
            (code, ""),
            "{words:?}: {}",
            said.err
        );
        assert!(
            said.err.starts_with("error: ") && said.err.ends_with(end),
            "{words:?}: {}",
            said.err
        );
        assert!(said.err.lines().count() <= 2, "{words:?}: {}", said.err);
    }
}

#[test]
fn the_beginning_of_a_command_lists_the_commands_that_begin_with_it() {
    let desk = Desk::new();
    for (name, command) in [
        ("run", "ac run:replay "),
        ("session", "ac session:launch "),
        ("agent", "ac agent:profile:snapshot "),
        ("usage", "ac usage:analytics "),
        ("thread", "ac thread/tree "),
        ("company", "ac company forget "),
        ("doc", "ac doc history "),
        ("token", "ac token revoke "),
    ] {
        let said = desk.run(&[name]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{name}");
        let head = format!(
            "error: `ac {name}` is not a command by itself; commands that start with it:\n"
        );
        assert!(said.err.starts_with(&head), "{}", said.err);
        assert!(said.err.contains(command), "{}", said.err);
    }
    let apart = desk.run(&["run", "list"]);
    assert!(
        apart.err.contains("did you mean `ac run:list`?"),
        "{}",
        apart.err
    );
}

#[test]
fn messages_say_the_cause_and_the_next_step() {
    let desk = Desk::new();
    let place = desk.place.path();
    let big = place.join("big");
    let file = fs::File::create(&big).unwrap();
    file.set_len(60 << 20).unwrap();
    let (big, folder) = (big.to_str().unwrap(), place.to_str().unwrap());
    let missing = place.join("missing");
    let below = missing.join("file");
    let (missing, below) = (missing.to_str().unwrap(), below.to_str().unwrap());
    let at_folder = format!("@{folder}");
    let at_folder = at_folder.as_str();
    for (words, said) in [
        (
            &["serve", "--listen", "localhost"][..],
            "expected ADDRESS:PORT, such as 127.0.0.1:17878\n",
        ),
        (
            &["artifact", "put", folder, "--artifact", "art_1"],
            "is a folder: --artifact takes a single file\n",
        ),
        (
            &["artifact", "put", big],
            "has 60 MiB: the limit for a file is 50 MiB\n",
        ),
        (&["artifact", "put", missing], "missing` does not exist\n"),
        (
            &["backup", below],
            "missing` cannot be used: it does not exist\n",
        ),
        (
            &["rpc:call", "--method", "run.list", "--params", at_folder],
            "` is a folder\n",
        ),
        (
            &["serve", "--listen", "127.0.0.1:0", "--ready-file", below],
            "cannot be written: its folder does not exist\n",
        ),
        (
            &[
                "run:replay",
                "--project-id",
                "p",
                "--run-id",
                "r",
                "--tail",
                "abc",
            ],
            "expected a whole number, such as 5000\n",
        ),
        (
            &[
                "session:launch",
                "--project-id",
                "p",
                "--run-id",
                "r",
                "--env",
                "x",
            ],
            "expected JSON, such as '{\"NAME\": \"value\"}'\n",
        ),
        (
            &["workspace:init", folder, "--company-name", "X"],
            "or set `--force` to use this one\n",
        ),
        (
            &["ask", ""],
            "error: the question is empty: expected words, as in `ac ask What is left to do?`\n",
        ),
        (
            &["run:list", folder],
            "hint: make one with `ac workspace:init` or `ac workspace:bootstrap:enterprise`\n",
        ),
    ] {
        let found = desk.run(words);
        assert_ne!(found.code, 0, "{words:?}");
        assert!(found.err.contains(said), "{words:?}: {}", found.err);
    }
}

#[test]
fn a_program_that_is_not_there_is_named_with_where_it_was_looked_for() {
    let desk = Desk::new();
    let run = desk.new_run();
    let launch = desk.launch(&run, &["no-such-worker"]);
    assert_eq!(launch.code, 1);
    assert_eq!(
        launch.err,
        "warning: there is no agent `agent_a` in this company\n\
         error: the session failed: no-such-worker is not installed or not in PATH\n"
    );
}

#[test]
fn a_provider_that_cannot_be_reached_is_named_with_the_reason() {
    let desk = Desk::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", closed.local_addr().unwrap());
    drop(closed);
    let config = format!("[providers.openai]\nbase_url = \"{base}\"\napi_key = \"k\"\n");
    gateway::replace_file(&desk.home().join("config.toml"), config.as_bytes()).unwrap();
    let asked = desk.run(&["ask", "--provider", "openai", "--model", "m", "Hello"]);
    assert_eq!(asked.code, 1, "{}", asked.err);
    let sentence = format!(
        "error: `openai` could not be reached at `{base}`: the connection was refused, no program listens on the port\n"
    );
    assert_eq!(asked.err, sentence, "one sentence, and no line of the log");
    let mut loud = desk.ac();
    loud.args(["ask", "--provider", "openai", "--model", "m", "Hello"]);
    let loud = said(loud.env("ACCORD_LOG", "warn")).err;
    assert!(
        loud.contains(" WARN ") && loud.ends_with(&sentence),
        "{loud}"
    );
}

#[test]
fn a_damaged_database_points_to_the_doctor() {
    let desk = Desk::new();
    for left in ["gateway.db-wal", "gateway.db-shm"] {
        let _ = fs::remove_file(desk.home().join(left));
    }
    gateway::replace_file(&desk.home().join("gateway.db"), &[7; 10_000]).unwrap();
    for words in [&["status"][..], &["token", "list"]] {
        let said = desk.run(words);
        assert_eq!(said.code, 1, "{words:?}");
        let hint = "hint: `ac doctor` shows what is wrong with the database and how to repair it\n";
        assert!(said.err.ends_with(hint), "{words:?}: {}", said.err);
    }
}

#[test]
fn a_launch_without_a_gateway_prints_how_the_session_ended() {
    let desk = Desk::new();
    let run = desk.new_run();
    let ended = desk.launch(&run, &["sh", "-c", "exit 0"]);
    let ended: Value = serde_json::from_str(&ended.out).unwrap();
    let session = format!("local_{run}");
    assert_eq!(
        ended,
        json!({
            "session_ref": session, "state": "ended", "exit_code": 0,
            "warnings": ["there is no agent `agent_a` in this company"],
        })
    );
    let run = desk.new_run();
    let failed = desk.launch(&run, &["sh", "-c", "exit 3"]);
    let failed: Value = serde_json::from_str(&failed.out).unwrap();
    assert_eq!(
        (&failed["state"], &failed["exit_code"]),
        (&json!("failed"), &json!(3))
    );
}

#[test]
fn artifacts_are_listed_with_their_run_and_agent_and_deleted_ones_apart() {
    let desk = Desk::new();
    let agent = desk.json(&["workspace:agents:list", "--json"])[0].clone();
    let (id, name) = (&agent["agent_id"], agent["name"].as_str().unwrap());
    let run = desk.run_of(id.as_str().unwrap());
    let outputs = format!("work/projects/{}/runs/{run}/outputs", desk.project);
    let script = format!("mkdir -p {outputs} && echo done > {outputs}/result.md");
    let launched = desk.launch(&run, &["sh", "-c", &script]);
    assert_eq!(launched.code, 0, "{}", launched.err);
    let note = desk.place.path().join("note.txt");
    gateway::replace_file(&note, b"a note").unwrap();
    let put = desk.json(&["artifact", "put", "--json", note.to_str().unwrap()]);

    let listed = desk.run(&["artifact", "list"]).out;
    let title = listed.lines().next().unwrap();
    let columns: Vec<_> = title.split_whitespace().collect();
    assert_eq!(
        columns,
        [
            "NAME", "STATUS", "KIND", "AGENT", "RUN", "SIZE", "CREATED", "ID"
        ]
    );
    let result = listed.lines().find(|line| line.starts_with("result.md"));
    let result = result.unwrap_or_else(|| panic!("{listed}"));
    // A run without a goal is named by its command.
    let goal = "mkdir -p work/projects/";
    assert!(result.contains(name) && result.contains(goal), "{result}");
    let table = desk.shown(&["artifact/list"]).out;
    let mut table = table.lines().skip(1);
    let columns = table.next().unwrap().split_whitespace();
    assert_eq!(
        columns.collect::<Vec<_>>(),
        [
            "NAME", "STATUS", "KIND", "AGENT", "RUN", "SIZE", "CREATED", "ID"
        ]
    );
    assert!(table.any(|line| line.starts_with("result.md ")));

    let deleted = ["artifact", "list", "--deleted"];
    assert_eq!(desk.run(&deleted).out, "There are no deleted artifacts.\n");
    let id = put["artifact_id"].as_str().unwrap();
    desk.json(&["artifact/delete", "--artifact-id", id, "--json"]);
    let left = desk.run(&deleted).out;
    assert_eq!(left.lines().count(), 2, "{left}");
    assert!(
        left.lines()
            .any(|line| line.starts_with("note.txt  deleted")),
        "{left}"
    );
    let left = desk.json(&["artifact", "list", "--deleted", "--json"]);
    assert_eq!(left["items"].as_array().unwrap().len(), 1);
}

#[test]
fn a_doctor_looks_at_free_space() {
    let desk = Desk::new();
    let findings = desk.json(&["doctor", "--json"]);
    let all = findings["findings"].as_array().unwrap();
    let space = all.iter().find(|finding| finding["check"] == "space");
    let found = space.unwrap()["found"].as_str().unwrap();
    assert!(found.ends_with(" free"), "{found}");
}

#[test]
fn tables_name_what_they_list_first_and_counts_agree_with_their_noun() {
    let desk = Desk::new();
    assert!(desk.run(&["tree"]).out.starts_with("Acme\n"));
    desk.json(&["token", "create", "--name", "desk", "--json"]);
    let mut listing = desk.ac();
    let tokens = said(listing.args(["token", "list"]).env("TZ", "UTC")).out;
    let row = tokens.lines().last().unwrap();
    assert!(row.starts_with("desk  valid  worker"), "{tokens}");
    let repository = desk.place.path().join("repository");
    fs::create_dir(&repository).unwrap();
    gateway::replace_file(&repository.join("AGENTS.md"), b"x").unwrap();
    let imported = desk.run(&["agents-md", "import", repository.to_str().unwrap()]);
    assert_eq!(
        imported.out,
        "1 file found, 1 document changed, 0 folders created\n"
    );
    let tree = desk.run(&["tree"]).out;
    assert!(tree.contains("AGENTS.md  v1 · 1 character\n"), "{tree}");
}

#[test]
fn no_permission_is_said_with_what_to_do() {
    const NOBODY: u32 = 65534;
    let desk = Desk::new();
    let place = desk.place.path();
    fs::set_permissions(place, fs::Permissions::from_mode(0o755)).unwrap();
    for closed in [desk.dir(), desk.home()] {
        fs::set_permissions(closed, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let free = tempfile::tempdir().unwrap();
    fs::set_permissions(free.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let hint =
        "hint: it belongs to another account: name another path, or ask its owner for access\n";
    let company = [
        "inbox",
        "--home",
        free.path().to_str().unwrap(),
        "-C",
        desk.dir().to_str().unwrap(),
    ]
    .map(str::to_owned);
    let home = ["status", "--home", desk.home().to_str().unwrap()].map(str::to_owned);
    for words in [&company[..], &home[..]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ac"));
        command.args(words).current_dir("/");
        // Root may read the file regardless of its permissions.
        if rustix::process::getuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        let said = said(&mut command);
        assert_eq!(said.code, 1, "{words:?}: {}", said.err);
        assert!(
            said.err.contains("Permission denied"),
            "{words:?}: {}",
            said.err
        );
        assert!(said.err.ends_with(hint), "{words:?}: {}", said.err);
        assert_eq!(said.err.lines().count(), 2, "{words:?}: {}", said.err);
    }
    for closed in [desk.dir(), desk.home()] {
        fs::set_permissions(closed, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn the_home_is_named_before_or_after_a_command() {
    let desk = Desk::new();
    let other = desk.place.path().join("other");
    let other = other.to_str().unwrap();
    for words in [
        ["--home", other, "workspace/list", "--json"],
        ["workspace/list", "--json", "--home", other],
        ["--home", other, "token", "list"],
        ["token", "list", "--home", other],
        ["--home", other, "status", "--json"],
    ] {
        let said = said(desk.ac().args(words).current_dir("/"));
        assert_eq!(said.code, 0, "{words:?}: {}", said.err);
        assert!(!said.out.contains("Acme"), "{words:?}: {}", said.out);
    }
}

#[test]
fn a_tilde_is_the_home_folder_of_the_account_in_every_path() {
    let desk = Desk::new();
    let user = desk.place.path().join("user");
    let here = desk.place.path().join("here");
    for folder in [&user, &here] {
        fs::create_dir(folder).unwrap();
    }
    gateway::replace_file(&user.join("params.json"), b"{}").unwrap();
    let dir = desk.dir();
    let dir = dir.to_str().unwrap();
    let run = |words: &[&str]| {
        let mut command = desk.ac();
        said(command.env("HOME", &user).current_dir(&here).args(words))
    };
    for (words, made) in [
        (
            &["status", "--home=~/home", "--json"][..],
            "home/gateway.db",
        ),
        (
            &["workspace:export", dir, "--out-dir", "~/exported"],
            "exported",
        ),
        (
            &["workspace:import", "~/imported", "--src-dir", "~/exported"],
            "imported/company/company.yaml",
        ),
        (&["backup", "~/saved.tar"], "saved.tar"),
        (
            &[
                "restore",
                "~/saved.tar",
                "--home=~/new",
                "--companies",
                "~/companies",
            ],
            "companies/acme/company/company.yaml",
        ),
        (&["agents-md", "export", "~/documents"], "params.json"),
        (
            &["run:list", dir, "--params", "@~/params.json"],
            "params.json",
        ),
        (&["demo", "--no-serve", "~/demo"], "demo/demo.json"),
    ] {
        let said = run(words);
        assert_eq!(said.code, 0, "{words:?}: {}", said.err);
        assert!(user.join(made).exists(), "{words:?}");
    }
    let mut command = desk.ac();
    command.env("HOME", &user).env("ACCORD_HOME", "~/other");
    let said = said(command.current_dir(&here).args(["status", "--json"]));
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(user.join("other/gateway.db").exists());
    let left = fs::read_dir(&here).unwrap();
    assert_eq!(left.count(), 0, "nothing is called `~`");
    let other = run(&["status", "--home=~ada/x"]);
    assert_eq!(other.code, 2, "{}", other.err);
}

#[test]
fn a_relative_path_is_relative_to_the_folder_of_the_command() {
    let desk = Desk::new();
    let _serving = ServeProcess::start(Command::new(env!("CARGO_BIN_EXE_ac")), &desk.home());
    let mut command = desk.ac();
    command.args(["workspace:export", "acme", "--out-dir", "exported"]);
    let said = said(command.current_dir(desk.place.path()));
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(desk.place.path().join("exported").is_dir());
}

#[test]
fn deleting_what_is_not_there_ends_with_1_and_a_sentence() {
    let desk = Desk::new();
    for (words, sentence) in [
        (
            &["thread/delete", "--thread-id", "thr_000000000000000000"][..],
            "error: there is no thread `thr_000000000000000000` in this workspace, so nothing was deleted: `ac tree` shows the tree\n",
        ),
        (
            &[
                "thread/folder/delete",
                "--yes",
                "--folder-id",
                "fld_000000000000000000",
            ],
            "error: there is no folder `fld_000000000000000000` in this workspace, so nothing was deleted: `ac tree` shows the tree\n",
        ),
    ] {
        let said = desk.run(words);
        assert_eq!((said.code, said.err.as_str()), (1, sentence), "{words:?}");
    }
}

#[test]
fn a_project_that_is_not_there_ends_every_command_with_1() {
    let desk = Desk::new();
    for words in [
        &["run:list", "--project-id", "proj_none"][..],
        &["sharepack:create", "--project-id", "proj_none"],
        &["pm", "gantt", ".", "proj_none"],
        &["pm", "export", ".", "proj_none", "--format", "csv"],
    ] {
        let said = desk.run(words);
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{words:?}");
        assert!(said.err.contains("proj_none"), "{words:?}: {}", said.err);
    }
    assert_eq!(
        desk.run(&["run:list", "--project-id", &desk.project]).code,
        0
    );
}

#[test]
fn a_token_file_that_others_can_read_is_closed_with_one_sentence() {
    let desk = Desk::new();
    let token = desk.home().canonicalize().unwrap().join("token");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    let said = desk.run(&["inbox", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(
        said.err,
        format!(
            "warning: other accounts could read the token file `{}`; it is private again: if one of them may have read it, remove the file and restart the gateway, which creates a new token\n",
            token.display()
        )
    );
    assert_eq!(desk.run(&["inbox", "--json"]).err, "");
}

#[test]
fn an_empty_token_file_is_refused_with_the_next_step() {
    let desk = Desk::new();
    let token = desk.home().canonicalize().unwrap().join("token");
    gateway::replace_file(&token, b"").unwrap();
    let said = desk.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(said.code, 1);
    let sentence = format!(
        "error: the token file of the home cannot be used: it is empty; remove the file `{}` to create a new token\n",
        token.display()
    );
    assert_eq!(said.err, sentence);
}

#[test]
fn help_names_commands_and_flags_and_no_numbers_of_errors() {
    let desk = Desk::new();
    let methods = desk.run(&["methods", "job:submit"]).out;
    assert!(
        methods.contains("`ac job:poll` reports its progress"),
        "{methods}"
    );
    let help = desk.run(&["worktree:cleanup", "--help"]).out;
    assert!(help.contains("or all of them with `--force`"), "{help}");
    let snapshot = desk.run(&["desktop:bootstrap:snapshot", "--help"]).out;
    assert!(!snapshot.contains("-32601"), "{snapshot}");
}

#[test]
fn a_new_company_folder_is_shown_with_the_next_step() {
    let desk = Desk::new();
    let dir = desk.dir().with_file_name("shop");
    let dir = dir.to_str().unwrap();
    let made = desk.shown(&["workspace:init", dir, "--company-name", "Shop"]);
    assert_eq!(
        made.out,
        format!(
            "The company folder {dir} is ready. Next: `ac workspace:project:create_with_defaults {dir} --name NAME` creates a project.\n"
        )
    );
}

#[test]
fn runs_are_named_by_their_goal_and_show_whether_they_have_a_process() {
    let desk = Desk::new();
    let words = ["run:create", "--project-id", &desk.project];
    let agent = desk.json(&["workspace:agents:list", "--json"])[0]["agent_id"].clone();
    let agent = agent.as_str().unwrap();
    let more = [
        "--agent-id",
        agent,
        "--provider",
        "cmd",
        "--goal",
        "Sell seats",
        "--json",
    ];
    let run = desk.json(&[&words[..], &more].concat())["run_id"].clone();
    let run = run.as_str().unwrap();

    let usage = desk.shown(&["usage:analytics"]).out;
    assert!(usage.contains("\nSell seats  not started  "), "{usage}");
    let profile = desk
        .shown(&["agent:profile:snapshot", "--agent-id", agent])
        .out;
    assert!(
        profile.contains("\nNot started runs       1\nRunning runs           0\n"),
        "{profile}"
    );
    let replayed = ["run:replay", "--project-id", &desk.project, "--run-id", run];
    let replayed = desk
        .shown(&[&replayed[..], &["--mode", "verified"]].concat())
        .out;
    assert!(
        replayed.starts_with(&format!(
            "Goal     Sell seats\nLog      verified: no event was changed\nMode     verified\nProject  Alpha\nID       {run}\n\nEvents\nTIME "
        )),
        "{replayed}"
    );
    let watched = desk.json(&["watch", "--json"]);
    assert_eq!(watched["runs"][0]["goal"], "Sell seats");
}

#[test]
fn a_decision_is_shown_with_its_title_first() {
    let desk = Desk::new();
    let approved = desk.shown(&["approve", &desk.delta, "--yes"]);
    assert_eq!(approved.code, 0, "{}", approved.out);
    let (_, answer) = approved.out.split_once("SHA-256 of this item: ").unwrap();
    let title = answer.lines().nth(1).unwrap();
    assert!(title.starts_with("Title "), "{}", approved.out);
    assert!(title.ends_with("Use port 8080"), "{}", approved.out);
}

#[test]
fn what_is_approved_is_shown_first_and_asked_about_on_a_terminal() {
    let desk = Desk::new();
    let asked = desk.shown(&["approve", &desk.delta]);
    assert!(asked.out.contains("+- port 8080"), "{}", asked.out);
    assert!(
        asked.out.contains("Approve `Use port 8080`?"),
        "{}",
        asked.out
    );
    assert!(asked.out.contains("nothing was changed"), "{}", asked.out);
    assert_eq!(desk.json(&["inbox"]).as_array().unwrap().len(), 1);

    let approved = desk.run(&["approve", &desk.delta]);
    assert_eq!(approved.code, 0, "{}", approved.err);
    assert!(approved.err.contains("+- port 8080"), "{}", approved.err);
    let answer: Value = serde_json::from_str(&approved.out).unwrap();
    assert_eq!(answer["decision"], "approved");
}

#[test]
fn a_decision_with_a_hash_holds_for_what_the_inbox_showed() {
    let desk = Desk::new();
    let shown = desk.json(&["inbox", &desk.delta[..12]]);
    let hash = shown["sha256"].as_str().unwrap().to_owned();
    assert!(desk.shown(&["inbox", &desk.delta]).out.contains(&hash));
    let patch = desk
        .dir()
        .join(shown["files"][1]["relpath"].as_str().unwrap());
    let original = fs::read_to_string(&patch).unwrap();
    gateway::replace_file(&patch, original.replace("8080", "6666").as_bytes()).unwrap();
    for word in ["approve", "deny"] {
        let refused = desk.run(&[word, &desk.delta, "--sha256", &hash]);
        let id = &desk.delta;
        let sentence = format!(
            "error: nothing was decided, because `{id}` changed since it was shown: `ac inbox {id}` shows it as it is now\n"
        );
        assert_eq!((refused.code, refused.err), (1, sentence));
    }
    gateway::replace_file(&patch, original.as_bytes()).unwrap();
    let approved = desk.run(&["approve", &desk.delta, "--sha256", &hash]);
    assert_eq!((approved.code, approved.err.as_str()), (0, ""));
}

#[test]
fn commands_that_decide_refuse_in_the_session_of_a_worker() {
    let desk = Desk::new();
    let person = json!({
        "workspace_dir": desk.dir(), "project_id": desk.project, "artifact_id": desk.delta,
        "actor_id": "human", "actor_role": "human", "decision": "approved",
    });
    let person = person.to_string();
    let words: [&[&str]; 4] = [
        &["approve", &desk.delta],
        &["deny", &desk.delta],
        &["rpc:call", "--method", "inbox.resolve", "--params", &person],
        &[
            "rpc:call",
            "--method",
            "memory.approve_delta",
            "--params",
            &person,
        ],
    ];
    for words in words {
        let refused = said(desk.ac().args(words).env("ACCORD_RUN_DIR", "/runs/run_1"));
        assert_eq!(refused.code, 1, "{words:?}");
        assert_eq!(
            refused.err,
            "error: only people may decide, but this command runs in a worker session: decide in your own terminal or on the desktop\n"
        );
    }
    // A worker that drops the variable is still detected through its parent processes.
    #[cfg(target_os = "linux")]
    {
        let line = format!(
            "env -u ACCORD_RUN_DIR '{}' approve {}; exit $?",
            env!("CARGO_BIN_EXE_ac"),
            desk.delta
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).stdin(Stdio::null());
        shell
            .env("ACCORD_HOME", desk.home())
            .env("ACCORD_RUN_DIR", "/runs/run_1");
        let refused = said(shell.current_dir(desk.dir()));
        assert!(refused.err.contains("worker session"), "{}", refused.err);
    }
    assert_eq!(desk.json(&["inbox"]).as_array().unwrap().len(), 1);
}

#[test]
fn an_unusable_delta_is_marked_and_can_only_be_denied() {
    let desk = Desk::new();
    let artifacts = desk.dir().join("work/projects").join(&desk.project);
    let patch = artifacts
        .join("artifacts")
        .join(format!("{}.patch", desk.delta));
    gateway::replace_file(&patch, b"this is no patch").unwrap();
    desk.json(&["index:rebuild", "--json"]);
    let inbox = desk.shown(&["inbox"]).out;
    assert!(inbox.contains("invalid, can only be denied"), "{inbox}");
    let approved = desk.run(&["approve", &desk.delta]);
    assert_eq!(
        (approved.code, approved.err.as_str()),
        (
            1,
            format!(
                "error: `Use port 8080` cannot be approved, because its file, its target or its patch is invalid: `ac deny {}` removes it from the inbox\n",
                desk.delta
            )
            .as_str()
        )
    );
    assert_eq!(desk.run(&["deny", &desk.delta]).code, 0);
}

#[test]
fn a_command_that_starts_nothing_does_not_say_that_it_waits() {
    let desk = Desk::new();
    let cleanup = desk.shown(&["worktree:cleanup", "--dry-run"]).out;
    assert!(cleanup.starts_with("Dry run "), "{cleanup}");
}
