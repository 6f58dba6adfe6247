//! Tests of garbage collection.

use std::{
    collections::BTreeSet,
    fs,
    time::{Duration, SystemTime},
};

use blobs::{
    collect::{Collected, collect},
    key::ContentHash,
    store::{BlobStore, Verified},
};

use crate::support::{Home, home};

const DAY: Duration = Duration::from_secs(86_400);

fn age(home: &Home, content: &[u8], to: SystemTime) {
    fs::File::open(home.blob_path(content))
        .and_then(|file| file.set_modified(to))
        .expect("the blob is there");
}

fn touched_at(home: &Home, content: &[u8]) -> SystemTime {
    home.store
        .touched_at(&home.key(content))
        .expect("the blob is there")
}

#[test]
fn only_old_blobs_that_nothing_refers_to_are_removed() {
    let home = home();
    for content in [b"live", b"dead", b"baby"] {
        home.store.put(&home.workspace, content).unwrap();
    }
    let now = touched_at(&home, b"baby");
    age(&home, b"live", now - 2 * DAY);
    age(&home, b"dead", now - 2 * DAY);
    let live = BTreeSet::from([ContentHash::of(b"live")]);
    assert_eq!(
        collect(&home.store, &home.workspace, &live, now, DAY).unwrap(),
        Collected {
            removed_blobs: 1,
            removed_bytes: 4,
            kept_young: 1
        }
    );
    let verify = |content: &[u8]| home.store.verify(&home.key(content)).unwrap();
    assert_eq!(verify(b"live"), Verified::Intact);
    assert_eq!(verify(b"dead"), Verified::Missing);
    assert_eq!(verify(b"baby"), Verified::Intact);
}

#[test]
fn finding_a_blob_again_makes_it_young() {
    let home = home();
    home.store.put(&home.workspace, b"content").unwrap();
    let now = touched_at(&home, b"content");
    age(&home, b"content", now - 2 * DAY);
    home.store.put(&home.workspace, b"content").unwrap();
    let collected = collect(&home.store, &home.workspace, &BTreeSet::new(), now, DAY).unwrap();
    assert_eq!(collected.kept_young, 1);
}

#[test]
fn temporary_files_left_by_a_crash_are_removed_when_old() {
    let home = home();
    home.store.put(&home.workspace, b"content").unwrap();
    let now = touched_at(&home, b"content");
    let left = home.workspace_path("tmp/put-1-0");
    fs::File::create(&left).unwrap().set_modified(now).unwrap();
    let remove = |before| {
        home.store
            .remove_temporaries(&home.workspace, before)
            .unwrap()
    };
    assert_eq!(remove(now), 0);
    assert_eq!(remove(now + DAY), 1);
    assert!(!left.exists());
}
