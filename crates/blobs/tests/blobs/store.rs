//! Tests of content addressing, deduplication, commits and verification.

use std::{
    fs::{self, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    num::NonZeroUsize,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use blobs::{
    Error,
    key::ContentHash,
    store::{BlobStore, Committed, MAX_RANGE, PayloadHash, Removed, Verified},
};

use crate::support::{home, upload, workspace};

fn damage(path: &Path) {
    let mut file = OpenOptions::new()
        .write(true)
        .open(path)
        .expect("the blob is there");
    file.write_all(b"?").expect("the blob can be written");
}

#[test]
fn a_blob_lies_under_its_hash() {
    let home = home();
    let committed = home.store.put(&home.workspace, b"hello").unwrap();
    assert_eq!(
        committed,
        Committed {
            key: home.key(b"hello"),
            size: 5,
            was_known: false
        }
    );
    assert_eq!(fs::read(home.blob_path(b"hello")).unwrap(), b"hello");
    assert_eq!(home.store.size(&committed.key).unwrap(), 5);
}

#[test]
fn equal_bytes_are_one_blob_in_a_workspace_and_two_in_two() {
    let home = home();
    let other = workspace("ws_2");
    assert!(!home.store.put(&home.workspace, b"same").unwrap().was_known);
    assert!(home.store.put(&home.workspace, b"same").unwrap().was_known);
    assert!(!home.store.put(&other, b"same").unwrap().was_known);
    assert_eq!(home.store.list(&home.workspace).unwrap().count(), 1);
    assert_eq!(home.store.list(&other).unwrap().count(), 1);
    assert_eq!(
        home.store.list_workspaces().unwrap(),
        [home.workspace.clone(), other]
    );
}

#[test]
fn files_and_folders_are_the_owners_alone() {
    let home = home();
    home.store.put(&home.workspace, b"private").unwrap();
    drop(home.begin("upl_1"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for file in [home.blob_path(b"private"), home.payload_path("upl_1")] {
        assert_eq!(mode(&file), 0o600);
        let root = home.path("");
        for folder in file.ancestors().skip(1).take_while(|path| *path != root) {
            assert_eq!(mode(folder), 0o700, "{}", folder.display());
        }
    }
}

#[test]
fn a_range_ends_with_the_blob() {
    let home = home();
    let key = home.store.put(&home.workspace, b"0123456789").unwrap().key;
    let read = |offset, len| home.store.read_range(&key, offset, len).unwrap();
    assert_eq!(read(2, 3), b"234");
    assert_eq!(read(8, 100), b"89");
    assert_eq!(read(100, 1), b"");
    assert!(matches!(
        home.store.read_range(&key, 0, MAX_RANGE + 1),
        Err(Error::RangeTooLong { .. })
    ));
}

#[test]
fn an_open_blob_outlives_its_removal() {
    let home = home();
    let key = home.store.put(&home.workspace, b"0123456789").unwrap().key;
    let mut reader = home.store.open(&key).unwrap();
    assert_eq!(home.store.remove(&key).unwrap(), Removed::Removed);
    assert_eq!(home.store.remove(&key).unwrap(), Removed::Missing);
    assert!(matches!(home.store.size(&key), Err(Error::MissingBlob(_))));
    let mut text = String::new();
    reader.seek(SeekFrom::Start(4)).unwrap();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!((reader.size(), text.as_str()), (10, "456789"));
}

#[test]
fn a_changed_blob_is_damaged_and_a_removed_one_missing() {
    let home = home();
    let key = home.store.put(&home.workspace, b"content").unwrap().key;
    assert_eq!(home.store.verify(&key).unwrap(), Verified::Intact);
    damage(&home.blob_path(b"content"));
    assert_eq!(home.store.verify(&key).unwrap(), Verified::Damaged);
    home.store.remove(&key).unwrap();
    assert_eq!(home.store.verify(&key).unwrap(), Verified::Missing);
}

#[test]
fn a_verification_hashes_the_chunks_of_what_is_intact() {
    let home = home();
    let bytes: Vec<u8> = (0..200_001u32).map(|number| number as u8).collect();
    let key = home.store.put(&home.workspace, &bytes).unwrap().key;
    // Chunks longer and shorter than the read size, divisors of it, and unrelated sizes.
    for chunk in [1_000_000, 200_001, 70_000, 1 << 16, 1 << 15, 999] {
        let verified = home
            .store
            .verify_chunks(&key, NonZeroUsize::new(chunk).unwrap());
        let hashes = bytes.chunks(chunk).map(ContentHash::of).collect();
        assert_eq!(verified.unwrap(), (Verified::Intact, hashes), "{chunk}");
    }
    let chunk = NonZeroUsize::MIN;
    let empty = home.store.put(&home.workspace, b"").unwrap().key;
    let verified = home.store.verify_chunks(&empty, chunk).unwrap();
    assert_eq!(verified, (Verified::Intact, Vec::new()));
    damage(&home.blob_path(&bytes));
    let verified = home.store.verify_chunks(&key, chunk).unwrap();
    assert_eq!(verified, (Verified::Damaged, Vec::new()));
    home.store.remove(&key).unwrap();
    let verified = home.store.verify_chunks(&key, chunk).unwrap();
    assert_eq!(verified, (Verified::Missing, Vec::new()));
}

#[test]
fn quarantine_keeps_damaged_bytes_aside_and_leaves_good_ones_where_they_are() {
    let home = home();
    let key = home.store.put(&home.workspace, b"content").unwrap().key;
    assert_eq!(home.store.quarantine(&key).unwrap(), Removed::Kept);
    assert_eq!(home.store.verify(&key).unwrap(), Verified::Intact);
    damage(&home.blob_path(b"content"));
    assert_eq!(home.store.quarantine(&key).unwrap(), Removed::Removed);
    assert_eq!(home.store.quarantine(&key).unwrap(), Removed::Missing);
    assert_eq!(home.store.verify(&key).unwrap(), Verified::Missing);
    let aside = home
        .workspace_path("quarantine")
        .join(key.sha256().to_string());
    assert_eq!(fs::read(aside).unwrap(), b"?ontent");
}

#[test]
fn storing_the_good_bytes_again_heals_a_damaged_blob() {
    let home = home();
    let key = home.store.put(&home.workspace, b"content").unwrap().key;
    damage(&home.blob_path(b"content"));
    assert!(
        home.store
            .put(&home.workspace, b"content")
            .unwrap()
            .was_known
    );
    assert_eq!(home.store.verify(&key).unwrap(), Verified::Intact);
    let aside = home
        .workspace_path("quarantine")
        .join(key.sha256().to_string());
    assert_eq!(fs::read(aside).unwrap(), b"?ontent");
}

#[test]
fn a_committed_upload_becomes_a_blob_and_leaves_no_upload() {
    let home = home();
    let mut receiving = home.begin("upl_1");
    receiving.append(0, b"hello").unwrap();
    let digest = receiving.finish().unwrap();
    let commit = |id: &str| {
        home.store.commit_upload(
            &home.workspace,
            &upload(id),
            5,
            ContentHash::of(b"hello"),
            PayloadHash::Running(digest),
        )
    };
    assert!(!commit("upl_1").unwrap().was_known);
    assert_eq!(fs::read(home.blob_path(b"hello")).unwrap(), b"hello");
    assert!(home.store.list_uploads(&home.workspace).unwrap().is_empty());

    home.begin("upl_2").append(0, b"hello").unwrap();
    assert!(commit("upl_2").unwrap().was_known);
    assert!(home.store.list_uploads(&home.workspace).unwrap().is_empty());
}

#[test]
fn an_empty_upload_commits_without_a_chunk() {
    let home = home();
    let digest = home.begin("upl_1").finish().unwrap();
    let committed = home
        .store
        .commit_upload(
            &home.workspace,
            &upload("upl_1"),
            0,
            digest.sha256,
            PayloadHash::Running(digest),
        )
        .unwrap();
    assert_eq!((committed.size, committed.key), (0, home.key(b"")));
}

#[test]
fn a_payload_of_another_size_or_hash_makes_no_blob() {
    let home = home();
    home.begin("upl_1").append(0, b"hello").unwrap();
    let commit = |size, content: &[u8]| {
        home.store.commit_upload(
            &home.workspace,
            &upload("upl_1"),
            size,
            ContentHash::of(content),
            PayloadHash::Reread,
        )
    };
    assert!(matches!(
        commit(6, b"hello"),
        Err(Error::SizeMismatch {
            expected: 6,
            actual: 5
        })
    ));
    assert!(matches!(
        commit(5, b"other"),
        Err(Error::HashMismatch { .. })
    ));
    assert_eq!(home.store.list(&home.workspace).unwrap().count(), 0);
    // The payload still exists: the caller decides about it.
    home.store
        .remove_upload(&home.workspace, &upload("upl_1"))
        .unwrap();
    assert!(matches!(commit(5, b"hello"), Err(Error::MissingUpload)));
}

#[test]
fn a_commit_cut_short_after_its_rename_can_be_repeated() {
    let home = home();
    home.begin("upl_1").append(0, b"hello").unwrap();
    let target = home.blob_path(b"hello");
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    fs::rename(home.payload_path("upl_1"), &target).unwrap();
    let commit = || {
        home.store.commit_upload(
            &home.workspace,
            &upload("upl_1"),
            5,
            ContentHash::of(b"hello"),
            PayloadHash::Reread,
        )
    };
    assert_eq!(commit().unwrap().key, home.key(b"hello"));
    assert!(home.store.list_uploads(&home.workspace).unwrap().is_empty());
    assert_eq!(commit().unwrap().size, 5);
}

#[test]
fn a_commit_cut_short_before_its_rename_can_be_repeated() {
    let home = home();
    home.begin("upl_1").append(0, b"hello").unwrap();
    fs::create_dir_all(home.blob_path(b"hello").parent().unwrap()).unwrap();
    let committed = home
        .store
        .commit_upload(
            &home.workspace,
            &upload("upl_1"),
            5,
            ContentHash::of(b"hello"),
            PayloadHash::Reread,
        )
        .unwrap();
    assert!(!committed.was_known);
}

#[test]
fn an_upload_folder_without_payload_can_be_begun_again() {
    let home = home();
    fs::create_dir_all(home.payload_path("upl_1").parent().unwrap()).unwrap();
    assert_eq!(home.begin("upl_1").append(0, b"x").unwrap(), 1);
}

#[test]
fn many_threads_storing_the_same_bytes_make_one_blob() {
    let home = home();
    let first = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| home.store.put(&home.workspace, b"same").unwrap().was_known))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .filter(|known| !known)
            .count()
    });
    assert_eq!(first, 1);
    assert_eq!(home.store.list(&home.workspace).unwrap().count(), 1);
    assert_eq!(fs::read_dir(home.workspace_path("tmp")).unwrap().count(), 0);
}

#[test]
fn a_range_is_read_and_hashed_in_whole_or_not_at_all() {
    let home = home();
    let bytes: Vec<u8> = (0..200_000u32).map(|number| (number / 7) as u8).collect();
    let key = home.store.put(&home.workspace, &bytes).unwrap().key;
    let blob = home.store.open(&key).unwrap();
    blob.read_ahead(17, 150_000).unwrap();
    assert_eq!(
        blob.hash_range(17, 150_000).unwrap(),
        ContentHash::of(&bytes[17..150_017])
    );
    let beyond = blob.read_ahead(100_000, 100_001).unwrap_err();
    assert_eq!(beyond.kind(), std::io::ErrorKind::UnexpectedEof);
    assert!(blob.hash_range(100_000, 100_001).is_err());
    assert!(!blob.is_in_memory(100_000, 100_001));
}

#[test]
fn a_changed_blob_is_an_error_wherever_it_is_read() {
    let home = home();
    let key = home.store.put(&home.workspace, b"content").unwrap().key;
    assert_eq!(home.store.read_range(&key, 0, 7).unwrap(), b"content");
    damage(&home.blob_path(b"content"));
    let is_damaged =
        |read: Result<(), Error>| matches!(read, Err(Error::DamagedBlob(found)) if found == key);
    assert!(is_damaged(home.store.open(&key).map(drop)));
    // Also if the range itself is unchanged.
    assert!(is_damaged(home.store.read_range(&key, 3, 2).map(drop)));
}

#[test]
fn a_shortened_blob_is_an_error_wherever_it_is_read() {
    let home = home();
    let key = home.store.put(&home.workspace, b"content").unwrap().key;
    let file = OpenOptions::new()
        .write(true)
        .open(home.blob_path(b"content"));
    file.unwrap().set_len(4).unwrap();
    assert!(matches!(home.store.open(&key), Err(Error::DamagedBlob(_))));
    let read = home.store.read_range(&key, 0, 4);
    assert!(matches!(read, Err(Error::DamagedBlob(_))));
}

#[test]
fn an_open_blob_notices_that_it_was_changed_since() {
    let home = home();
    let key = home.store.put(&home.workspace, b"content").unwrap().key;
    let blob = home.store.open(&key).unwrap();
    assert!(blob.is_unchanged());
    damage(&home.blob_path(b"content"));
    assert!(!blob.is_unchanged());
    assert!(matches!(blob.verify_again(), Err(Error::DamagedBlob(_))));
}

#[test]
fn an_open_blob_that_is_stored_again_stays_good() {
    let home = home();
    let key = home.store.put(&home.workspace, b"content").unwrap().key;
    let blob = home.store.open(&key).unwrap();
    home.store.put(&home.workspace, b"content").unwrap();
    assert!(!blob.is_unchanged(), "it was marked as used");
    blob.verify_again().unwrap();
    assert!(blob.is_unchanged());
}

#[test]
fn changed_bytes_of_the_same_size_are_not_kept() {
    let home = home();
    let key = home.store.put(&home.workspace, b"content").unwrap().key;
    assert!(home.store.keep(&key, 7).unwrap());
    damage(&home.blob_path(b"content"));
    assert!(!home.store.keep(&key, 7).unwrap());
}
