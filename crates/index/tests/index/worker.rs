//! The worker follows changes by this process and by others.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use index::SyncWorker;

use crate::folder::{Folder, line};

fn worker(folder: &Folder) -> SyncWorker {
    let worker = SyncWorker::new(folder.indexes.clone(), Arc::new(|| 1_000));
    worker.serve(folder.companies.clone());
    worker
}

#[test]
fn a_flush_syncs_what_was_written_here_and_only_that() {
    let folder = Folder::with_everything();
    let worker = worker(&folder);
    assert_eq!(worker.flush().total_batches, 0);
    worker.notify(folder.company.root());
    worker.notify(folder.company.root());
    let status = worker.flush();
    assert_eq!((status.total_notify_calls, status.total_batches), (2, 1));
    assert_eq!(
        (
            status.total_workspace_sync_attempts,
            status.pending_workspaces
        ),
        (1, 0)
    );
    assert_eq!(status.last_run_at_ms, Some(1_000));
    assert_eq!(folder.indexes.stats(&folder.company).unwrap().events, 2);
    assert_eq!(worker.flush().total_batches, 1);
}

#[test]
fn a_folder_that_is_gone_is_an_error_of_the_status_alone() {
    let folder = Folder::with_everything();
    let worker = worker(&folder);
    folder.remove("company");
    worker.notify(folder.company.root());
    let status = worker.flush();
    assert_eq!(
        (
            status.total_workspace_sync_attempts,
            status.total_workspace_sync_errors
        ),
        (1, 1)
    );
    assert!(
        status
            .last_error_message
            .unwrap()
            .contains("is not a company folder")
    );
}

#[test]
fn closing_does_what_is_pending() {
    let folder = Folder::with_everything();
    let worker = worker(&folder);
    worker.notify(folder.company.root());
    worker.close();
    assert!(worker.status().closed);
    assert_eq!(folder.indexes.stats(&folder.company).unwrap().events, 2);
}

#[test]
fn what_other_programs_write_in_a_folder_in_use_is_indexed_by_itself() {
    let folder = Folder::with_everything();
    folder.indexes.sync(&folder.company).unwrap();
    let worker = worker(&folder);
    worker.used(&folder.company);
    let deadline = Instant::now() + Duration::from_secs(60);
    while worker.status().watched_workspaces == 0 {
        assert!(Instant::now() < deadline, "the folder is not watched");
        std::thread::yield_now();
    }
    folder.append("run_1", &line("from.outside"));
    // The counter increases right after the sync.
    while worker.status().total_watch_syncs == 0
        || folder.indexes.stats(&folder.company).unwrap().events < 3
    {
        assert!(Instant::now() < deadline, "the event is not indexed");
        std::thread::yield_now();
    }
}
