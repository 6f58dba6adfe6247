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
/// Small enough to be still in the processor's cache when it is hashed.
const PIECE: usize = 64 * 1024;
/// How many bytes are hashed before the disk begins to write them.
const WRITE_BACK_EVERY: u64 = 8 * 1024 * 1024;

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
                    let mut piece = vec![0; PIECE];
                    loop {
                        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
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
    /// The disk has been asked to write this many bytes.
    written_back: u64,
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
        let mut piece = vec![0; PIECE];
        while self.step(&mut progress, &mut piece)? {}
        Ok(Digest {
            sha256: ContentHash::from_hasher(progress.hasher.clone()),
            size: progress.hashed,
        })
    }

    fn follow(&self, piece: &mut [u8]) {
        // Cleared first: bytes that arrive while we finish queue the upload again.
        self.is_queued.store(false, Ordering::Release);
        // The lock is free between pieces, so that finishing takes over instead of waiting.
        // A read error ends this run; `finish` meets it again and reports it.
        loop {
            let mut progress = self.lock();
            match self.step(&mut progress, piece) {
                Ok(true) => self.write_back(&mut progress),
                Ok(false) | Err(_) => return,
            }
        }
    }

    /// Hashes one piece; false when nothing is left.
    fn step(&self, progress: &mut Progress, piece: &mut [u8]) -> Result<bool> {
        let left = self
            .received
            .load(Ordering::Acquire)
            .saturating_sub(progress.hashed);
        if left == 0 {
            return Ok(false);
        }
        let length = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
        let piece = &mut piece[..length];
        self.file
            .read_exact_at(piece, progress.hashed)
            .map_err(io_error("read back an upload"))?;
        progress.hasher.update(&*piece);
        progress.hashed += piece.len() as u64;
        Ok(true)
    }

    /// Lets the disk begin while more bytes arrive, so that the one who finishes waits for the last few only.
    ///
    /// Linux takes this advice as "start writing what is dirty". Unlike a sync it neither waits nor takes note of
    /// write errors, which the sync of the finished blob must still see.
    fn write_back(&self, progress: &mut Progress) {
        let length = progress.hashed - progress.written_back;
        if length < WRITE_BACK_EVERY {
            return;
        }
        #[cfg(target_os = "linux")]
        let _ = rustix::fs::fadvise(
            &self.file,
            progress.written_back,
            std::num::NonZeroU64::new(length),
            rustix::fs::Advice::DontNeed,
        );
        progress.written_back = progress.hashed;
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
