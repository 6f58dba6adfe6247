//! A cache of query results that is invalidated by any write of any process.
//!
//! A result is cached with the data version that the database had before it was read, and returned only while that
//! version is current: every commit of another connection, in this process or another, changes it. A cached result is
//! therefore never older than a query would return, and checking the version needs neither the disk nor another thread.

use std::{collections::BTreeMap, path::PathBuf};

use parking_lot::Mutex;

use crate::sqlite;

/// Maximum size of one cache, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Reads the data version on a dedicated connection.
pub(crate) struct Versions {
    path: PathBuf,
    /// Opened on first use and never replaced, because the versions of two connections cannot be compared.
    connection: Mutex<Option<rusqlite::Connection>>,
}

impl Versions {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            connection: Mutex::new(None),
        }
    }

    /// Returns the current version. Returns `None` if it cannot be read; then no cached result may be used.
    pub(crate) fn current(&self) -> Option<i64> {
        let mut connection = self.connection.lock();
        if connection.is_none() {
            *connection = sqlite::open_for_version(&self.path).ok();
        }
        let mut statement = connection
            .as_ref()?
            .prepare_cached("PRAGMA data_version")
            .ok()?;
        statement.query_row([], |row| row.get(0)).ok()
    }
}

/// The cached results of one kind of query.
pub(crate) struct Memo<K, V> {
    kept: Mutex<CachedAnswers<K, V>>,
    /// Estimates the size of a result, in bytes.
    size: fn(&V) -> usize,
}

struct CachedAnswers<K, V> {
    /// The data version of all cached results.
    version: i64,
    answers: BTreeMap<K, V>,
    bytes: usize,
}

impl<K: Ord, V: Clone> Memo<K, V> {
    pub(crate) fn new(size: fn(&V) -> usize) -> Self {
        Self {
            kept: Mutex::new(CachedAnswers {
                version: 0,
                answers: BTreeMap::new(),
                bytes: 0,
            }),
            size,
        }
    }

    /// Returns the cached result if it belongs to this version.
    pub(crate) fn get(&self, key: &K, version: i64) -> Option<V> {
        let kept = self.kept.lock();
        if kept.version == version {
            kept.answers.get(key).cloned()
        } else {
            None
        }
    }

    /// Caches a result that was read after `version` was observed. Clears the cache if the version changed or the cache
    /// is full.
    pub(crate) fn keep(&self, key: K, value: &V, version: i64) {
        let bytes = (self.size)(value);
        let mut kept = self.kept.lock();
        if kept.version != version || kept.bytes + bytes > MAX_BYTES {
            kept.answers.clear();
            kept.bytes = 0;
            kept.version = version;
        }
        if bytes <= MAX_BYTES && kept.answers.insert(key, value.clone()).is_none() {
            kept.bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_given_at_its_version_only() {
        let memo = Memo::new(String::len);
        memo.keep(1, &"one".to_owned(), 7);
        assert_eq!(memo.get(&1, 7).as_deref(), Some("one"));
        assert_eq!(memo.get(&1, 8), None);
        memo.keep(2, &"two".to_owned(), 8);
        assert_eq!(memo.get(&1, 8), None);
        assert_eq!(memo.get(&2, 8).as_deref(), Some("two"));
    }

    #[test]
    fn no_more_is_kept_than_there_is_room() {
        let memo = Memo::new(String::len);
        memo.keep(1, &"x".repeat(MAX_BYTES), 7);
        memo.keep(2, &"two".to_owned(), 7);
        assert_eq!(memo.get(&1, 7), None);
        assert_eq!(memo.get(&2, 7).as_deref(), Some("two"));
        memo.keep(3, &"x".repeat(MAX_BYTES + 1), 7);
        assert_eq!(memo.get(&3, 7), None);
    }
}
