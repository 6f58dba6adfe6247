//! Collection: removes blobs that nothing refers to.
//!
//! What is live is the database's knowledge. A blob is committed before it is recorded, so only blobs that were not
//! touched for a while are removed; finding a blob again by content touches it.

use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

use crate::{
    Result,
    key::{ContentHash, WorkspaceSegment},
    store::{BlobStore, Removed},
};

/// What a collection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// How many blobs were removed.
    pub removed_blobs: u64,
    /// How many bytes they had.
    pub removed_bytes: u64,
    /// How many blobs nothing refers to, but are too young to go.
    pub kept_young: u64,
}

/// Removes the blobs of a workspace that are not live and were not touched for `min_age`.
pub fn collect(
    store: &dyn BlobStore,
    workspace: &WorkspaceSegment,
    live: &BTreeSet<ContentHash>,
    now: SystemTime,
    min_age: Duration,
) -> Result<Collected> {
    let mut collected = Collected::default();
    // Before the first moment there is nothing that old.
    let Some(before) = now.checked_sub(min_age) else {
        return Ok(collected);
    };
    for key in store.list(workspace)? {
        let key = key?;
        if live.contains(&key.sha256()) {
            continue;
        }
        // Something that is not a file has no size and is no blob; verification reports it.
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
