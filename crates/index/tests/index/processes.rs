//! Several processes work on one index. A child is the same test binary, started with an environment that selects one
//! test.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::folder::{Folder, at, line};

/// The folder a child works on. Without it this process is not a child.
const FOLDER: &str = "INDEX_TEST_FOLDER";
/// The task of a child: `sync` or `rebuild`.
const TASK: &str = "INDEX_TEST_TASK";

const CHILDREN: usize = 3;
const ROUNDS: usize = 40;

fn child(folder: &Folder, task: &str) -> Child {
    Command::new(std::env::current_exe().expect("it is there"))
        .args(["--exact", "processes::what_a_child_does", "--nocapture"])
        .env(FOLDER, folder.company.root())
        .env(TASK, task)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it is there")
}

#[test]
fn what_a_child_does() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let company = at(Path::new(&folder));
    let indexes = index::Indexes::new();
    for round in 0..ROUNDS {
        match std::env::var(TASK).as_deref() {
            Ok("rebuild") if round % 8 == 0 => {
                drop(indexes.rebuild(&company).expect("the index answers"))
            }
            _ => drop(indexes.sync(&company).expect("the index answers")),
        }
        indexes.stats(&company).expect("the index answers");
    }
}

#[test]
fn processes_that_sync_and_rebuild_one_folder_never_fail() {
    let folder = Folder::with_everything();
    let mut children: Vec<Child> = (0..CHILDREN).map(|_| child(&folder, "sync")).collect();
    children.push(child(&folder, "rebuild"));
    let mut events = 2;
    for round in 0..ROUNDS {
        folder.append("run_1", &line("while.syncing"));
        folder.run(&format!("run_{}", 100 + round), "agent_2", "ended");
        folder
            .indexes
            .sync(&folder.company)
            .expect("the index answers");
        events += 1;
    }
    for child in children {
        let output = child.wait_with_output().expect("the index answers");
        let text = String::from_utf8_lossy(&output.stdout);
        let did_it = output.status.success() && text.contains("1 passed");
        assert!(did_it, "{text}{}", String::from_utf8_lossy(&output.stderr));
    }
    folder
        .indexes
        .sync(&folder.company)
        .expect("the index answers");
    let stats = folder
        .indexes
        .stats(&folder.company)
        .expect("the index answers");
    assert_eq!((stats.events, stats.runs), (events, ROUNDS as u64 + 1));
}
