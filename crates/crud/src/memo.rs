//! Answers that are kept until somebody writes, whichever process that is.
//!
//! An answer is kept with the data version the database had before it was read, and given again only while that is
//! still the version: every commit of another connection, in this process or elsewhere, changes it. So a kept answer
//! is never older than what a query would find, and asking for the version needs neither the disk nor another thread.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use crate::sqlite;

/// Bytes that one memo keeps.
const MAX_BYTES: usize = 4 << 20;

/// Tells the data version, on a connection that does nothing else.
pub(crate) struct Versions {
    path: PathBuf,
    /// Made with the first question and never again: the versions of two connections cannot be compared.
    connection: Mutex<Option<rusqlite::Connection>>,
}

impl Versions {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            connection: Mutex::new(None),
        }
    }

    /// The version now. None when the database does not say: then nothing kept may be used.
    pub(crate) fn current(&self) -> Option<i64> {
        let mut connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
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

/// The answers to one kind of question.
pub(crate) struct Memo<K, V> {
    kept: Mutex<Kept<K, V>>,
    /// About how many bytes an answer takes.
    size: fn(&V) -> usize,
}

struct Kept<K, V> {
    /// The version all answers belong to.
    version: i64,
    answers: BTreeMap<K, V>,
    bytes: usize,
}

impl<K: Ord, V: Clone> Memo<K, V> {
    pub(crate) fn new(size: fn(&V) -> usize) -> Self {
        Self {
            kept: Mutex::new(Kept {
                version: 0,
                answers: BTreeMap::new(),
                bytes: 0,
            }),
            size,
        }
    }

    /// The answer, if it is still true at this version.
    pub(crate) fn get(&self, key: &K, version: i64) -> Option<V> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.version == version {
            true => kept.answers.get(key).cloned(),
            false => None,
        }
    }

    /// Keeps what was read after `version` was the current one.
    pub(crate) fn keep(&self, key: K, value: &V, version: i64) {
        let bytes = (self.size)(value);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
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
