//! Planted symbolic links are never followed.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use blobs::{
    Error,
    key::ContentHash,
    store::{BlobStore, PayloadHash, Verified},
    upload::Upload,
};
use rustix::fs::{CWD, FileType, Mode};

use crate::support::{Home, home, upload};

const SECRET: &[u8] = b"secret";

/// Creates a directory outside of the store, with one file that must stay unreachable.
fn outside(home: &Home) -> PathBuf {
    let folder = home.folder.path().join("outside");
    fs::create_dir(&folder).expect("the folder is new");
    let mut file = fs::File::create(folder.join("file")).expect("the file is new");
    std::io::Write::write_all(&mut file, SECRET).expect("the file can be written");
    folder
}

#[test]
fn a_link_in_the_place_of_a_blob_is_not_read() {
    let home = home();
    let outside = outside(&home);
    let place = home.blob_path(SECRET);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    symlink(outside.join("file"), &place).unwrap();
    let key = home.key(SECRET);

    assert!(matches!(
        home.store.read_range(&key, 0, 6),
        Err(Error::NotPlain { .. })
    ));
    assert!(matches!(home.store.open(&key), Err(Error::NotPlain { .. })));
    assert!(matches!(
        home.store.put(&home.workspace, SECRET),
        Err(Error::NotPlain { .. })
    ));
    assert_eq!(home.store.verify(&key).unwrap(), Verified::Damaged);
    home.store.remove(&key).unwrap();
    assert_eq!(fs::read(outside.join("file")).unwrap(), SECRET);
}

#[test]
fn a_link_in_the_place_of_a_folder_is_not_entered() {
    for place in [
        "workspaces",
        "workspaces/ws_1",
        "workspaces/ws_1/blobs/sha256",
        "workspaces/ws_1/tmp",
    ] {
        let home = home();
        let outside = outside(&home);
        let place = home.path(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(&outside, &place).unwrap();
        assert!(
            matches!(
                home.store.put(&home.workspace, b"x"),
                Err(Error::NotPlain { .. })
            ),
            "{}",
            place.display()
        );
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }
}

#[test]
fn a_link_in_the_place_of_a_shard_is_not_listed() {
    let home = home();
    let outside = outside(&home);
    let sha256 = home.workspace_path("blobs/sha256");
    fs::create_dir_all(&sha256).unwrap();
    symlink(outside, sha256.join("ab")).unwrap();
    let keys: Vec<_> = home.store.list(&home.workspace).unwrap().collect();
    assert!(matches!(&keys[..], [Err(Error::NotPlain { .. })]));
}

#[test]
fn a_linked_upload_is_neither_written_nor_committed_nor_followed_by_removal() {
    let home = home();
    let outside = outside(&home);
    fs::create_dir_all(home.path("upload_sessions/ws_1")).unwrap();
    symlink(&outside, home.path("upload_sessions/ws_1/upl_1")).unwrap();
    let id = upload("upl_1");
    for result in [
        Upload::create(&home.store, &home.workspace, &id),
        Upload::resume(&home.store, &home.workspace, &id),
    ] {
        assert!(matches!(result, Err(Error::NotPlain { .. })));
    }
    home.store.remove_upload(&home.workspace, &id).unwrap();
    assert!(fs::symlink_metadata(home.path("upload_sessions/ws_1/upl_1")).is_err());

    fs::create_dir(home.path("upload_sessions/ws_1/upl_1")).unwrap();
    symlink(outside.join("file"), home.payload_path("upl_1")).unwrap();
    let committed = home.store.commit_upload(
        &home.workspace,
        &id,
        SECRET.len() as u64,
        ContentHash::of(SECRET),
        PayloadHash::Reread,
    );
    assert!(matches!(committed, Err(Error::NotPlain { .. })));
    home.store.remove_upload(&home.workspace, &id).unwrap();
    assert_eq!(fs::read(outside.join("file")).unwrap(), SECRET);
}

#[test]
fn a_named_pipe_in_the_place_of_a_blob_does_not_block() {
    let home = home();
    let place = home.blob_path(b"x");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    rustix::fs::mknodat(CWD, &place, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert_eq!(
        home.store.verify(&home.key(b"x")).unwrap(),
        Verified::Damaged
    );
}
