//! Tests of worktrees and their removal.

use std::{
    fs,
    path::{Path, PathBuf},
};

use company::layout;
use protocol::{
    Id as _,
    company::{
        RepoId, RunId, RunStatus, TaskId,
        session::CompanySessionLaunchState,
        worktree::{WorktreeCleanupAction, WorktreeCleanupParams},
    },
};

use crate::fixture::{Fixture, MAY, plant, text};

/// Runs git and returns its output.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Creates a repository with one commit and registers it as `site`.
fn repository(fixture: &Fixture) -> PathBuf {
    let repo = fixture.company.root().parent().unwrap().join("repo");
    plant(&repo.join("a.txt"), "one\n");
    git(&repo, &["init", "-q", "-b", "main"]);
    git(&repo, &["add", "a.txt"]);
    git(&repo, &["commit", "-q", "-m", "first"]);
    let path = repo.display().to_string();
    fixture.set_machine(|machine| {
        machine.repo_roots.insert("site".to_owned(), path);
    });
    let task = format!(
        "---\nschema_version: 1\ntype: task\nid: task_1\nproject_id: {}\ntitle: T\ncreated_at: \"2024-06-01T10:00:00.000Z\"\n\
         status: draft\nvisibility: team\nscope:\n  requires_worktree_isolation: true\nmilestones: []\n---\n\n## Contract\n\n## Milestones\n",
        fixture.project
    );
    plant(
        &fixture.company.path(&format!(
            "{}/tasks/task_1.md",
            layout::project(&fixture.project)
        )),
        &task,
    );
    repo
}

async fn isolated(fixture: &Fixture, script: &str) -> RunId {
    let run = fixture.run_of("cmd");
    let mut params = fixture.params(&run, &["/bin/sh", "-c", script]);
    params.repo_id = Some(RepoId::parse("site").unwrap());
    params.task_id = Some(TaskId::parse("task_1").unwrap());
    let launched = fixture.sessions.launch(params, MAY).await.unwrap();
    let ended = fixture.collect(&launched.session_ref).await;
    assert_eq!(ended.state.status, RunStatus::Ended, "{ended:?}");
    run
}

fn cleanup_params(fixture: &Fixture) -> WorktreeCleanupParams {
    WorktreeCleanupParams {
        workspace_dir: text(fixture.company.given()),
        project_id: None,
        max_age_hours: Some(0.0),
        dry_run: None,
        force: None,
        delete_branches: None,
    }
}

#[tokio::test]
async fn a_worktree_with_changes_stays_until_somebody_insists() {
    let fixture = Fixture::open();
    let repo = repository(&fixture);
    let run = isolated(&fixture, "cat a.txt; echo two > a.txt").await;
    assert_eq!(fs::read_to_string(repo.join("a.txt")).unwrap(), "one\n");
    let path = fixture.company.path(&format!(
        ".local/worktrees/{}/task_1/{run}",
        fixture.project
    ));
    assert_eq!(fs::read_to_string(path.join("a.txt")).unwrap(), "two\n");
    let mut params = cleanup_params(&fixture);
    let cleaned = sessions::worktree::cleanup(&fixture.company, &params)
        .await
        .unwrap();
    assert_eq!(cleaned.items[0].reason, "uncommitted changes");
    assert!(path.exists());
    params.force = Some(true);
    params.delete_branches = Some(true);
    let cleaned = sessions::worktree::cleanup(&fixture.company, &params)
        .await
        .unwrap();
    assert_eq!(cleaned.items[0].action, WorktreeCleanupAction::Removed);
    assert_eq!(cleaned.items[0].branch_deleted, Some(true));
    assert!(!path.exists());
    assert!(
        !fixture
            .company
            .path(&format!(".local/worktrees/{}", fixture.project))
            .exists()
    );
}

#[tokio::test]
async fn a_dry_run_refuses_what_the_removal_refuses() {
    let fixture = Fixture::open();
    let repo = repository(&fixture);
    let run = isolated(&fixture, "echo two > a.txt").await;
    let relpath = format!(".local/worktrees/{}/task_1/{run}", fixture.project);
    let path = fixture.company.path(&relpath);
    let cleaned = async |dry_run, force| {
        let params = WorktreeCleanupParams {
            dry_run: Some(dry_run),
            force: Some(force),
            ..cleanup_params(&fixture)
        };
        let cleaned = sessions::worktree::cleanup(&fixture.company, &params).await;
        let item = cleaned.unwrap().items.remove(0);
        (item.action, item.reason)
    };
    let changed = (
        WorktreeCleanupAction::Failed,
        "uncommitted changes".to_owned(),
    );
    assert_eq!(cleaned(true, false).await, changed);
    assert_eq!(cleaned(false, false).await, changed);

    git(&repo, &["worktree", "lock", path.to_str().unwrap()]);
    let locked = cleaned(true, true).await;
    assert_eq!(locked.0, WorktreeCleanupAction::Failed);
    assert!(locked.1.contains("locked"), "{}", locked.1);
    assert_eq!(cleaned(false, true).await, locked);

    git(&repo, &["worktree", "unlock", path.to_str().unwrap()]);
    let eligible = (
        WorktreeCleanupAction::Kept,
        "dry-run eligible for removal".to_owned(),
    );
    assert_eq!(cleaned(true, true).await, eligible);
    assert!(path.exists());
}

#[tokio::test]
async fn branches_of_removed_worktrees_are_deleted_unless_commits_would_be_lost() {
    let fixture = Fixture::open();
    let repo = repository(&fixture);
    let merged = isolated(&fixture, "true").await;
    let script = "git -c user.name=w -c user.email=w@x commit -q --allow-empty -m work";
    let unmerged = isolated(&fixture, script).await;
    let cleaned = async |dry_run, force, delete_branches| {
        let params = WorktreeCleanupParams {
            dry_run: Some(dry_run),
            force: Some(force),
            delete_branches: Some(delete_branches),
            ..cleanup_params(&fixture)
        };
        let cleaned = sessions::worktree::cleanup(&fixture.company, &params).await;
        let items = cleaned.unwrap().items;
        let find = |run: &RunId| {
            items
                .iter()
                .find(|item| item.run_id == run.as_str())
                .unwrap()
        };
        [&merged, &unmerged].map(|run| {
            let item = find(run);
            (item.branch_deleted, item.branch_kept_reason.clone())
        })
    };
    let kept = |deleted| (deleted, Some("unmerged commits".to_owned()));
    assert_eq!(cleaned(true, false, true).await, [(None, None), kept(None)]);
    // Worktrees are removed first; their branches remain.
    assert_eq!(
        cleaned(false, false, false).await,
        [(None, None), (None, None)]
    );
    assert_eq!(git(&repo, &["branch", "--list", "ac/*"]).lines().count(), 2);
    let deleted = cleaned(false, false, true).await;
    assert_eq!(deleted, [(Some(true), None), kept(Some(false))]);
    assert_eq!(git(&repo, &["branch", "--list", "ac/*"]).lines().count(), 1);
    let forced = cleaned(false, true, true).await;
    assert_eq!(forced, [(None, None), (Some(true), None)]);
    assert_eq!(git(&repo, &["branch", "--list", "ac/*"]), "");
}

#[tokio::test]
async fn nothing_outside_the_folder_for_worktrees_is_removed() {
    let fixture = Fixture::open();
    repository(&fixture);
    let run = isolated(&fixture, "true").await;
    let outside = fixture.company.root().parent().unwrap().join("precious");
    plant(&outside.join("file"), "x");
    let link = fixture.company.path(".local/worktrees/link");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let path = format!("{}/run.yaml", layout::run(&fixture.project, &run));
    let original = fixture.company.read_text(&path).unwrap();
    let relpath = fixture
        .document(&run)
        .spec
        .unwrap()
        .worktree_relpath()
        .unwrap()
        .to_owned();
    for planted in [
        "../precious",
        ".local/worktrees/../../../precious",
        ".local/worktrees/link",
        ".local/worktrees",
        "work",
    ] {
        plant(
            &fixture.company.path(&path),
            &original.replace(&relpath, planted),
        );
        let mut params = cleanup_params(&fixture);
        params.force = Some(true);
        let cleaned = sessions::worktree::cleanup(&fixture.company, &params)
            .await
            .unwrap();
        assert_eq!(cleaned.removed, 0, "{planted}");
        assert!(outside.join("file").exists(), "{planted}");
        assert!(fixture.company.path("work").exists());
    }
}

#[tokio::test]
async fn a_working_directory_that_leaves_the_repository_is_refused() {
    let fixture = Fixture::open();
    repository(&fixture);
    let run = fixture.run_of("cmd");
    let mut params = fixture.params(&run, &["/bin/true"]);
    params.repo_id = Some(RepoId::parse("site").unwrap());
    params.workdir_rel = Some(text("../office"));
    let launched = fixture.sessions.launch(params, MAY).await.unwrap();
    assert_eq!(launched.state, CompanySessionLaunchState::Failed);
    assert!(launched.error.unwrap().contains("leaves the repository"));
}
