//! Pauses a git checkout, for tests that kill it or act while it runs.
//!
//! A named pipe in place of `info/attributes` makes git block while it writes files, without any program in its
//! settings.

use std::{
    fs::{self, OpenOptions},
    path::Path,
    process::Command,
    thread::{self, JoinHandle},
};

/// Runs `action` with the id of the `git reset` that checks out the next worktree of `repo`, while it waits.
pub(crate) fn during_checkout(
    repo: &Path,
    action: impl FnOnce(u32) + Send + 'static,
) -> JoinHandle<()> {
    let pipe = repo.join(".git/info/attributes");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    thread::spawn(move || {
        loop {
            // Opening blocks until there is a reader, and the reader blocks until this end is closed.
            let writer = OpenOptions::new()
                .write(true)
                .open(&pipe)
                .expect("the pipe");
            let git = reader_of(&pipe);
            let arguments = fs::read(format!("/proc/{git}/cmdline")).unwrap_or_default();
            if arguments
                .split(|&byte| byte == 0)
                .any(|word| word == b"reset")
            {
                fs::remove_file(&pipe).expect("the pipe is ours");
                action(git);
                return;
            }
            drop(writer);
            while reads(git, &pipe) {
                thread::yield_now();
            }
        }
    })
}

/// Finds the process other than this one that has the pipe open.
fn reader_of(pipe: &Path) -> u32 {
    loop {
        let entries = fs::read_dir("/proc").expect("processes").flatten();
        let mut ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        if let Some(id) = ids.find(|&id| id != std::process::id() && reads(id, pipe)) {
            return id;
        }
        thread::yield_now();
    }
}

fn reads(process: u32, pipe: &Path) -> bool {
    let open = fs::read_dir(format!("/proc/{process}/fd"));
    let mut files = open.into_iter().flatten().flatten();
    files.any(|file| fs::read_link(file.path()).is_ok_and(|target| target == pipe))
}
