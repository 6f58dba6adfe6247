//! `ac backup` and `ac restore`: a backup contains all acknowledged data, and damaged backups are not restored.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Office, ServeProcess, StdioProcess};

fn ac() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ac"))
}

fn run(command: &mut Command) -> Output {
    command.output().expect("the binary can be started")
}

fn restore(archive: &Path, home: &Path, companies: &Path) -> Output {
    let mut command = ac();
    command.arg("restore").arg(archive).arg("--home").arg(home);
    run(command.arg("--companies").arg(companies))
}

/// A demo and its backup.
fn saved() -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().expect("a temporary folder");
    let demo = run(ac()
        .arg("demo")
        .arg(place.path().join("demo"))
        .arg("--no-serve"));
    assert!(demo.status.success(), "{demo:?}");
    let archive = place.path().join("accord.tar");
    let mut backup = ac();
    backup.arg("backup").arg(&archive).arg("--json");
    let made = run(backup.arg("--home").arg(place.path().join("demo/home")));
    assert!(made.status.success(), "{made:?}");
    (place, archive)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_before_a_backup_is_in_it_while_everybody_writes() {
    const WRITERS: usize = 4;
    let place = tempfile::tempdir().unwrap();
    let (home, dir) = (place.path().join("home"), place.path().join("acme"));
    fs::create_dir(&home).unwrap();
    let serving = ServeProcess::start(ac(), &home);
    let client = serving.client().await;
    let made = client
        .call_raw(
            "workspace.init",
            json!({"workspace_dir": dir, "company_name": "Acme"}),
        )
        .await;
    made.unwrap();
    let project = json!({"workspace_dir": dir, "name": "Alpha"});
    let project = client
        .call_raw("workspace.project.create_with_defaults", project)
        .await
        .unwrap();
    let listed = client.call_raw("workspace/list", json!({})).await.unwrap();
    let workspace = listed["workspaces"][0]["id"].clone();

    let stop = Arc::new(AtomicBool::new(false));
    let counts: Vec<_> = (0..WRITERS)
        .map(|_| Arc::new(AtomicUsize::new(0)))
        .collect();
    let mut writers = Vec::new();
    for (writer, count) in counts.iter().enumerate() {
        let client = serving.client().await;
        let (stop, count) = (Arc::clone(&stop), Arc::clone(count));
        let (dir, project_id, workspace) = (
            dir.clone(),
            project["project_id"].clone(),
            workspace.clone(),
        );
        writers.push(tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let number = count.load(Ordering::Relaxed);
                let name = format!("w{writer}-{number}");
                let folder = json!({"workspace_id": workspace, "name": name});
                client.call_raw("thread/folder/create", folder).await.unwrap();
                let message = json!({
                    "workspace_dir": dir, "scope": "project", "project_id": project_id,
                    "conversation_id": format!("conv_{}_home", project_id.as_str().unwrap()),
                    "author_id": "human", "author_role": "human", "body": name,
                });
                client.call_raw("conversation.message.send", message).await.unwrap();
                if number.is_multiple_of(8) {
                    let run = json!({
                        "workspace_dir": dir, "project_id": project_id, "agent_id": "agent_a", "provider": "cmd",
                    });
                    client.call_raw("run.create", run).await.unwrap();
                }
                count.fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
    while counts
        .iter()
        .any(|count| count.load(Ordering::Relaxed) < 10)
    {
        tokio::task::yield_now().await;
    }
    let before: Vec<usize> = counts
        .iter()
        .map(|count| count.load(Ordering::Relaxed))
        .collect();
    let archive = place.path().join("accord.tar");
    let saved = tokio::task::spawn_blocking({
        let (archive, home) = (archive.clone(), home.clone());
        move || run(ac().arg("backup").arg(archive).arg("--home").arg(home))
    });
    let saved = saved.await.unwrap();
    assert!(saved.status.success(), "{saved:?}");
    let during: usize = counts
        .iter()
        .map(|count| count.load(Ordering::Relaxed))
        .sum();
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    assert!(during > before.iter().sum(), "nobody waited for the backup");
    drop(serving);

    let (new_home, new_dir) = (place.path().join("new/home"), place.path().join("new/acme"));
    let restored = restore(&archive, &new_home, &place.path().join("new"));
    assert!(restored.status.success(), "{restored:?}");
    let mut process = StdioProcess::start(ac(), &new_home);
    let mut call = |method: &str, params: Value| process.call(method, &params).expect(method);
    let listed = call("workspace/list", json!({}));
    assert_eq!(
        listed["workspaces"][0]["dir"],
        json!(fs::canonicalize(&new_dir).unwrap())
    );
    let tree = call(
        "thread/tree",
        json!({"workspace_id": workspace, "limit": 5000}),
    );
    let folders: Vec<&Value> = tree["folders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|folder| &folder["name"])
        .collect();
    let messages = call(
        "conversation.messages.list",
        json!({
            "workspace_dir": new_dir, "scope": "project", "project_id": project["project_id"], "limit": 5000,
            "conversation_id": format!("conv_{}_home", project["project_id"].as_str().unwrap()),
        }),
    );
    let messages: Vec<&Value> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["body"])
        .collect();
    for (writer, count) in before.iter().enumerate() {
        for number in 0..*count {
            let name = json!(format!("w{writer}-{number}"));
            assert!(folders.contains(&&name), "folder {name}");
            assert!(messages.contains(&&name), "message {name}");
        }
    }
    let valid = call("workspace.validate", json!({"workspace_dir": new_dir}));
    assert_eq!(valid, json!({"ok": true}));
    let runs = call("run.list", json!({"workspace_dir": new_dir}));
    let runs = runs.as_array().unwrap();
    assert!(runs.len() >= WRITERS);
    for run in runs {
        let replay = call(
            "run.replay",
            json!({
                "workspace_dir": new_dir, "project_id": run["project_id"], "run_id": run["run_id"],
                "mode": "verified",
            }),
        );
        assert_eq!(replay["deterministic_ok"], true);
    }
}

#[test]
fn other_processes_write_to_a_company_folder_while_it_is_copied() {
    let office = Office::open(env!("CARGO_BIN_EXE_ac"));
    let (dir, project) = (office.dir(), office.project.clone());
    let place = office.close();
    let mut other = StdioProcess::start(ac(), &place.path().join("another"));
    let folder = json!({"workspace_dir": dir});
    other.call("workspace.trust", &folder).expect("a company");
    let home = gateway::Home::open(&place.path().join("home")).unwrap();
    let mut written = 0;
    let mut progress = |_| {
        // This would time out if the backup held the write lock.
        let run = json!({"workspace_dir": dir, "project_id": project, "agent_id": "agent_a", "provider": "cmd"});
        other
            .call("run.create", &run)
            .expect("the folder can be written");
        written += 1;
    };
    let archive = place.path().join("accord.tar");
    let sources = gateway::Sources::system();
    let secrets = backup::Secrets::LeftOut;
    backup::create(home.path(), &archive, secrets, &sources, &mut progress).unwrap();
    assert!(written > 20, "{written} files");
}

#[test]
fn a_restored_home_has_the_bytes_and_no_secrets() {
    let (place, archive) = saved();
    let token = fs::read_to_string(place.path().join("demo/home/token")).unwrap();
    let bytes = fs::read(&archive).unwrap();
    let has_token = bytes
        .windows(token.len())
        .any(|window| window == token.as_bytes());
    assert!(!has_token, "the archive has the owner's token");
    let new = place.path().join("new");
    let restored = restore(&archive, &new.join("home"), &new);
    let said = String::from_utf8(restored.stdout).unwrap();
    assert!(
        said.contains(&format!("company  {}", new.join("fernway").display())),
        "{said}"
    );
    let list = |home: &Path| {
        let listed = run(ac()
            .args(["artifact", "list", "--json", "--home"])
            .arg(home));
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        listed["items"].clone()
    };
    assert_eq!(
        list(&new.join("home")),
        list(&place.path().join("demo/home"))
    );
    let id = list(&new.join("home"))[0]["artifact"]["artifact_id"].clone();
    let file = place.path().join("file");
    let mut get = ac();
    get.args(["artifact", "get", id.as_str().unwrap(), "-o"])
        .arg(&file);
    let got = run(get.arg("--home").arg(new.join("home")));
    assert!(got.status.success(), "{got:?}");
    let new_token = fs::read_to_string(new.join("home/token")).unwrap();
    assert_ne!(new_token, token);
}

#[test]
fn a_backup_names_the_files_whose_bytes_are_damaged_or_missing() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    for name in ["good.txt", "bad.txt", "gone.txt"] {
        let file = place.path().join(name);
        testkit::put(&file, name);
        let mut put = ac();
        put.args(["artifact", "put"]).arg(&file);
        let put = run(put.arg("--home").arg(&home));
        assert!(put.status.success(), "{put:?}");
    }
    let mut blobs = Vec::new();
    let mut open = vec![home.join("artifacts")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                blobs.push(path);
            }
        }
    }
    for path in blobs {
        match fs::read(&path).unwrap().as_slice() {
            b"bad.txt" => testkit::put(&path, "baddish"),
            b"gone.txt" => fs::remove_file(&path).unwrap(),
            _ => {}
        }
    }
    let mut backup = ac();
    backup.arg("backup").arg(place.path().join("accord.tar"));
    let backup = run(backup.arg("--json").arg("--home").arg(&home));
    assert_eq!(backup.status.code(), Some(1), "{backup:?}");
    let saved: Value = serde_json::from_slice(&backup.stdout).unwrap();
    let damaged: Vec<_> = saved["damaged"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap().split_once(" (art_").unwrap().0)
        .collect();
    assert_eq!(damaged, ["bad.txt", "gone.txt"]);
}

#[test]
fn company_folders_are_restored_below_a_named_folder_alone() {
    let (place, archive) = saved();
    let old = place.path().join("demo/fernway");
    fs::remove_dir_all(&old).unwrap();
    let new = place.path().join("new");
    let mut command = ac();
    command
        .arg("restore")
        .arg(&archive)
        .arg("--home")
        .arg(new.join("home"));
    let refused = run(&mut command);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("--companies DIR"), "{said}");
    assert!(!old.exists() && !new.exists(), "something was written");

    let restored = restore(&archive, &new.join("home"), &new);
    let said = String::from_utf8(restored.stdout).unwrap();
    let folder = new.join("fernway");
    let next = format!(
        "`ac trust --home {} {}`",
        new.join("home").display(),
        folder.display()
    );
    assert!(said.contains(&next), "{said}");
    assert!(!old.exists());
    let create = |home: &Path| {
        let mut create = ac();
        create.args([
            "rpc:call",
            "--method",
            "workspace.project.create_with_defaults",
            "--params",
        ]);
        create.arg(format!(
            r#"{{"workspace_dir": "{}", "name": "Beta"}}"#,
            folder.display()
        ));
        run(create.arg("--home").arg(home))
    };
    let refused = create(&new.join("home"));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("ac trust"), "{said}");
    let mut trust = ac();
    trust.arg("trust").arg(&folder).arg("--yes");
    assert!(
        run(trust.arg("--home").arg(new.join("home")))
            .status
            .success()
    );
    let created = create(&new.join("home"));
    assert!(created.status.success(), "{created:?}");
}

#[test]
fn a_damaged_archive_is_refused_and_nothing_is_written() {
    let (place, archive) = saved();
    let bytes = fs::read(&archive).unwrap();
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).unwrap();
    let first = u64::from_le_bytes(seed);
    let mut state = first | 1;
    let mut below = |most: usize| {
        // xorshift, so that a failed seed can be reproduced.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % most as u64).unwrap()
    };
    let damaged = place.path().join("damaged.tar");
    let new = place.path().join("new");
    let target = new.join("home");
    for round in 0..120 {
        let mut changed = bytes.clone();
        match round % 4 {
            0 | 1 => changed[below(bytes.len())] ^= 1 << below(8),
            2 => changed.truncate(below(bytes.len())),
            _ => {
                let at = below(bytes.len() / 512) * 512;
                changed.drain(at..at + 512);
            }
        }
        gateway::replace_file(&damaged, &changed).unwrap();
        let request = backup::RestoreRequest {
            file: &damaged,
            home: &target,
            companies: Some(&new),
        };
        let refused = backup::restore(&request, 1, &mut |_, _| {});
        let error = refused.expect_err(&format!("seed {first}, round {round}"));
        assert!(
            matches!(error, backup::Error::Damaged { .. }),
            "seed {first}, round {round}: {error}"
        );
        assert!(
            !new.exists(),
            "seed {first}, round {round}: something was written"
        );
    }
}

#[test]
fn only_free_places_are_written() {
    let (place, archive) = saved();
    let new = place.path().join("new");
    fs::create_dir_all(new.join("fernway/letters")).unwrap();
    let refused = restore(&archive, &new.join("home"), &new);
    assert_eq!(refused.status.code(), Some(1));
    let expected = format!(
        "error: `{}` is not empty: name another folder with --companies\n",
        new.join("fernway").display()
    );
    assert_eq!(String::from_utf8(refused.stderr).unwrap(), expected);
    let refused = restore(&archive, &new, &new);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.ends_with("is not empty: name a new home with --home\n"),
        "{said}"
    );
    let within = new.join("within");
    let refused = restore(&archive, &within, &within.join("companies"));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.ends_with(": choose a path outside of it\n"), "{said}");
    let left = fs::read_dir(&new).unwrap().count();
    assert_eq!(left, 1, "nothing else was written");
    let again = run(ac()
        .arg("backup")
        .arg(&archive)
        .arg("--home")
        .arg(place.path().join("demo/home")));
    assert_eq!(again.status.code(), Some(2), "a file that is there is kept");
    let link = place.path().join("link");
    std::os::unix::fs::symlink(&archive, &link).unwrap();
    let forced = run(ac()
        .arg("backup")
        .arg("--force")
        .arg(&link)
        .arg("--home")
        .arg(place.path().join("demo/home")));
    assert_eq!(forced.status.code(), Some(2), "only files are replaced");
    assert!(link.is_symlink());
}

#[test]
fn an_archive_is_never_part_of_what_it_saves() {
    let (place, _) = saved();
    let home = place.path().join("demo/home");
    for inside in [&home, &place.path().join("demo/fernway/company")] {
        let before = fs::read_dir(inside).unwrap().count();
        let file = inside.join("backup.tar");
        let refused = run(ac().arg("backup").arg(&file).arg("--home").arg(&home));
        assert_eq!(refused.status.code(), Some(1));
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.ends_with(": choose a path outside of it\n"), "{said}");
        assert_eq!(fs::read_dir(inside).unwrap().count(), before);
    }
}
