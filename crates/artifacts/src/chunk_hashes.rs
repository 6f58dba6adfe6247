//! Stores the hashes of the chunks of an upload, so that downloads can reuse them.
//!
//! The hashes were sent with the chunks and verified before storing, or computed when the whole content was verified. A
//! download does not compute them again, and a client that verifies them detects chunks damaged on disk since.

use blobs::key::ContentHash;
use crud::ChunkHashes;

use super::limits;

/// The minimum chunk size in bytes for which hashes are kept; smaller chunks have too many hashes.
const MIN_CHUNK: u64 = 64 << 10;
const DIGITS: usize = 64;

/// The chunk hashes of an upload, collected from its first byte on.
#[derive(Debug, Default)]
pub(super) struct CollectedHashes {
    chunk: u64,
    received: u64,
    hashes: String,
}

impl CollectedHashes {
    /// Adds the next chunk of an upload of `total` bytes. Returns whether the collection is still usable: every chunk
    /// needs a hash, and all but the last need the same size.
    pub(super) fn add(&mut self, length: u64, total: u64, sha256: Option<&str>) -> bool {
        let Some(sha256) = sha256 else {
            return false;
        };
        if self.received == 0 {
            self.chunk = length;
        }
        self.received += length;
        self.hashes.push_str(sha256);
        let is_last = self.received == total;
        if is_last {
            length <= self.chunk
        } else {
            length == self.chunk && length >= MIN_CHUNK
        }
    }

    /// Returns the hashes if they cover `total` bytes. Returns `None` for a single chunk, whose hash is that of the
    /// whole.
    pub(super) fn of_all(self, total: u64) -> Option<ChunkHashes> {
        let chunk_bytes = i64::try_from(self.chunk).ok()?;
        let is_worth_it = self.received == total && self.chunk < total;
        is_worth_it.then_some(ChunkHashes {
            chunk_bytes,
            hashes: self.hashes,
        })
    }
}

/// Returns the hashes of chunks of the recommended size, or `None` for a single chunk, whose hash is that of the whole.
pub(super) fn of_recommended(hashes: &[ContentHash]) -> Option<ChunkHashes> {
    let chunk_bytes = i64::try_from(limits::RECOMMENDED_CHUNK).ok()?;
    (hashes.len() > 1).then(|| ChunkHashes {
        chunk_bytes,
        hashes: hashes.iter().map(ToString::to_string).collect(),
    })
}

/// Returns the hash of a range of a file of `size` bytes, or `None` if the range is not one of its chunks.
pub fn of_range(chunks: &ChunkHashes, size: u64, offset: u64, length: u64) -> Option<String> {
    let chunk = u64::try_from(chunks.chunk_bytes).ok()?;
    let is_chunk =
        offset.checked_rem(chunk)? == 0 && size.checked_sub(offset)?.min(chunk) == length;
    if !is_chunk {
        return None;
    }
    let begin = usize::try_from(offset / chunk).ok()?.checked_mul(DIGITS)?;
    let hash = chunks.hashes.get(begin..begin.checked_add(DIGITS)?)?;
    Some(hash.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const K: u64 = 1 << 10;

    fn digits(digit: char) -> String {
        digit.to_string().repeat(DIGITS)
    }

    /// Returns the hashes of an upload whose chunks have these sizes and the hashes `a…`, `b…` and so on.
    fn collect(sizes: &[u64]) -> Option<ChunkHashes> {
        let total = sizes.iter().sum();
        let mut collected = CollectedHashes::default();
        let mut sizes = sizes.iter().zip('a'..);
        let fits = sizes.all(|(size, digit)| collected.add(*size, total, Some(&digits(digit))));
        fits.then(|| collected.of_all(total)).flatten()
    }

    #[test]
    fn a_range_that_is_a_chunk_has_its_hash() {
        let chunks = collect(&[64 * K, 64 * K, 5]).unwrap();
        let size = 128 * K + 5;
        let of_range = |offset, length| of_range(&chunks, size, offset, length);
        assert_eq!(of_range(0, 64 * K), Some(digits('a')));
        assert_eq!(of_range(64 * K, 64 * K), Some(digits('b')));
        assert_eq!(of_range(128 * K, 5), Some(digits('c')));
        for (offset, length) in [
            (0, 64 * K - 1),
            (0, 128 * K),
            (1, 64 * K),
            (128 * K, 4),
            (128 * K + 5, 0),
            (192 * K, 5),
            (u64::MAX, 1),
        ] {
            assert_eq!(of_range(offset, length), None, "{length} at {offset}");
        }
    }

    #[test]
    fn chunks_of_other_sizes_small_ones_and_a_single_one_are_not_kept() {
        for sizes in [
            &[5][..],
            &[64 * K, 65 * K, 1],
            &[64 * K, 65 * K],
            &[64 * K, 1, 64 * K],
            &[K, K],
            &[],
        ] {
            assert_eq!(collect(sizes), None, "{sizes:?}");
        }
    }

    #[test]
    fn one_chunk_without_a_hash_is_too_many() {
        let mut collected = CollectedHashes::default();
        assert!(collected.add(64 * K, 128 * K, Some(&digits('a'))));
        assert!(!collected.add(64 * K, 128 * K, None));
        assert_eq!(collected.of_all(128 * K), None);
    }

    #[test]
    fn the_hash_of_a_single_chunk_is_not_kept() {
        let hash = ContentHash::of(b"x");
        let kept = [&[][..], &[hash]].map(of_recommended);
        assert_eq!(kept, [None, None]);
        let two = ChunkHashes {
            chunk_bytes: 256 << 10,
            hashes: format!("{hash}{hash}"),
        };
        assert_eq!(of_recommended(&[hash, hash]), Some(two));
    }

    #[test]
    fn a_row_that_makes_no_sense_has_no_hashes() {
        for (chunk_bytes, hashes) in [(0, digits('a')), (64, String::new()), (-64, digits('a'))] {
            let chunks = ChunkHashes {
                chunk_bytes,
                hashes,
            };
            assert_eq!(of_range(&chunks, 64, 0, 64), None);
            assert_eq!(of_range(&chunks, u64::MAX, u64::MAX - 1, 1), None);
        }
    }
}
