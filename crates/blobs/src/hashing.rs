//! Hashing on dedicated threads, apart from the threads that receive uploads.
//!
//! An upload in progress has one running hash that follows its file. Bytes just written are hashed from memory while
//! few enough are waiting; the rest is read back from the page cache, so that resuming is the same work starting at
//! byte zero. All uploads of a store share the threads, and each upload is in their queue at most once.

use std::{
    collections::VecDeque,
    fmt,
    fs::File,
    mem,
    num::NonZeroUsize,
    os::unix::fs::FileExt,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use parking_lot::{Mutex, MutexGuard};
use sha2::{Digest as _, Sha256};

use crate::{
    Error, Result,
    error::io_error,
    key::{ContentHash, Digest},
};

const THREADS: usize = 2;
/// Read size, in bytes; small enough to stay in the CPU cache while it is hashed.
pub(crate) const READ_BYTES: usize = 64 * 1024;
/// Number of received bytes after which write-back to the disk is started.
const WRITE_BACK_EVERY: u64 = 1024 * 1024;
/// Maximum number of bytes, over all uploads of a store, that wait in memory to be hashed.
const MAX_WAITING: usize = 8 * 1024 * 1024;

/// Bytes shared with the sender of a chunk.
pub(crate) type SharedBytes = Box<dyn AsRef<[u8]> + Send>;

/// The hashing threads. They end when the store and its last upload are dropped.
#[derive(Clone, Debug)]
pub(crate) struct Hashers {
    queue: mpsc::Sender<Weak<RunningHash>>,
    /// Bytes that wait in memory, over all uploads.
    waiting: Arc<AtomicUsize>,
}

impl Hashers {
    pub(crate) fn start() -> Result<Hashers> {
        let (queue, jobs) = mpsc::channel::<Weak<RunningHash>>();
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..THREADS {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new()
                .name("blob-hasher".to_owned())
                .spawn(move || {
                    let mut piece = vec![0; READ_BYTES];
                    loop {
                        let job = jobs.lock().recv();
                        match job {
                            Ok(job) => {
                                if let Some(hash) = job.upgrade() {
                                    hash.follow(&mut piece);
                                }
                            }
                            Err(mpsc::RecvError) => return,
                        }
                    }
                })
                .map_err(io_error("start a hashing thread"))?;
        }
        Ok(Hashers {
            queue,
            waiting: Arc::default(),
        })
    }

    /// Queues this hash, so that a thread brings it up to date with the received bytes.
    pub(crate) fn wake(&self, hash: &Arc<RunningHash>) {
        if !hash.is_queued.swap(true, Ordering::AcqRel) {
            // If sending fails, `finish` still computes the hash.
            let _ = self.queue.send(Arc::downgrade(hash));
        }
    }
}

/// The running hash of a file that still grows.
pub(crate) struct RunningHash {
    file: File,
    received: AtomicU64,
    is_queued: AtomicBool,
    progress: Mutex<Progress>,
    /// Bytes that were written and are still in memory, with their offsets, in order.
    recent: Mutex<VecDeque<(u64, SharedBytes)>>,
    /// Bytes that wait in memory, over all uploads.
    waiting: Arc<AtomicUsize>,
}

#[derive(Clone, Debug, Default)]
struct Progress {
    hasher: Sha256,
    hashed: u64,
    /// The number of bytes for which write-back has been requested.
    written_back: u64,
}

impl RunningHash {
    /// Creates a hash that follows the file from its beginning.
    pub(crate) fn new(file: File, received: u64, hashers: &Hashers) -> Arc<RunningHash> {
        Arc::new(RunningHash {
            file,
            received: AtomicU64::new(received),
            is_queued: AtomicBool::new(false),
            progress: Mutex::default(),
            recent: Mutex::default(),
            waiting: Arc::clone(&hashers.waiting),
        })
    }

    /// Sets the number of valid bytes in the file.
    pub(crate) fn set_received(&self, received: u64) {
        self.received.store(received, Ordering::Release);
    }

    /// Lends the bytes written at `offset`, so that they need not be read back. Must be called before they count as
    /// received.
    pub(crate) fn lend(&self, offset: u64, bytes: SharedBytes) {
        let length = (*bytes).as_ref().len();
        let waiting = self.waiting.fetch_add(length, Ordering::Relaxed);
        if waiting + length <= MAX_WAITING {
            self.recent().push_back((offset, bytes));
        } else {
            self.waiting.fetch_sub(length, Ordering::Relaxed);
        }
    }

    /// Adjusts the hash to a file truncated to `received` bytes. Starts over if more than that was hashed.
    pub(crate) fn cut(&self, received: u64) {
        let mut progress = self.lock();
        self.set_received(received);
        while self.take_recent().is_some() {}
        if progress.hashed > received {
            *progress = Progress::default();
        }
        progress.written_back = progress.written_back.min(received);
    }

    /// Hashes the remaining bytes and returns the digest of everything received.
    pub(crate) fn finish(&self) -> Result<Digest> {
        let mut progress = self.lock();
        self.write_back(&mut progress, 1);
        let mut piece = vec![0; READ_BYTES];
        while self.step(&mut progress, &mut piece)? {}
        Ok(Digest {
            sha256: ContentHash::from_hasher(progress.hasher.clone()),
            size: progress.hashed,
        })
    }

    fn follow(&self, piece: &mut [u8]) {
        // Cleared first, so that bytes arriving during the last step queue the upload again.
        self.is_queued.store(false, Ordering::Release);
        // The lock is released between pieces, so that `finish` can take over instead of waiting. A read error ends
        // this run; `finish` encounters and reports it.
        loop {
            let mut progress = self.lock();
            match self.step(&mut progress, piece) {
                Ok(true) => self.write_back(&mut progress, WRITE_BACK_EVERY),
                Ok(false) | Err(_) => return,
            }
        }
    }

    /// Hashes one piece. Returns false if nothing is left.
    fn step(&self, progress: &mut Progress, piece: &mut [u8]) -> Result<bool> {
        let left = self
            .received
            .load(Ordering::Acquire)
            .saturating_sub(progress.hashed);
        if left == 0 {
            return Ok(false);
        }
        let begin = loop {
            let begin = self.recent().front().map(|(offset, _)| *offset);
            match begin {
                Some(begin) if begin < progress.hashed => drop(self.take_recent()),
                begin => break begin,
            }
        };
        if begin == Some(progress.hashed)
            && let Some((_, bytes)) = self.take_recent()
        {
            let bytes = (*bytes).as_ref();
            progress.hasher.update(bytes);
            progress.hashed += bytes.len() as u64;
            return Ok(true);
        }
        let left = begin.map_or(left, |begin| left.min(begin - progress.hashed));
        let length = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
        let piece = &mut piece[..length];
        self.file
            .read_exact_at(piece, progress.hashed)
            .map_err(io_error("read back an upload"))?;
        progress.hasher.update(&*piece);
        progress.hashed += piece.len() as u64;
        Ok(true)
    }

    /// Removes the oldest bytes that wait in memory.
    fn take_recent(&self) -> Option<(u64, SharedBytes)> {
        let taken = self.recent().pop_front();
        if let Some((_, bytes)) = &taken {
            let length = (**bytes).as_ref().len();
            self.waiting.fetch_sub(length, Ordering::Relaxed);
        }
        taken
    }

    fn recent(&self) -> MutexGuard<'_, VecDeque<(u64, SharedBytes)>> {
        self.recent.lock()
    }

    /// Starts write-back to the disk while bytes arrive and are hashed, so that the final sync only waits for the last
    /// few.
    ///
    /// Linux interprets this advice as a request to start writing dirty pages. Unlike a sync, it neither waits nor
    /// consumes write errors, which the sync of the finished blob must still see.
    fn write_back(&self, progress: &mut Progress, at_least: u64) {
        let received = self.received.load(Ordering::Acquire);
        let length = received.saturating_sub(progress.written_back);
        if length < at_least {
            return;
        }
        #[cfg(target_os = "linux")]
        let _ = rustix::fs::fadvise(
            &self.file,
            progress.written_back,
            std::num::NonZeroU64::new(length),
            rustix::fs::Advice::DontNeed,
        );
        progress.written_back = received;
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        // A panic inside `step` leaves the hasher and its position as they were before the piece.
        self.progress.lock()
    }
}

impl Drop for RunningHash {
    fn drop(&mut self) {
        while self.take_recent().is_some() {}
    }
}

impl fmt::Debug for RunningHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunningHash")
            .field("received", &self.received)
            .finish_non_exhaustive()
    }
}

/// Hashes a whole file.
pub(crate) fn hash_file(file: &File) -> Result<Digest> {
    let mut hasher = Sha256::new();
    let size = read_pieces(file, |piece| hasher.update(piece))?;
    Ok(Digest {
        sha256: ContentHash::from_hasher(hasher),
        size,
    })
}

/// Hashes a whole file and each of its chunks of `chunk` bytes.
pub(crate) fn hash_chunks(file: &File, chunk: NonZeroUsize) -> Result<(Digest, Vec<ContentHash>)> {
    let (mut whole, mut current) = (Sha256::new(), Sha256::new());
    let (mut room, mut chunks) = (chunk.get(), Vec::new());
    let size = read_pieces(file, |mut piece| {
        whole.update(piece);
        while let Some((end_of_chunk, rest)) = piece.split_at_checked(room) {
            current.update(end_of_chunk);
            chunks.push(ContentHash::from_hasher(mem::take(&mut current)));
            (piece, room) = (rest, chunk.get());
        }
        current.update(piece);
        room -= piece.len();
    })?;
    if room < chunk.get() {
        chunks.push(ContentHash::from_hasher(current));
    }
    let sha256 = ContentHash::from_hasher(whole);
    Ok((Digest { sha256, size }, chunks))
}

/// Reads a whole file in pieces and returns its size.
fn read_pieces(file: &File, mut take: impl FnMut(&[u8])) -> Result<u64> {
    let mut piece = vec![0; READ_BYTES];
    let mut size = 0;
    loop {
        match file.read_at(&mut piece, size) {
            Ok(0) => return Ok(size),
            Ok(read) => {
                take(&piece[..read]);
                size += read as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(Error::Io {
                    doing: "read a blob",
                    source,
                });
            }
        }
    }
}
