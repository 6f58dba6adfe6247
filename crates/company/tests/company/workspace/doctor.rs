//! Findings of doctor, and the temporary files that it removes.

use std::{fs, process::Command};

use company::{
    Error,
    workspace::doctor::{Outside, check, doctor},
};
use protocol::company::workspace::{CompanyWorkspaceDoctorResponse, DoctorCheck, DoctorStatus};

use crate::filled::{Filled, filled, put, tree};

fn examined(filled: &Filled) -> CompanyWorkspaceDoctorResponse {
    let verify = |_: &str| -> Result<Vec<String>, Error> { Ok(Vec::new()) };
    examined_with(filled, &verify)
}

fn examined_with(
    filled: &Filled,
    verify_events: &dyn Fn(&str) -> Result<Vec<String>, Error>,
) -> CompanyWorkspaceDoctorResponse {
    let outside = Outside {
        providers: vec![check("providers.cli", DoctorStatus::Pass, "fine", vec![])],
        index: vec![check("index.rebuild", DoctorStatus::Pass, "fine", vec![])],
        verify_events,
    };
    doctor(&filled.company, outside)
}

fn of(filled: &Filled, id: &str) -> DoctorCheck {
    let checks = examined(filled).checks;
    let found = checks.into_iter().find(|check| check.id == id);
    found.expect("the check is there")
}

fn dead_pid() -> u32 {
    let mut child = Command::new("true").spawn().expect("a process");
    child.wait().expect("it ends");
    child.id()
}

#[test]
fn the_checks_have_an_order() {
    let filled = filled();
    let answer = examined(&filled);
    let ids: Vec<_> = answer
        .checks
        .iter()
        .map(|check| check.id.as_str())
        .collect();
    assert_eq!(
        ids,
        [
            "workspace.schema",
            "machine.config",
            "providers.cli",
            "repos.mappings",
            "index.rebuild",
            "worktrees.references",
            "events.chain",
            "sessions.orphans",
            "locks.stale",
            "temp.files",
            "documents.ids",
            "documents.references",
        ]
    );
    assert!(answer.ok);
    assert_eq!((answer.summary.pass, answer.summary.warn), (11, 1));
    assert_eq!(
        answer.checks[3].message,
        "No repo mappings configured in .local/machine.yaml (repo_roots)."
    );
}

#[test]
fn a_machine_file_that_cannot_be_read_fails_and_the_rest_goes_on() {
    let filled = filled();
    put(
        &filled.company.path(".local/machine.yaml"),
        "schema_version: 1\ntype: machine\nrepo_roots: {}\n",
    );
    let answer = examined(&filled);
    assert!(!answer.ok);
    assert_eq!(answer.checks[0].status, DoctorStatus::Fail);
    assert_eq!(answer.checks[1].status, DoctorStatus::Fail);
    assert!(
        answer
            .checks
            .iter()
            .all(|check| check.id != "repos.mappings")
    );
    assert_eq!(answer.summary.fail, 2);
}

#[test]
fn a_folder_that_is_not_there_is_examined_all_the_same() {
    let mut filled = filled();
    filled.company = filled.companies.locate("/nowhere/at/all");
    assert!(!examined(&filled).ok);
}

#[test]
fn repositories_are_looked_up() {
    let filled = filled();
    let good = filled.folder.path().join("good");
    fs::create_dir_all(good.join(".git")).unwrap();
    let plain = filled.folder.path().join("plain");
    fs::create_dir(&plain).unwrap();
    let (good, plain) = (good.display(), plain.display());
    let machine = filled.company.path(".local/machine.yaml");
    let write = |roots: String| {
        put(
            &machine,
            format!("schema_version: 1\ntype: machine\nprovider_bins: {{}}\nrepo_roots:\n{roots}"),
        );
    };
    write(format!("  good: {good}\n  plain: {plain}\n"));
    let found = of(&filled, "repos.mappings");
    assert_eq!(found.message, "Repo mappings loaded with 1 warning(s).");
    assert_eq!(
        found.details.unwrap(),
        [
            format!("good: OK ({good})"),
            format!("plain: path exists but .git marker not found ({plain})"),
        ]
    );
    write("  lost: /nowhere/at/all\n  rel: not/absolute\n".to_owned());
    let found = of(&filled, "repos.mappings");
    assert_eq!(found.status, DoctorStatus::Fail);
    assert_eq!(
        found.message,
        "Repo mapping issues detected (2 failure(s))."
    );
    assert_eq!(
        found.details.unwrap(),
        [
            "lost: path does not exist (/nowhere/at/all)",
            "rel: path is not absolute (not/absolute)",
        ]
    );
    write(format!("  good: {good}\n"));
    assert_eq!(
        of(&filled, "repos.mappings").message,
        "Repo mappings loaded and look healthy."
    );
}

#[test]
fn only_a_running_run_misses_its_worktree() {
    let filled = filled();
    assert_eq!(
        of(&filled, "worktrees.references").status,
        DoctorStatus::Pass
    );
    let run = "work/projects/proj_a/runs/run_a/run.yaml";
    let text = filled.company.read_text(run).unwrap();
    put(
        &filled.company.path(run),
        text.replace("status: ended", "status: running"),
    );
    let found = of(&filled, "worktrees.references");
    assert_eq!(found.message, "1 referenced worktree path(s) are missing.");
    assert_eq!(
        found.details.unwrap(),
        ["proj_a/run_a: .local/worktrees/proj_a/task_a/run_a"]
    );
}

#[test]
fn logs_that_do_not_verify_are_named() {
    let filled = filled();
    let verify = |log: &str| -> Result<Vec<String>, Error> {
        assert_eq!(log, "work/projects/proj_a/runs/run_a/events.jsonl");
        Ok(vec!["line 2: event_hash_mismatch".to_owned()])
    };
    let checks = examined_with(&filled, &verify).checks;
    let found = checks
        .iter()
        .find(|check| check.id == "events.chain")
        .unwrap();
    assert_eq!(found.status, DoctorStatus::Warn);
    assert_eq!(
        found.details.as_deref().unwrap(),
        ["proj_a/run_a: line 2: event_hash_mismatch"]
    );
}

#[test]
fn a_running_session_without_a_process_is_an_orphan() {
    let filled = filled();
    let record = ".local/sessions/local_run_a.yaml";
    let run = "work/projects/proj_a/runs/run_a/run.yaml";
    let text = filled.company.read_text(record).unwrap();
    let pid = dead_pid();
    let text = text.replace("status: ended", &format!("status: running\npid: {pid}"));
    put(&filled.company.path(record), text);
    // The run has ended, so its session record is only outdated.
    assert_eq!(of(&filled, "sessions.orphans").status, DoctorStatus::Pass);
    let text = filled.company.read_text(run).unwrap();
    put(
        &filled.company.path(run),
        text.replace("status: ended", "status: running"),
    );
    let found = of(&filled, "sessions.orphans");
    assert_eq!(found.status, DoctorStatus::Warn);
    assert_eq!(
        found.details.unwrap(),
        [format!("proj_a/run_a: process {pid} is gone")]
    );
}

#[test]
fn a_lock_is_stale_when_its_process_is_gone_and_not_while_we_hold_it() {
    let filled = filled();
    let held = filled
        .company
        .write(|_| Ok(of(&filled, "locks.stale").status));
    assert_eq!(held.unwrap(), DoctorStatus::Pass);
    let pid = dead_pid();
    put(
        &filled.company.path(".local/locks/workspace.write.lock"),
        format!("{{\"pid\":{pid},\"acquired_at\":\"2025-11-15T12:00:00.000Z\"}}\n"),
    );
    assert_eq!(of(&filled, "locks.stale").status, DoctorStatus::Warn);
}

#[test]
fn temporaries_of_the_dead_are_removed_and_nothing_else() {
    let filled = filled();
    let before = tree(filled.company.root());
    let dead = dead_pid();
    put(
        &filled.company.path(&format!("org/.x.yaml.tmp-{dead}-0-0a")),
        "half",
    );
    put(
        &filled.company.path(&format!(
            "work/projects/.proj_b.tmp-{dead}-0-0a/project.yaml"
        )),
        "half",
    );
    let found = of(&filled, "temp.files");
    assert_eq!(
        found.message,
        "2 temporary file(s) of dead processes removed."
    );
    assert_eq!(tree(filled.company.root()), before);

    let alive = std::process::id();
    put(
        &filled
            .company
            .path(&format!("org/.x.yaml.tmp-{alive}-0-0a")),
        "half",
    );
    put(
        &filled
            .company
            .path(&format!(".local/worktrees/p/.x.tmp-{dead}-0-0a")),
        "of somebody else",
    );
    let before = tree(filled.company.root());
    assert_eq!(of(&filled, "temp.files").status, DoctorStatus::Pass);
    assert_eq!(tree(filled.company.root()), before);
}

#[test]
fn ids_and_references_that_do_not_agree_are_told() {
    let filled = filled();
    let agent = "org/agents/agent_a/agent.yaml";
    let text = filled.company.read_text(agent).unwrap();
    let text = text
        .replace("id: agent_a", "id: agent_b")
        .replace("team_a", "team_gone");
    put(&filled.company.path(agent), text);
    assert_eq!(
        of(&filled, "documents.ids").details.unwrap(),
        [format!("{agent}: its id is agent_b")]
    );
    assert_eq!(
        of(&filled, "documents.references").details.unwrap(),
        [format!("{agent}: team team_gone does not exist")]
    );
}
