//! The hashes of the chunks of an upload, kept for whoever downloads it.
//!
//! They came with the chunks and were compared with them before these were stored, or were made when all the bytes
//! had the hash they should have. So a download need not hash them again, and a chunk that a disk has damaged since
//! does not get past whoever verifies it.

use std::num::NonZeroUsize;

use blobs::key::ContentHash;
use crud::ChunkHashes;

use super::limits;

/// Smaller chunks have too many hashes to keep.
const MIN_CHUNK: u64 = 64 << 10;
const DIGITS: usize = 64;

/// What is known of the chunks of an upload from its first byte on.
#[derive(Debug, Default)]
pub(super) struct Collected {
    chunk: u64,
    received: u64,
    hashes: String,
}

impl Collected {
    /// Adds the next chunk of an upload of `total` bytes. Answers whether a hash is known for all of them still: each
    /// chunk needs one, and all but the last need the same size.
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
        match is_last {
            true => length <= self.chunk,
            false => length == self.chunk && length >= MIN_CHUNK,
        }
    }

    /// The hashes, if they are those of `total` bytes. A single chunk has the hash of the whole, which is known anyway.
    pub(super) fn of_all(self, total: u64) -> Option<ChunkHashes> {
        let chunk_bytes = i64::try_from(self.chunk).ok()?;
        let is_worth_it = self.received == total && self.chunk < total;
        is_worth_it.then_some(ChunkHashes {
            chunk_bytes,
            hashes: self.hashes,
        })
    }
}

/// How long the chunks are whose hashes a verification makes: as those that are kept, or as a download wants them if
/// it does not say.
pub(super) fn size_of(kept: Option<&ChunkHashes>) -> NonZeroUsize {
    const RECOMMENDED: NonZeroUsize =
        NonZeroUsize::new(limits::RECOMMENDED_CHUNK as usize).expect("it is not zero");
    let kept = kept.and_then(|kept| u64::try_from(kept.chunk_bytes).ok());
    let kept = kept.filter(|kept| (MIN_CHUNK..=limits::MAX_CHUNK).contains(kept));
    kept.and_then(|kept| NonZeroUsize::new(usize::try_from(kept).ok()?))
        .unwrap_or(RECOMMENDED)
}

/// The hashes a verification made, if there is more than one: that of a single chunk is that of the whole.
pub(super) fn of_chunks(chunk: NonZeroUsize, hashes: &[ContentHash]) -> Option<ChunkHashes> {
    let is_worth_it = hashes.len() > 1;
    Some(ChunkHashes {
        chunk_bytes: i64::try_from(chunk.get()).ok()?,
        hashes: hashes.iter().map(ToString::to_string).collect(),
    })
    .filter(|_| is_worth_it)
}

/// The hash of a range of `size` bytes, if it is one of their chunks.
pub(crate) fn of_range(
    chunks: &ChunkHashes,
    size: u64,
    offset: u64,
    length: u64,
) -> Option<String> {
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

    /// The hashes of an upload whose chunks have these sizes and come with `a…`, `b…` and so on.
    fn collect(sizes: &[u64]) -> Option<ChunkHashes> {
        let total = sizes.iter().sum();
        let mut collected = Collected::default();
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
        let mut collected = Collected::default();
        assert!(collected.add(64 * K, 128 * K, Some(&digits('a'))));
        assert!(!collected.add(64 * K, 128 * K, None));
        assert_eq!(collected.of_all(128 * K), None);
    }

    #[test]
    fn a_verification_makes_hashes_of_the_size_that_is_kept_or_else_recommended() {
        let size = |chunk_bytes| {
            let hashes = String::new();
            size_of(Some(&ChunkHashes {
                chunk_bytes,
                hashes,
            }))
            .get() as u64
        };
        let recommended = limits::RECOMMENDED_CHUNK;
        assert_eq!(size_of(None).get() as u64, recommended);
        assert_eq!([size(70_000), size(1 << 20)], [70_000, 1 << 20]);
        // Too many hashes, or nothing that anybody can ask for.
        for senseless in [-1, 0, 1, 65_535, (1 << 20) + 1, i64::MAX, i64::MIN] {
            assert_eq!(size(senseless), recommended, "{senseless}");
        }
    }

    #[test]
    fn a_verification_of_a_single_chunk_makes_none() {
        let hash = ContentHash::of(b"x");
        let of_chunks = |hashes: &[ContentHash]| of_chunks(size_of(None), hashes);
        assert_eq!([of_chunks(&[]), of_chunks(&[hash])], [None, None]);
        let hashes = format!("{hash}{hash}");
        let chunk_bytes = 256 << 10;
        let two = ChunkHashes {
            chunk_bytes,
            hashes,
        };
        assert_eq!(of_chunks(&[hash, hash]), Some(two));
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
