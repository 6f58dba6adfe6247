//! Hashing on other threads than the ones that receive.
//!
//! A receiving upload has one running hash that follows its file: the hasher reads what was written, out of the page
//! cache, so no chunk waits in memory and resuming is the same work from byte zero. The threads are shared by all
//! uploads of a store; each upload is at most once in their queue.

use std::{
    fs::File,
    os::unix::fs::FileExt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread,
};

use sha2::{Digest as _, Sha256};

use crate::{
    Error, Result,
    error::io_error,
    key::{ContentHash, Digest},
};

const THREADS: usize = 2;
const PIECE: usize = 256 * 1024;

/// The threads that hash; they end when the store and its last upload are gone.
#[derive(Clone, Debug)]
pub(crate) struct Hashers {
    queue: mpsc::Sender<Weak<RunningHash>>,
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
                    loop {
                        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        match job {
                            Ok(job) => {
                                if let Some(hash) = job.upgrade() {
                                    hash.follow();
                                }
                            }
                            Err(mpsc::RecvError) => return,
                        }
                    }
                })
                .map_err(io_error("start a hashing thread"))?;
        }
        Ok(Hashers { queue })
    }

    /// Lets a thread bring this hash up to what was received, soon.
    pub(crate) fn wake(&self, hash: &Arc<RunningHash>) {
        if !hash.is_queued.swap(true, Ordering::AcqRel) {
            // Without threads (they never end before us) the hash is still computed, when it is asked for.
            let _ = self.queue.send(Arc::downgrade(hash));
        }
    }
}

/// The hash of a file that still grows.
#[derive(Debug)]
pub(crate) struct RunningHash {
    file: File,
    received: AtomicU64,
    is_queued: AtomicBool,
    progress: Mutex<Progress>,
}

#[derive(Clone, Debug, Default)]
struct Progress {
    hasher: Sha256,
    hashed: u64,
}

impl RunningHash {
    /// A hash that will follow the file from its beginning.
    pub(crate) fn new(file: File, received: u64) -> Arc<RunningHash> {
        Arc::new(RunningHash {
            file,
            received: AtomicU64::new(received),
            is_queued: AtomicBool::new(false),
            progress: Mutex::default(),
        })
    }

    /// The file has this many good bytes now.
    pub(crate) fn set_received(&self, received: u64) {
        self.received.store(received, Ordering::Release);
    }

    /// The file was cut to this many bytes: what was hashed beyond them no longer counts.
    pub(crate) fn cut(&self, received: u64) {
        let mut progress = self.lock();
        self.set_received(received);
        if progress.hashed > received {
            *progress = Progress::default();
        }
    }

    /// Hashes what is left and answers for everything received.
    pub(crate) fn finish(&self) -> Result<Digest> {
        let mut progress = self.lock();
        while self.step(&mut progress)? {}
        Ok(Digest {
            sha256: ContentHash::from_hasher(progress.hasher.clone()),
            size: progress.hashed,
        })
    }

    fn follow(&self) {
        // Cleared first: bytes that arrive while we finish queue the upload again.
        self.is_queued.store(false, Ordering::Release);
        // The lock is free between pieces, so that finishing takes over instead of waiting.
        // A read error ends this run; `finish` meets it again and reports it.
        while matches!(self.step(&mut self.lock()), Ok(true)) {}
    }

    /// Hashes one piece; false when nothing is left.
    fn step(&self, progress: &mut Progress) -> Result<bool> {
        let left = self
            .received
            .load(Ordering::Acquire)
            .saturating_sub(progress.hashed);
        if left == 0 {
            return Ok(false);
        }
        let mut piece = vec![0; usize::try_from(left).unwrap_or(PIECE).min(PIECE)];
        self.file
            .read_exact_at(&mut piece, progress.hashed)
            .map_err(io_error("read back an upload"))?;
        progress.hasher.update(&piece);
        progress.hashed += piece.len() as u64;
        Ok(true)
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        // A panic inside `step` leaves the hasher and its position as they were before the piece.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hashes a whole file.
pub(crate) fn hash_file(file: &File) -> Result<Digest> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; PIECE];
    let mut size = 0;
    loop {
        match file.read_at(&mut piece, size) {
            Ok(0) => break,
            Ok(read) => {
                hasher.update(&piece[..read]);
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
    Ok(Digest {
        sha256: ContentHash::from_hasher(hasher),
        size,
    })
}
