//! Tests of receiving, repeating and resuming uploads.

use std::{fs::OpenOptions, io::Write};

use blobs::{
    Error,
    key::ContentHash,
    store::{BlobStore as _, PayloadHash},
    upload::Upload,
};

use crate::support::{home, upload};

#[test]
fn the_hash_of_many_chunks_is_the_hash_of_the_whole() {
    let home = home();
    let content: Vec<u8> = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
    let mut receiving = home.begin("upl_1");
    for chunk in content.chunks(262_144) {
        let offset = receiving.received();
        let received = receiving.append(offset, chunk).unwrap();
        assert_eq!(received, offset + chunk.len() as u64);
    }
    let digest = receiving.finish().unwrap();
    assert_eq!(digest.size, content.len() as u64);
    assert_eq!(digest.sha256, ContentHash::of(&content));
    assert_eq!(receiving.finish().unwrap(), digest);
}

#[test]
fn a_chunk_begins_where_the_last_one_ended() {
    let home = home();
    let mut receiving = home.begin("upl_1");
    receiving.append(0, b"hello").unwrap();
    for offset in [0, 4, 6] {
        assert!(matches!(
            receiving.append(offset, b"x"),
            Err(Error::OffsetMismatch { expected: 5, .. })
        ));
    }
    assert_eq!(receiving.received(), 5);
}

#[test]
fn a_repeat_is_identical_bytes_inside_the_received_range() {
    let home = home();
    let mut receiving = home.begin("upl_1");
    let content = vec![7; 200_000];
    receiving.append(0, &content).unwrap();
    assert!(receiving.is_repeat(0, &content).unwrap());
    assert!(receiving.is_repeat(100_000, &content[100_000..]).unwrap());
    assert!(!receiving.is_repeat(100_001, &content[100_000..]).unwrap());
    assert!(!receiving.is_repeat(0, &[8]).unwrap());
    assert!(!receiving.is_repeat(u64::MAX, &[7, 7]).unwrap());
}

#[test]
fn an_upload_begins_once() {
    let home = home();
    drop(home.begin("upl_1"));
    assert!(matches!(
        Upload::create(&home.store, &home.workspace, &upload("upl_1")),
        Err(Error::UploadExists)
    ));
    assert!(matches!(
        Upload::resume(&home.store, &home.workspace, &upload("upl_2")),
        Err(Error::MissingUpload)
    ));
}

#[test]
fn a_torn_chunk_is_cut_and_the_upload_continues() {
    let home = home();
    home.begin("upl_1").append(0, b"hello ").unwrap();
    // The gateway ended between writing and acknowledging a chunk.
    OpenOptions::new()
        .append(true)
        .open(home.payload_path("upl_1"))
        .unwrap()
        .write_all(b"wor???")
        .unwrap();

    let mut receiving = home.resume("upl_1");
    assert_eq!(receiving.received(), 12);
    // The hasher may have read the torn bytes already; they must not count.
    receiving.finish().unwrap();
    receiving.truncate(6).unwrap();
    receiving.append(6, b"world").unwrap();
    let digest = receiving.finish().unwrap();
    assert_eq!(digest.sha256, ContentHash::of(b"hello world"));
    assert_eq!(digest.size, 11);
}

#[test]
fn a_payload_shorter_than_acknowledged_is_an_error() {
    let home = home();
    home.begin("upl_1").append(0, b"hello").unwrap();
    assert!(matches!(
        home.resume("upl_1").truncate(6),
        Err(Error::PayloadTooShort {
            acknowledged: 6,
            actual: 5
        })
    ));
}

#[test]
fn what_another_process_made_a_blob_of_is_not_cut() {
    let home = home();
    let mut receiving = home.begin("upl_1");
    receiving.append(0, b"hello").unwrap();
    let (workspace, segment, hash) = (&home.workspace, upload("upl_1"), ContentHash::of(b"hello"));
    home.store
        .cut_upload(workspace, &segment, &mut receiving, 4)
        .unwrap();
    assert_eq!(receiving.received(), 4);
    receiving.append(4, b"o").unwrap();
    let committed = home
        .store
        .commit_upload(workspace, &segment, 5, hash, PayloadHash::Reread)
        .unwrap();
    home.store
        .cut_upload(workspace, &segment, &mut receiving, 4)
        .unwrap();
    assert_eq!(home.store.size(&committed.key).unwrap(), 5);
}

#[test]
fn finishing_and_cutting_at_once_leave_a_whole_blob_or_a_shorter_upload() {
    for number in 0..200 {
        let home = home();
        let (workspace, segment) = (&home.workspace, upload("upl_1"));
        let mut receiving = home.begin("upl_1");
        receiving.append(0, b"hello").unwrap();
        let finish = || {
            let hash = ContentHash::of(b"hello");
            home.store
                .commit_upload(workspace, &segment, 5, hash, PayloadHash::Reread)
                .is_ok()
        };
        let is_blob = std::thread::scope(|scope| {
            let finishing = scope.spawn(finish);
            home.store
                .cut_upload(workspace, &segment, &mut receiving, 4)
                .unwrap();
            finishing.join().unwrap()
        });
        let found = std::fs::read(home.blob_path(b"hello")).ok();
        let expected = is_blob.then(|| b"hello".to_vec());
        assert_eq!(found, expected, "in round {number}");
    }
}
