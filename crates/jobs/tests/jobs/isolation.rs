//! Tests of the working folder of worker programs: never the checkout of a person, never the company folder.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::checkout::during_checkout;
use crate::fixture::{DONE, Fixture, MAY};
use company::{document::Run, execution::run};
use jobs::{JobPlacement, Resubmit};
use protocol::{
    Id as _,
    company::{
        AgentId, RepoId, RunId, RunStatus,
        job::JobStatus,
        session::{CompanySessionLaunchParams, CompanySessionLaunchState},
    },
};
use serde_json::{Value, json};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(arguments)
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[expect(clippy::disallowed_methods, reason = "tests plant files of people")]
fn plant(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, content).expect("a file");
}

/// Creates a repository with one commit and registers it on the machine under a name.
fn repository(fixture: &Fixture, name: &str) -> PathBuf {
    let repo = fixture.bin().with_file_name(name);
    plant(&repo.join("a.txt"), "one\n");
    plant(&repo.join("sub/b.txt"), "two\n");
    git(&repo, &["init", "-q", "-b", "main"]);
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-q", "-m", "first"]);
    set_root(fixture, name, &repo);
    repo
}

fn set_root(fixture: &Fixture, name: &str, folder: &Path) {
    let repo = RepoId::parse(name).expect("an id");
    fixture
        .company
        .write(|writer| writer.set_repo_root(&repo, folder))
        .expect("a setting");
}

fn link(fixture: &Fixture, name: &str) {
    let repo = RepoId::parse(name).expect("an id");
    fixture
        .company
        .write(|writer| writer.link_repo(&fixture.project, &repo, None))
        .expect("a link");
}

/// A worker that records its working directory, changes a file, creates another one and reports success.
fn editing_worker(fixture: &Fixture) {
    fixture.codex(&format!(
        "cat > /dev/null; pwd > $d/cwd; echo edited >> a.txt; echo new > made.txt; echo '{DONE}'"
    ));
}

fn cwd(fixture: &Fixture) -> PathBuf {
    let text = fs::read_to_string(fixture.bin().join("cwd")).expect("the worker ran");
    PathBuf::from(text.trim())
}

fn worktree(fixture: &Fixture, run: &str) -> PathBuf {
    let relpath = format!(".local/worktrees/{}/runs/{run}", fixture.project);
    fixture.company.path(&relpath)
}

fn new_run(fixture: &Fixture, provider: &str) -> RunId {
    let agent = AgentId::parse("agent_w").expect("an id");
    run::create(&fixture.company, &fixture.project, &agent, provider)
        .expect("a run")
        .run_id
}

fn params(fixture: &Fixture, run: &RunId, more: &Value) -> CompanySessionLaunchParams {
    let mut params = json!({
        "workspace_dir": fixture.company.given(),
        "project_id": fixture.project,
        "run_id": run,
        "apply_guard": false,
    });
    for (name, value) in more.as_object().expect("an object") {
        params[name] = value.clone();
    }
    serde_json::from_value(params).expect("params")
}

/// Launches a session of the fake Codex and waits for its end.
async fn session(fixture: &Fixture, more: Value) -> RunId {
    let run = new_run(fixture, "codex");
    let launched = fixture
        .sessions
        .launch(params(fixture, &run, &more), MAY)
        .await;
    let launched = launched.expect("a session");
    let ended = fixture
        .sessions
        .collect(
            Some(fixture.company.given()),
            &launched.session_ref,
            Some(MAY),
        )
        .await
        .expect("an end");
    assert_eq!(ended.state.status, RunStatus::Ended, "{ended:?}");
    run
}

fn events(fixture: &Fixture, run: &str, event_type: &str) -> Vec<Value> {
    let text = fixture.read(&format!("runs/{run}/events.jsonl"));
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("an event"))
        .filter(|event| event["type"] == event_type)
        .collect()
}

#[tokio::test]
async fn a_job_that_may_write_works_in_a_worktree_and_the_checkout_stays_clean() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    link(&fixture, "site");
    editing_worker(&fixture);
    let job = json!({"permission_level": "patch"});
    let collected = fixture.job("job_1", job).await;
    let run = collected.job.attempts[0].run_id.to_string();
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
    let worktree = worktree(&fixture, &run);
    assert_eq!(cwd(&fixture), worktree.canonicalize().expect("a worktree"));
    assert_eq!(
        git(&worktree, &["status", "--porcelain"]),
        " M a.txt\n?? made.txt\n"
    );
    let path = format!("work/projects/{}/runs/{run}/run.yaml", fixture.project);
    let document = fixture.company.read::<Run>(&path).expect("a run");
    let spec = document.spec.as_ref().expect("a spec");
    let branch = format!("ac/{}/runs/{run}", fixture.project);
    assert_eq!(spec.worktree_branch(), Some(branch.as_str()));
    assert_eq!(events(&fixture, &run, "worktree.prepared").len(), 1);
}

#[tokio::test]
async fn a_session_that_may_write_works_in_a_worktree_without_a_task() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    editing_worker(&fixture);
    let asked = json!({"repo_id": "site", "prompt_text": "go", "permission_level": "patch"});
    let run = session(&fixture, asked).await;
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
    assert!(worktree(&fixture, run.as_str()).join("made.txt").exists());
}

#[tokio::test]
async fn a_worker_program_named_in_argv_may_write_whatever_its_permission_level_says() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    editing_worker(&fixture);
    let bin = fixture.bin().join("codex");
    let run = session(&fixture, json!({"repo_id": "site", "argv": [bin]})).await;
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
    assert!(worktree(&fixture, run.as_str()).join("made.txt").exists());
}

/// An agent whose command line is a template that starts the fake Codex without a permission flag.
fn template_agent(fixture: &Fixture) {
    let program = fixture.bin().join("codex").display().to_string();
    let launcher = json!({"command_argv_template": [program, "exec", "--full-auto", "{PROMPT}"]});
    fixture.agent("agent_t", "codex", launcher);
}

#[tokio::test]
async fn a_worker_whose_template_does_not_enforce_the_permission_level_works_in_a_worktree() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    link(&fixture, "site");
    template_agent(&fixture);
    editing_worker(&fixture);
    let job = json!({"permission_level": "read-only", "worker_agent_id": "agent_t"});
    let collected = fixture.job("job_1", job).await;
    let run = collected.job.attempts[0].run_id.to_string();
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
    assert!(worktree(&fixture, &run).join("made.txt").exists());
}

#[tokio::test]
async fn a_repair_attempt_of_a_template_works_in_a_worktree_too() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    link(&fixture, "site");
    template_agent(&fixture);
    fixture.codex("cat > /dev/null; echo edited >> a.txt; echo no JSON");
    let job = json!({"permission_level": "patch", "worker_agent_id": "agent_t"});
    let collected = fixture.job("job_1", job).await;
    assert_eq!(collected.job.attempts.len(), 3);
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_worker_of_a_declared_driver_works_in_a_worktree_at_every_permission_level() {
    let script = "cat > /dev/null; echo edited >> a.txt";
    let drivers = json!({"mycoder": {"argv": ["/bin/sh", "-c", script]}});
    let fixture = Fixture::with_drivers(drivers);
    let repo = repository(&fixture, "site");
    let run = new_run(&fixture, "mycoder");
    let launch =
        json!({"repo_id": "site", "prompt_text": "Do it", "permission_level": "read-only"});
    let launched = fixture
        .sessions
        .launch(params(&fixture, &run, &launch), MAY)
        .await
        .expect("a session");
    let ended = fixture
        .sessions
        .collect(
            Some(fixture.company.given()),
            &launched.session_ref,
            Some(MAY),
        )
        .await
        .expect("an end");
    assert_eq!(ended.state.status, RunStatus::Ended, "{ended:?}");
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
    let edited = fs::read_to_string(worktree(&fixture, run.as_str()).join("a.txt"));
    assert_eq!(edited.expect("a worktree"), "one\nedited\n");
}

#[tokio::test]
async fn a_worker_of_a_linked_subfolder_works_in_that_folder_of_the_worktree() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    set_root(&fixture, "part", &repo.join("sub"));
    editing_worker(&fixture);
    let asked = json!({"repo_id": "part", "prompt_text": "go", "permission_level": "patch"});
    let run = session(&fixture, asked).await;
    let expected = worktree(&fixture, run.as_str()).join("sub");
    assert_eq!(cwd(&fixture), expected.canonicalize().expect("a folder"));
}

#[tokio::test]
async fn a_link_in_the_commit_does_not_lead_a_worker_out_of_its_worktree() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    std::os::unix::fs::symlink(repo.join("sub"), repo.join("pkg")).expect("a link");
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-q", "-m", "link"]);
    fs::remove_file(repo.join("pkg")).expect("a link");
    plant(&repo.join("pkg/c.txt"), "three\n");
    set_root(&fixture, "site", &repo.join("pkg"));
    editing_worker(&fixture);
    let run = new_run(&fixture, "codex");
    let launch = json!({"repo_id": "site", "prompt_text": "Do it", "permission_level": "patch"});
    let launched = fixture
        .sessions
        .launch(params(&fixture, &run, &launch), MAY)
        .await
        .expect("an answer");
    assert_eq!(launched.state, CompanySessionLaunchState::Failed);
    let error = launched.error.expect("a sentence");
    assert!(error.contains("leads out of the worktree"), "{error}");
    assert!(!repo.join("sub/made.txt").exists());
}

#[tokio::test]
async fn hooks_of_a_repository_do_not_run_when_a_worktree_is_made() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    link(&fixture, "site");
    let ran = fixture.bin().join("hook_ran");
    let hook = repo.join(".git/hooks/post-checkout");
    plant(&hook, &format!("#!/bin/sh\ntouch {}\n", ran.display()));
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("a program");
    editing_worker(&fixture);
    let collected = fixture
        .job("job_1", json!({"permission_level": "patch"}))
        .await;
    assert_eq!(collected.job.status, JobStatus::Completed);
    assert!(!ran.exists());
}

#[tokio::test]
async fn a_worker_that_replaces_the_git_file_of_its_worktree_starts_nothing() {
    let fixture = Fixture::new();
    repository(&fixture, "site");
    link(&fixture, "site");
    let ran = fixture.bin().join("monitor_ran");
    let monitor = fixture.bin().join("monitor");
    plant(&monitor, &format!("#!/bin/sh\ntouch {}\n", ran.display()));
    fs::set_permissions(&monitor, fs::Permissions::from_mode(0o755)).expect("a program");
    fixture.codex(&format!(
        "cat > /dev/null; rm .git; git init -q .; git config core.fsmonitor $d/monitor; echo '{DONE}'"
    ));
    let collected = fixture
        .job("job_1", json!({"permission_level": "patch"}))
        .await;
    let run = collected.job.attempts[0].run_id.to_string();
    assert!(worktree(&fixture, &run).join(".git/config").exists());
    let params = json!({
        "workspace_dir": fixture.company.given(), "project_id": fixture.project, "max_age_hours": 0,
    });
    let params = serde_json::from_value(params).expect("params");
    let cleaned = sessions::worktree::cleanup(&fixture.company, &params)
        .await
        .expect("an answer");
    let reasons: Vec<_> = cleaned
        .items
        .iter()
        .map(|item| item.reason.clone())
        .collect();
    assert!(
        format!("{reasons:?}").contains("is not the one that git created"),
        "{reasons:?}"
    );
    assert!(!ran.exists());
    // Cross-check with plain git: without the explicit folders, git runs the program.
    git(&worktree(&fixture, &run), &["status"]);
    assert!(ran.exists());
}

#[tokio::test]
async fn a_read_only_worker_reads_the_checkout_and_makes_no_worktree() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    fixture.codex(&format!("cat > /dev/null; pwd > $d/cwd; echo '{DONE}'"));
    let run = session(&fixture, json!({"repo_id": "site", "prompt_text": "look"})).await;
    assert_eq!(cwd(&fixture), repo.canonicalize().expect("a folder"));
    assert!(!worktree(&fixture, run.as_str()).exists());
}

#[tokio::test]
async fn a_worker_session_without_a_repository_runs_in_a_scratch_folder_of_its_run() {
    let fixture = Fixture::new();
    editing_worker(&fixture);
    for permission in ["read-only", "patch", "run-commands"] {
        let asked = json!({"prompt_text": "go", "permission_level": permission});
        let run = session(&fixture, asked).await;
        let scratch = fixture.project_path(&format!("runs/{run}/work"));
        assert_eq!(cwd(&fixture), scratch.canonicalize().expect("a folder"));
        assert!(scratch.join("made.txt").exists());
    }
    assert!(!fixture.company.path("made.txt").exists());
}

#[tokio::test]
async fn a_plain_command_keeps_the_folder_it_names() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    let out = fixture.bin().join("cwd");
    let script = format!("pwd > {}", out.display());
    for (more, expected) in [
        (json!({}), fixture.company.root().to_owned()),
        (json!({"repo_id": "site"}), repo),
    ] {
        let mut asked = more;
        asked["argv"] = json!(["/bin/sh", "-c", script]);
        session(&fixture, asked).await;
        assert_eq!(cwd(&fixture), expected.canonicalize().expect("a folder"));
    }
}

#[tokio::test]
async fn explaining_tells_the_worktree_or_the_scratch_folder_and_makes_neither() {
    let fixture = Fixture::new();
    repository(&fixture, "site");
    editing_worker(&fixture);
    let run = new_run(&fixture, "codex");
    for (repo, expected) in [
        (json!("site"), worktree(&fixture, run.as_str())),
        (
            Value::Null,
            fixture.project_path(&format!("runs/{run}/work")),
        ),
    ] {
        let asked = json!({"repo_id": repo, "prompt_text": "go", "permission_level": "patch", "explain": true});
        let explained = fixture
            .sessions
            .launch(params(&fixture, &run, &asked), MAY)
            .await;
        let explained = explained.expect("an answer").explain.expect("why");
        assert_eq!(explained.refusal, None);
        let command = explained.command.expect("a command");
        assert_eq!(PathBuf::from(command.cwd), expected);
        assert!(!expected.exists());
    }
}

#[tokio::test]
async fn a_person_may_let_a_worker_run_in_place_and_the_log_says_so() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    editing_worker(&fixture);
    let asked = json!({
        "repo_id": "site", "prompt_text": "go", "permission_level": "patch", "in_place": true,
        "actor_id": "ada", "actor_role": "human",
    });
    let run = session(&fixture, asked).await;
    assert_eq!(cwd(&fixture), repo.canonicalize().expect("a folder"));
    let said = events(&fixture, run.as_str(), "worker.in_place");
    assert_eq!(said[0]["actor"], "ada");
    assert_eq!(
        said[0]["payload"],
        json!({"actor_id": "ada", "repo_id": "site", "folder": "repository"})
    );
}

#[tokio::test]
async fn only_a_person_may_let_a_worker_run_in_place() {
    let fixture = Fixture::new();
    repository(&fixture, "site");
    link(&fixture, "site");
    editing_worker(&fixture);
    let run = new_run(&fixture, "codex");
    let asked = json!({
        "repo_id": "site", "prompt_text": "go", "in_place": true, "actor_id": "boss", "actor_role": "ceo",
    });
    let refused = fixture
        .sessions
        .launch(params(&fixture, &run, &asked), MAY)
        .await
        .expect_err("a refusal");
    assert_eq!(
        refused.to_string(),
        "`in_place` is allowed to people only: expected role `human`, found `ceo`"
    );
    let in_place = JobPlacement {
        in_place: true,
        ..JobPlacement::default()
    };
    let spec = fixture.spec("job_1", json!({"permission_level": "patch"}));
    let refused = fixture
        .jobs
        .submit_placed(spec, Resubmit::Refuse, in_place.clone(), MAY)
        .await
        .expect_err("a refusal");
    assert!(refused.to_string().contains("found `manager`"), "{refused}");
    assert!(!fixture.bin().join("cwd").exists(), "nothing ran");

    let spec = fixture.spec(
        "job_2",
        json!({"permission_level": "patch", "manager_actor_id": "ada", "manager_role": "human"}),
    );
    let submitted = fixture
        .jobs
        .submit_placed(spec, Resubmit::Refuse, in_place, MAY)
        .await
        .expect("a job");
    let jobs = &fixture.jobs;
    jobs.over(&fixture.company, &fixture.project, &submitted.job_id)
        .await;
    let run = fixture.collect("job_2").await.job.attempts[0]
        .run_id
        .to_string();
    assert_eq!(events(&fixture, &run, "worker.in_place")[0]["actor"], "ada");
}

#[tokio::test]
async fn a_repository_without_a_commit_is_refused_with_what_is_missing() {
    let fixture = Fixture::new();
    let repo = fixture.bin().with_file_name("empty");
    fs::create_dir(&repo).expect("a folder");
    git(&repo, &["init", "-q"]);
    set_root(&fixture, "empty", &repo);
    editing_worker(&fixture);
    let run = new_run(&fixture, "codex");
    let asked = json!({"repo_id": "empty", "prompt_text": "go", "permission_level": "patch"});
    let launched = fixture
        .sessions
        .launch(params(&fixture, &run, &asked), MAY)
        .await;
    let launched = launched.expect("an answer");
    assert_eq!(launched.state, CompanySessionLaunchState::Failed);
    let error = launched.error.expect("a reason");
    assert!(
        error.ends_with("expected a git repository with a commit"),
        "{error}"
    );
    assert!(!fixture.bin().join("cwd").exists(), "nothing ran");
}

#[tokio::test]
async fn the_repository_a_job_was_submitted_with_holds_after_a_restart() {
    let fixture = Fixture::new();
    repository(&fixture, "site");
    let other = repository(&fixture, "other");
    link(&fixture, "site");
    link(&fixture, "other");
    fixture.gate();
    fixture.gate_named("up");
    fixture.codex("cat > /dev/null; echo up > $d/up; read never < $d/gate");
    let placement = JobPlacement {
        repo_id: Some(RepoId::parse("other").expect("an id")),
        ..JobPlacement::default()
    };
    let spec = fixture.spec("job_1", json!({"permission_level": "patch"}));
    fixture
        .jobs
        .submit_placed(spec, Resubmit::Refuse, placement, MAY)
        .await
        .expect("a job");
    fixture.wait_for("up").await;
    fixture.jobs.close().await;
    // The record of a process that ended before the first attempt.
    fixture.edit("jobs/job_1/job.yaml", |text| {
        let attempts = text.find("attempts:").expect("attempts");
        text[..attempts]
            .replace("status: running", "status: queued")
            .replace("current_attempt: 1", "current_attempt: 0")
            + "attempts: []\n"
    });
    editing_worker(&fixture);
    let later = fixture.restarted();
    later.collect("job_1").await;
    let job = crate::fixture::job_id("job_1");
    later.jobs.over(&later.company, &later.project, &job).await;
    let found = later.collect("job_1").await;
    assert_eq!(found.job.status, JobStatus::Completed);
    let common = git(&cwd(&fixture), &["rev-parse", "--git-common-dir"]);
    let common = PathBuf::from(common.trim()).canonicalize().expect("git");
    assert_eq!(common, other.join(".git").canonicalize().expect("git"));
}

/// Installs a filter that kills the git process of a checkout, once.
fn killing_filter(fixture: &Fixture, repo: &Path) {
    let script = fixture.bin().join("smudge");
    let once = fixture.bin().join("killed");
    // The filter is a child of `git reset`, which is a child of `git worktree add`.
    let text = format!(
        "#!/bin/sh\nif [ ! -e {once} ]; then\n  : > {once}\n  pid=$PPID\n  while [ \"$(cat /proc/$pid/comm)\" != git ]; do \
         pid=$(awk '{{print $4}}' /proc/$pid/stat); done\n  parent=$(awk '{{print $4}}' /proc/$pid/stat)\n  \
         [ \"$(cat /proc/$parent/comm)\" = git ] && kill -9 $parent\n  kill -9 $pid\n  exit 1\nfi\nexec cat\n",
        once = once.display()
    );
    plant(&script, &text);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a program");
    plant(&repo.join(".gitattributes"), "*.txt filter=once\n");
    git(repo, &["add", "."]);
    git(repo, &["commit", "-q", "-m", "filter"]);
    git(
        repo,
        &[
            "config",
            "filter.once.smudge",
            &script.display().to_string(),
        ],
    );
}

#[tokio::test]
async fn a_filter_in_the_settings_of_a_repository_does_not_run() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    plant(&repo.join(".gitattributes"), "*.txt filter=planted\n");
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-q", "-m", "attributes"]);
    let ran = fixture.bin().join("ran");
    let program = format!("touch {}; cat", ran.display());
    for key in ["smudge", "clean", "process"] {
        git(
            &repo,
            &["config", &format!("filter.planted.{key}"), &program],
        );
    }
    git(&repo, &["config", "filter.planted.required", "true"]);
    editing_worker(&fixture);
    let asked = json!({"repo_id": "site", "prompt_text": "go", "permission_level": "patch"});
    let run = session(&fixture, asked).await;
    let text = fs::read_to_string(worktree(&fixture, run.as_str()).join("sub/b.txt"));
    assert_eq!(text.expect("a file"), "two\n");
    assert!(!ran.exists(), "the filter ran");
}

#[tokio::test]
async fn a_killed_git_worktree_add_is_tried_again() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    let killed = during_checkout(&repo, |git| {
        let parent = Command::new("ps")
            .args(["-o", "ppid=", "-p", &git.to_string()])
            .output()
            .expect("ps runs");
        let parent = String::from_utf8(parent.stdout).expect("text");
        let killed = Command::new("kill")
            .args(["-9", parent.trim(), &git.to_string()])
            .status();
        assert!(killed.expect("kill runs").success());
    });
    editing_worker(&fixture);
    let asked = json!({"repo_id": "site", "prompt_text": "go", "permission_level": "patch"});
    let run = session(&fixture, asked).await;
    killed.join().expect("git was killed");
    let worktree = worktree(&fixture, run.as_str());
    assert_eq!(
        git(&worktree, &["status", "--porcelain"]),
        " M a.txt\n?? made.txt\n"
    );
}

#[tokio::test]
async fn what_a_killed_git_worktree_add_left_does_not_block_its_run() {
    let fixture = Fixture::new();
    let repo = repository(&fixture, "site");
    killing_filter(&fixture, &repo);
    editing_worker(&fixture);
    let run = new_run(&fixture, "codex");
    let worktree = worktree(&fixture, run.as_str());
    let branch = format!("ac/{}/runs/{run}", fixture.project);
    fs::create_dir_all(worktree.parent().expect("a folder")).expect("a folder");
    let killed = Command::new("git")
        .arg("-C")
        .arg(&repo)
        .args(["worktree", "add", "-q", "-b", &branch])
        .arg(&worktree)
        .arg("HEAD")
        .status()
        .expect("git runs");
    assert!(!killed.success(), "git was killed");
    assert!(worktree.exists(), "a part of it is there");
    let lock = repo.join(format!(".git/refs/heads/{branch}.lock"));
    plant(&lock, "");
    let asked = json!({"repo_id": "site", "prompt_text": "go", "permission_level": "patch"});
    let launched = fixture
        .sessions
        .launch(params(&fixture, &run, &asked), MAY)
        .await;
    let launched = launched.expect("a session");
    let ended = fixture
        .sessions
        .collect(
            Some(fixture.company.given()),
            &launched.session_ref,
            Some(MAY),
        )
        .await
        .expect("an end");
    assert_eq!(ended.state.status, RunStatus::Ended, "{ended:?}");
    assert_eq!(
        git(&worktree, &["status", "--porcelain"]),
        " M a.txt\n?? made.txt\n"
    );
}
