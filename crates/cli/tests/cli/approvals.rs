//! Decisions are atomic: if the process is killed at any step, the decision is complete or absent, and the next process
//! continues.
#![cfg(target_os = "linux")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Office, StdioProcess, put};

/// Upper limit of the steps of a decision.
const MOST_STEPS: u32 = 80;

/// A template company with a project, a run, a pending delta and a milestone report, which is copied for each test.
struct Company {
    place: TempDir,
    project: String,
    run: String,
    delta: String,
}

fn ac() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ac"))
}

impl Company {
    fn new() -> Self {
        let mut office = Office::open(env!("CARGO_BIN_EXE_ac"));
        let run = office.run("agent_a", "cmd");
        let delta = office.delta(&run);
        let (project, work) = (office.project.clone(), office.project_dir());
        let run = run.0;
        put(
            &work.join("tasks/task_1.md"),
            &format!(
                "---\nschema_version: 1\ntype: task\nid: task_1\nproject_id: {project}\ntitle: Work\n\
                 created_at: \"2024-06-01T10:00:00.000Z\"\nstatus: draft\nvisibility: team\n\
                 deliverables: [it]\nacceptance_criteria: [it is done]\n\
                 milestones:\n  - id: ms_1\n    title: One\n    kind: planning\n    status: ready\n    acceptance_criteria: []\n\
                 ---\n\n# Work\n\n## Contract\n\n## Milestones\n"
            ),
        );
        put(
            &work.join("artifacts/art_report.md"),
            &format!(
                "---\nschema_version: 1\ntype: milestone_report\nid: art_report\ncreated_at: \"2024-06-02T10:00:00.000Z\"\n\
                 title: Report\nvisibility: team\nproduced_by: agent_a\nrun_id: {run}\ncontext_pack_id: ctx_1\n\
                 project_id: {project}\ntask_id: task_1\nmilestone_id: ms_1\nevidence_artifacts: []\n---\n\n\
                 # Report\n\n## Summary\n\n## Evidence\n\n## Next\n"
            ),
        );
        Self {
            place: office.close(),
            project,
            run,
            delta,
        }
    }

    /// Copies the template company to another folder.
    fn copy(&self) -> TempDir {
        let copy = tempfile::tempdir().expect("a temporary folder");
        let copied = Command::new("cp")
            .arg("-a")
            .arg(self.place.path().join("acme"))
            .arg(copy.path())
            .status();
        assert!(copied.expect("there is a program `cp`").success());
        copy
    }

    fn shim(&self) -> PathBuf {
        let shim = self.place.path().join("kill.so");
        if !shim.exists() {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/approvals/kill.c");
            let compiled = Command::new("cc")
                .args(["-shared", "-fPIC", "-O1", "-o"])
                .arg(&shim)
                .arg(source)
                .arg("-ldl")
                .status();
            assert!(compiled.expect("there is a C compiler").success());
        }
        shim
    }

    /// Kills a process before each step of the decision in turn. `effect` counts the effects of the decision.
    fn killed_at_every_step(&self, decision: &Value, effect: impl Fn(&Path) -> usize) {
        let (mut done, mut undone) = (0, 0);
        for at in 1..MOST_STEPS {
            let copy = self.copy();
            let dir = copy
                .path()
                .canonicalize()
                .expect("it is there")
                .join("acme");
            let mut decision = decision.clone();
            decision["workspace_dir"] = json!(dir);
            decision["project_id"] = json!(self.project);
            decision["actor_id"] = json!("human");
            decision["actor_role"] = json!("human");
            // The home does not know the copy yet.
            let mut person = StdioProcess::start(ac(), &copy.path().join("home"));
            let trusted = person.call("workspace.trust", &json!({"workspace_dir": dir}));
            trusted.expect("a company folder");
            drop(person);
            let mut killed = ac();
            killed.env("LD_PRELOAD", self.shim());
            killed.env("ACCORD_KILL_FOLDER", &dir);
            killed.env("ACCORD_KILL_AT", at.to_string());
            let mut killed = StdioProcess::start(killed, &copy.path().join("home"));
            let answer = killed.try_call("inbox.resolve", &decision);
            drop(killed);

            let mut next = StdioProcess::start(ac(), &copy.path().join("home"));
            let opened = next.call("workspace.open", &json!({"workspace_dir": dir}));
            opened.expect("a company folder");
            let is_done = self.check(&mut next, &dir, &effect);
            match (&answer, is_done) {
                (Some(answer), is_done) => assert!(answer.is_ok() && is_done, "{answer:?}"),
                (None, true) => done += 1,
                (None, false) => undone += 1,
            }
            // A retry reports the existing decision, or makes it.
            let again = next.call("inbox.resolve", &decision);
            if is_done {
                assert_eq!(
                    again.expect_err("it is decided")["data"]["reason_code"],
                    "ALREADY_DECIDED"
                );
            } else {
                again.expect("it was not decided");
            }
            assert!(self.check(&mut next, &dir, &effect), "step {at}");
            if answer.is_some() {
                assert!(done > 0 && undone > 0, "{done} done and {undone} not");
                return;
            }
        }
        panic!("a decision takes more than {MOST_STEPS} steps");
    }

    /// Returns whether the decision is complete. Fails if it is partial.
    fn check(
        &self,
        process: &mut StdioProcess,
        dir: &Path,
        effect: &impl Fn(&Path) -> usize,
    ) -> bool {
        // Temporary files that were never renamed are ignored.
        let files = |folder: &str| {
            let entries = fs::read_dir(dir.join(folder)).into_iter().flatten();
            let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            names.filter(|name| !name.starts_with('.')).count()
        };
        assert_eq!(files(".local/intents"), 0);
        let reviews = files("inbox/reviews");
        let work = dir.join("work/projects").join(&self.project);
        let log = work.join("runs").join(&self.run).join("events.jsonl");
        let log = fs::read_to_string(log).expect("a log");
        let told = log.matches("\"type\":\"approval.decided\"").count();
        assert!(reviews <= 1);
        assert_eq!((told, effect(&work)), (reviews, reviews), "{log}");
        let folder = json!({"workspace_dir": dir, "project_id": self.project, "run_id": self.run, "mode": "verified"});
        let replayed = process.call("run.replay", &folder).expect("a log");
        assert_eq!(replayed["verification_issues"], json!([]));
        let valid = process.call("workspace.validate", &folder);
        let valid = valid.expect("a folder");
        assert_eq!(valid["ok"], true, "{valid}");
        reviews == 1
    }
}

fn count(path: &Path, word: &str) -> usize {
    let text = fs::read_to_string(path).expect("a file");
    text.matches(word).count()
}

#[test]
fn a_process_that_is_killed_while_a_delta_is_approved_leaves_it_done_or_not_done() {
    let company = Company::new();
    let decision = json!({"artifact_id": company.delta, "decision": "approved"});
    company.killed_at_every_step(&decision, |work| {
        count(&work.join("memory.md"), "port 8080")
    });
}

#[test]
fn a_process_that_is_killed_while_a_milestone_is_approved_leaves_it_done_or_not_done() {
    let company = Company::new();
    let decision = json!({"artifact_id": "art_report", "decision": "approved"});
    company.killed_at_every_step(&decision, |work| {
        count(&work.join("tasks/task_1.md"), "status: done").min(1)
    });
}
