//! Remembers which files were verified, so that an unchanged file is not hashed on every read.
//!
//! A file counts as unchanged while its inode, size and times stay the same. Changes below the file system, such as
//! disk corruption, are not visible there; the weekly verification and the hashes that clients compare detect them.

use std::{
    collections::{BTreeMap, VecDeque},
    fs::File,
    os::unix::fs::MetadataExt as _,
    time::{Duration, SystemTime},
};

use crate::{Result, error::io_error, key::BlobKey};

/// Maximum number of remembered blobs, about 200 bytes each. Beyond it the oldest entry is dropped, and that blob is
/// hashed again when read.
const MAX_REMEMBERED: usize = 4096;
/// Two writes within one tick of the kernel's clock can have the same times. Times older than this are unambiguous.
const CLOCK_TICK: Duration = Duration::from_millis(50);

/// The file metadata that changes with every write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlobStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl BlobStamp {
    pub(crate) fn of(file: &File) -> Result<BlobStamp> {
        let found = file
            .metadata()
            .map_err(io_error("read the metadata of a blob"))?;
        Ok(BlobStamp {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    /// Returns whether any later write is guaranteed to produce a different stamp.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(SystemTime::UNIX_EPOCH);
        let (Ok(now), Ok(seconds)) = (now, u64::try_from(self.changed.0)) else {
            return false;
        };
        let nanos = u32::try_from(self.changed.1).unwrap_or(0);
        let changed = Duration::new(seconds, nanos);
        now.checked_sub(changed)
            .is_some_and(|age| age >= CLOCK_TICK)
    }
}

/// The stamps of files whose bytes matched the hash of their key.
#[derive(Debug, Default)]
pub(crate) struct VerifiedStamps {
    stamps: BTreeMap<BlobKey, BlobStamp>,
    /// The keys in insertion order.
    order: VecDeque<BlobKey>,
}

impl VerifiedStamps {
    pub(crate) fn contains(&self, key: &BlobKey, stamp: &BlobStamp) -> bool {
        self.stamps.get(key) == Some(stamp)
    }

    pub(crate) fn insert(&mut self, key: &BlobKey, stamp: BlobStamp) {
        if self.stamps.insert(key.clone(), stamp).is_none() {
            self.order.push_back(key.clone());
        }
        while self.order.len() > MAX_REMEMBERED {
            if let Some(oldest) = self.order.pop_front() {
                self.stamps.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{ContentHash, WorkspaceSegment};

    #[test]
    fn no_more_stamps_are_kept_than_fit() {
        let file = tempfile::tempfile().unwrap();
        let stamp = BlobStamp::of(&file).unwrap();
        let mut stamps = VerifiedStamps::default();
        let key = |number: usize| {
            let workspace = WorkspaceSegment::new("ws").unwrap();
            BlobKey::new(workspace, ContentHash::of(&number.to_be_bytes()))
        };
        for number in 0..=MAX_REMEMBERED {
            stamps.insert(&key(number), stamp);
        }
        assert_eq!(stamps.stamps.len(), MAX_REMEMBERED);
        assert!(!stamps.contains(&key(0), &stamp));
        assert!(stamps.contains(&key(MAX_REMEMBERED), &stamp));
    }

    #[test]
    fn a_stamp_is_settled_once_the_clock_has_moved_on() {
        let file = tempfile::tempfile().unwrap();
        let changed = file.metadata().unwrap();
        let changed = SystemTime::UNIX_EPOCH
            + Duration::new(
                changed.ctime().unsigned_abs(),
                u32::try_from(changed.ctime_nsec()).unwrap(),
            );
        let stamp = BlobStamp::of(&file).unwrap();
        assert!(!stamp.is_settled(changed));
        assert!(!stamp.is_settled(changed - CLOCK_TICK));
        assert!(stamp.is_settled(changed + CLOCK_TICK));
    }
}
