//! `ac agents-md sync` between a home and a git repository.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    process::Command,
};

use serde_json::{Value, json};

use desk::{Desk, Ended, doc, ended, put};

mod desk;
mod proxy;

#[test]
fn both_sides_are_in_step_after_a_sync_either_way() {
    let desk = Desk::with(&[("AGENTS.md", "root\r\n"), ("web/app/CLAUDE.md", "app\n")]);
    let saved = "\
PATH               STATE          VERSION  DONE
AGENTS.md          only in files  -        saved
web/app/CLAUDE.md  only in files  -        saved
2 saved
";
    assert_eq!(desk.sync(&["--to", "tree"]), Ended::new(0, saved, ""));
    let in_tree = [
        doc("AGENTS.md", "root\n", 1),
        doc("web/app/AGENTS.md", "app\n", 1),
    ];
    assert_eq!(desk.docs(), in_tree);

    desk.save(None, "root, edited\n");
    let api = desk.make_folder("api");
    desk.save(Some(&api), "api\n");
    let written = "\
PATH               STATE             VERSION  DONE
AGENTS.md          differs           2        written
api/AGENTS.md      only in the tree  1        written
web/app/CLAUDE.md  same              1        -
1 same, 2 written
";
    assert_eq!(desk.sync(&["--to", "files"]), Ended::new(0, written, ""));
    assert_eq!(desk.read("AGENTS.md").unwrap(), "root, edited\n");
    assert_eq!(desk.read("api/AGENTS.md").unwrap(), "api\n");
    assert_eq!(
        desk.read("web/app/AGENTS.md"),
        None,
        "the CLAUDE.md stands for it"
    );
    let folder = fs::metadata(desk.file("api")).unwrap().permissions();
    let file = fs::metadata(desk.file("api/AGENTS.md")).unwrap();
    assert_eq!(
        file.permissions().mode() & 0o777,
        folder.mode() & 0o666,
        "whoever reads the folder reads the file"
    );

    let in_step = "\
PATH               STATE  VERSION
AGENTS.md          same   2
api/AGENTS.md      same   1
web/app/CLAUDE.md  same   1
3 same
";
    assert_eq!(desk.sync(&[]), Ended::new(0, in_step, ""));
    for side in ["tree", "files"] {
        let rows = desk.rows(&["--to", side]);
        assert!(
            rows.as_array()
                .unwrap()
                .iter()
                .all(|row| row["done"].is_null())
        );
    }
}

#[test]
fn drift_is_told_state_by_state_with_a_diff() {
    let desk = Desk::with(&[
        ("AGENTS.md", "same\n"),
        ("a/AGENTS.md", "file\n"),
        ("b/AGENTS.md", "new\n"),
        ("b/CLAUDE.md", "other\n"),
        ("node_modules/x/AGENTS.md", "not ours\n"),
    ]);
    desk.save(None, "same\n");
    desk.save(Some(&desk.make_folder("a")), "tree\n");
    desk.save(Some(&desk.make_folder("c")), "tree\n");
    let before = desk.docs();
    let table = "\
PATH         STATE                   VERSION
AGENTS.md    same                    1
a/AGENTS.md  differs                 1
b/AGENTS.md  only in files           -
b/CLAUDE.md  differs from AGENTS.md  -
c/AGENTS.md  only in the tree        1
";
    let counts =
        "1 differs, 1 differs from AGENTS.md, 1 only in files, 1 only in the tree, 1 same\n";
    let said = "error: 4 files are out of sync with the tree\n";
    let expected = Ended::new(1, &format!("{table}{counts}"), said);
    assert_eq!(desk.sync(&[]), expected);
    let diffs = "
--- tree/a/AGENTS.md
+++ files/a/AGENTS.md
@@ -1 +1 @@
-tree
+file

--- tree/b/AGENTS.md
+++ files/b/AGENTS.md
@@ -0,0 +1 @@
+new

--- files/b/AGENTS.md
+++ files/b/CLAUDE.md
@@ -1 +1 @@
-new
+other

--- tree/c/AGENTS.md
+++ files/c/AGENTS.md
@@ -1 +0,0 @@
-tree

";
    let expected = Ended::new(1, &format!("{table}{diffs}{counts}"), said);
    assert_eq!(desk.sync(&["--diff"]), expected);
    assert_eq!(
        desk.rows(&[]),
        json!([
            {"path": "AGENTS.md", "state": "same", "version": 1},
            {"path": "a/AGENTS.md", "state": "differs", "version": 1},
            {"path": "b/AGENTS.md", "state": "only_in_files"},
            {"path": "b/CLAUDE.md", "state": "claude_differs"},
            {"path": "c/AGENTS.md", "state": "only_in_tree", "version": 1},
        ])
    );
    assert_eq!(desk.docs(), before);
}

#[test]
fn what_only_the_other_side_has_is_left() {
    let desk = Desk::with(&[("a/AGENTS.md", "file\n")]);
    desk.save(None, "tree\n");
    let left = |done: &str, other: &str| {
        json!([
            {"path": "AGENTS.md", "state": "only_in_tree", "version": 1, "done": done},
            {"path": "a/AGENTS.md", "state": "only_in_files", "done": other},
        ])
    };
    assert_eq!(
        desk.rows(&["--to", "files", "--dry-run"]),
        left("written", "left")
    );
    assert_eq!(
        desk.rows(&["--to", "tree", "--dry-run"]),
        left("left", "saved")
    );
    assert_eq!(desk.docs(), [doc("AGENTS.md", "tree\n", 1)], "a dry run");
    assert_eq!(desk.read("AGENTS.md"), None, "a dry run");

    assert_eq!(desk.rows(&["--to", "tree"]), left("left", "saved"));
    assert_eq!(desk.read("AGENTS.md"), None);
    desk.sync(&["--to", "files"]);
    assert_eq!(desk.sync(&[]).code, 0);
}

#[test]
fn what_is_not_committed_is_not_overwritten_without_force() {
    let desk = Desk::with(&[("a/AGENTS.md", "mine\n"), ("b/AGENTS.md", "b\n")]);
    desk.save(Some(&desk.make_folder("a")), "theirs\n");
    desk.save(Some(&desk.make_folder("b")), "theirs\n");
    desk.save(Some(&desk.make_folder("c")), "theirs\n");
    let refused = |path: &str| {
        let said = format!(
            "error: `{path}` has uncommitted changes: commit them, or use --force to replace it\n"
        );
        for options in [&["--to", "files"][..], &["--to", "files", "--dry-run"]] {
            assert_eq!(desk.sync(options), Ended::new(1, "", &said));
        }
        assert_eq!(
            desk.read("b/AGENTS.md").unwrap(),
            "b\n",
            "nothing was written"
        );
    };
    // Changed in the working tree, then in the index as well.
    desk.put("a/AGENTS.md", "mine, changed\n");
    refused("a/AGENTS.md");
    desk.git(&["add", "-A"]);
    refused("a/AGENTS.md");
    // Changed, but hidden from `git diff`.
    desk.commit();
    desk.git(&["update-index", "--skip-worktree", "a/AGENTS.md"]);
    desk.put("a/AGENTS.md", "mine, hidden\n");
    refused("a/AGENTS.md");
    desk.git(&["update-index", "--no-skip-worktree", "a/AGENTS.md"]);
    desk.commit();
    // Untracked and ignored.
    desk.put("c/AGENTS.md", "mine\n");
    refused("c/AGENTS.md");
    desk.put(".gitignore", "c/\n");
    refused("c/AGENTS.md");

    assert_eq!(desk.sync(&["--to", "files", "--force"]).code, 0);
    for folder in ["a", "b", "c"] {
        assert_eq!(
            desk.read(&format!("{folder}/AGENTS.md")).unwrap(),
            "theirs\n"
        );
    }
}

#[test]
fn without_git_no_file_is_overwritten_without_force() {
    let desk = Desk::with(&[("AGENTS.md", "mine\n")]);
    desk.save(None, "theirs\n");
    fs::remove_dir_all(desk.file(".git")).unwrap();
    let said = "error: `repo` is not in a git repository, so `AGENTS.md` could not be recovered: use --force to replace it\n";
    assert_eq!(desk.sync(&["--to", "files"]), Ended::new(1, "", said));
    assert_eq!(desk.sync(&["--to", "files", "--force"]).code, 0);
    assert_eq!(desk.read("AGENTS.md").unwrap(), "theirs\n");
}

#[test]
fn a_claude_file_that_leads_to_the_agents_file_is_in_step() {
    let desk = Desk::with(&[
        ("AGENTS.md", "root\n"),
        ("CLAUDE.md", "@AGENTS.md\n"),
        ("a/AGENTS.md", "a\n"),
        ("b/CLAUDE.md", "b\n"),
    ]);
    symlink("AGENTS.md", desk.file("a/CLAUDE.md")).unwrap();
    symlink("CLAUDE.md", desk.file("b/AGENTS.md")).unwrap();
    desk.commit();
    assert_eq!(desk.sync(&["--to", "tree"]).code, 0);
    let docs = [
        doc("AGENTS.md", "root\n", 1),
        doc("a/AGENTS.md", "a\n", 1),
        doc("b/AGENTS.md", "b\n", 1),
    ];
    assert_eq!(desk.docs(), docs);
    desk.save(None, "new\n");
    desk.save(Some(&desk.folder("a")), "new\n");
    desk.save(Some(&desk.folder("b")), "new\n");
    assert_eq!(desk.sync(&["--to", "files"]).code, 0);
    assert_eq!(desk.read("CLAUDE.md").unwrap(), "@AGENTS.md\n");
    for link in ["a/CLAUDE.md", "b/AGENTS.md"] {
        let found = fs::symlink_metadata(desk.file(link)).unwrap();
        assert!(
            found.is_symlink() && desk.read(link).unwrap() == "new\n",
            "{link}"
        );
    }
    assert_eq!(desk.sync(&[]).code, 0);
}

#[test]
fn a_claude_file_that_only_leads_to_an_agents_file_is_no_document() {
    let desk = Desk::with(&[("AGENTS.md", "root\n"), ("lone/CLAUDE.md", "@AGENTS.md\n")]);
    let repo = desk.path("repo");
    let import = ["agents-md", "import", repo.to_str().unwrap()];
    assert!(desk.command(&import).status().unwrap().success());
    assert_eq!(desk.docs(), [doc("AGENTS.md", "root\n", 1)]);
}

#[test]
fn of_two_files_that_differ_the_tree_takes_the_agents_file_and_gives_both_its_own() {
    let desk = Desk::with(&[("AGENTS.md", "agents\n"), ("CLAUDE.md", "claude\n")]);
    assert_eq!(
        desk.rows(&["--to", "tree"]),
        json!([
            {"path": "AGENTS.md", "state": "only_in_files", "done": "saved"},
            {"path": "CLAUDE.md", "state": "claude_differs", "done": "left"},
        ])
    );
    assert_eq!(desk.docs(), [doc("AGENTS.md", "agents\n", 1)]);
    assert_eq!(desk.read("CLAUDE.md").unwrap(), "claude\n");
    assert_eq!(
        desk.rows(&["--to", "files"]),
        json!([
            {"path": "AGENTS.md", "state": "same", "version": 1},
            {"path": "CLAUDE.md", "state": "claude_differs", "done": "written"},
        ])
    );
    assert_eq!(desk.read("CLAUDE.md").unwrap(), "agents\n");
    assert_eq!(desk.sync(&[]).code, 0);
    // Two files with the same text keep the same text.
    desk.commit();
    desk.save(None, "tree\n");
    assert_eq!(
        desk.rows(&["--to", "files"]),
        json!([
            {"path": "AGENTS.md", "state": "differs", "version": 2, "done": "written"},
            {"path": "CLAUDE.md", "state": "differs", "done": "written"},
        ])
    );
    assert_eq!(desk.read("CLAUDE.md").unwrap(), "tree\n");
}

#[test]
fn files_that_would_be_written_elsewhere_are_refused_before_anything_is_written() {
    let desk = Desk::with(&[("file", "")]);
    fs::create_dir(desk.path("elsewhere")).unwrap();
    symlink(desk.path("elsewhere"), desk.file("link")).unwrap();
    desk.save(None, "root\n");
    for (name, said) in [
        ("link", "`repo/link` is a link and could lead elsewhere"),
        ("file", "`repo/file` exists and is not a directory"),
        (".git", "`repo/.git` belongs to git"),
    ] {
        let folder = desk.make_folder(name);
        desk.save(Some(&folder), "x\n");
        let refused = Ended::new(1, "", &format!("error: {said}\n"));
        assert_eq!(desk.sync(&["--to", "files", "--force"]), refused);
        assert_eq!(desk.read("AGENTS.md"), None);
        desk.call("thread/agents_doc/archive", json!({"folder_id": folder}));
    }
    assert!(
        fs::read_dir(desk.path("elsewhere"))
            .unwrap()
            .next()
            .is_none()
    );
}

#[test]
fn changes_can_be_proposed_where_the_folder_is_there() {
    let desk = Desk::with(&[
        ("AGENTS.md", "Use spaces.\n"),
        ("a/AGENTS.md", "new document\n"),
        ("b/AGENTS.md", "new folder\n"),
        ("c/AGENTS.md", ""),
    ]);
    desk.save(None, "Use tabs.\n");
    let a = desk.make_folder("a");
    desk.make_folder("c");
    let before = desk.docs();
    let words = [
        "--to",
        "tree",
        "--propose",
        "--rationale",
        "The code has spaces",
    ];
    let mut rows = desk.rows(&words);
    let mut ids = Vec::new();
    for row in rows.as_array_mut().unwrap() {
        ids.extend(row.as_object_mut().unwrap().remove("proposal_id"));
    }
    assert_eq!(
        rows,
        json!([
            {"path": "AGENTS.md", "state": "differs", "version": 1, "done": "proposed"},
            {"path": "a/AGENTS.md", "state": "only_in_files", "done": "proposed"},
            {"path": "b/AGENTS.md", "state": "only_in_files", "done": "left"},
            {"path": "c/AGENTS.md", "state": "only_in_files", "done": "left"},
        ])
    );
    assert_eq!(desk.docs(), before);
    // Repeating the command returns the pending proposals.
    desk.rows(&words);
    let waiting = desk.call("thread/agents_doc/proposal/list", json!({}));
    let items = waiting["items"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{waiting}");
    for (id, folder, base) in [(&ids[0], &Value::Null, 1), (&ids[1], &a, 0)] {
        let item = items.iter().find(|item| item["id"] == *id).unwrap();
        assert_eq!(item["folder_id"], *folder);
        assert_eq!(item["base_version"], base);
        assert_eq!(item["rationale"], "The code has spaces");
        let decide = json!({"proposal_id": id, "decision": "approve"});
        desk.call("thread/agents_doc/proposal/decide", decide);
    }
    assert_eq!(
        desk.docs(),
        [
            doc("AGENTS.md", "Use spaces.\n", 2),
            doc("a/AGENTS.md", "new document\n", 1)
        ]
    );
}

#[test]
fn folders_of_one_name_keep_their_files_apart() {
    let desk = Desk::with(&[]);
    for _ in 0..2 {
        desk.save(Some(&desk.make_folder("A")), "twin\n");
    }
    // A folder that the file search skips is compared if the tree contains it.
    desk.save(Some(&desk.make_folder(".config")), "hidden\n");
    assert_eq!(desk.sync(&["--to", "files"]).code, 0);
    assert_eq!(desk.sync(&[]).code, 0);
    desk.put("A (2)/AGENTS.md", "twin, edited\n");
    desk.put(".config/AGENTS.md", "hidden, edited\n");
    assert_eq!(desk.sync(&["--to", "tree"]).code, 0);
    assert_eq!(
        desk.docs(),
        [
            doc(".config/AGENTS.md", "hidden, edited\n", 2),
            doc("A/AGENTS.md", "twin\n", 1),
            doc("A (2)/AGENTS.md", "twin, edited\n", 2),
        ]
    );
}

#[test]
fn a_file_that_changes_while_it_is_compared_is_not_overwritten() {
    let desk = Desk::with(&[("AGENTS.md", "mine\n"), ("a/AGENTS.md", "a\n")]);
    desk.save(None, "theirs\n");
    desk.save(Some(&desk.make_folder("a")), "theirs\n");
    // A file is edited after git has reported everything as committed.
    let git = desk.path("bin/git");
    let script = format!(
        "#!/bin/sh\nPATH=${{PATH#*:}}\ngit \"$@\" || exit\ncase \"$*\" in *--cached*) echo 'mine, typed' > '{}';; esac\n",
        desk.file("a/AGENTS.md").display()
    );
    put(&git, &script);
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut command = desk.command(&["agents-md", "sync", "repo", "--to", "files"]);
    command.env("PATH", format!("{}:{path}", desk.path("bin").display()));
    let said =
        "error: `a/AGENTS.md` changed while it was compared, so nothing was written: sync again\n";
    assert_eq!(ended(command.output().unwrap()), Ended::new(1, "", said));
    assert_eq!(desk.read("AGENTS.md").unwrap(), "mine\n");
    assert_eq!(desk.read("a/AGENTS.md").unwrap(), "mine, typed\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_changes_while_it_is_compared_is_not_overwritten() {
    let desk = Desk::with(&[("AGENTS.md", "mine\n"), ("new/AGENTS.md", "new\n")]);
    let serving =
        testkit::ServeProcess::start(Command::new(env!("CARGO_BIN_EXE_ac")), &desk.path("home"));
    desk.save(None, "theirs\n");
    let workspace = desk.workspace();
    // A document is saved after the tree was read and before the import arrives.
    let save = json!({"workspace_id": workspace, "content": "theirs, edited\n"});
    proxy::before(
        "thread/agents_doc/import",
        &desk.path("home"),
        &serving,
        save,
    )
    .await;
    let said = "error: a document changed while it was compared (expected version 1, actual version 2), so nothing was saved: sync again\n";
    let refused = tokio::task::block_in_place(|| desk.sync(&["--to", "tree"]));
    assert_eq!(refused, Ended::new(1, "", said));
    let client = serving.client().await;
    let tree = json!({"workspace_id": workspace});
    let exported = client
        .call_raw("thread/agents_doc/export", tree)
        .await
        .unwrap();
    assert_eq!(exported["files"][0]["content"], "theirs, edited\n");
    assert_eq!(exported["files"].as_array().unwrap().len(), 1);
    assert_eq!(exported["folders"], json!([]));
}
