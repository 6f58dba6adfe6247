//! Garbage collection of blobs that nothing refers to.
//!
//! The database determines which blobs are live. A blob is committed before it is recorded there, so only blobs that
//! have not been touched for a minimum age are removed; committing the same content again touches the blob.

use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

use crate::{
    Result,
    key::{ContentHash, WorkspaceSegment},
    store::{BlobStore, Removed},
};

/// The result of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// The number of blobs removed.
    pub removed_blobs: u64,
    /// The total size of the removed blobs, in bytes.
    pub removed_bytes: u64,
    /// The number of unreferenced blobs that were kept because they are too young.
    pub kept_young: u64,
}

/// Removes the blobs of a workspace that are not live and have not been touched for `min_age`.
pub fn collect(
    store: &dyn BlobStore,
    workspace: &WorkspaceSegment,
    live: &BTreeSet<ContentHash>,
    now: SystemTime,
    min_age: Duration,
) -> Result<Collected> {
    let mut collected = Collected::default();
    // The cutoff precedes the earliest representable time, so nothing is old enough.
    let Some(before) = now.checked_sub(min_age) else {
        return Ok(collected);
    };
    for key in store.list(workspace)? {
        let key = key?;
        if live.contains(&key.sha256()) {
            continue;
        }
        // An entry that is not a regular file has no size and is not a blob; verification reports it.
        let Ok(size) = store.size(&key) else {
            continue;
        };
        match store.remove_untouched_since(&key, before)? {
            Removed::Removed => {
                collected.removed_blobs += 1;
                collected.removed_bytes += size;
            }
            Removed::Kept => collected.kept_young += 1,
            Removed::Missing => {}
        }
    }
    Ok(collected)
}
