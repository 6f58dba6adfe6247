//! Hashing on other threads than the ones that receive.
//!
//! A receiving upload has one running hash that follows its file. What was just written is hashed from memory, as long
//! as little enough waits there; the rest is read back, out of the page cache, so resuming is the same work from byte
//! zero. The threads are shared by all uploads of a store; each upload is at most once in their queue.

use std::{
    collections::VecDeque,
    fmt,
    fs::File,
    mem,
    num::NonZeroUsize,
    os::unix::fs::FileExt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
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
/// How many bytes arrive before the disk begins to write them.
const WRITE_BACK_EVERY: u64 = 1024 * 1024;
/// How many bytes of all uploads of a store may wait in memory for their hash.
const MAX_WAITING: usize = 8 * 1024 * 1024;

/// Bytes somebody shares with us.
pub(crate) type Shared = Box<dyn AsRef<[u8]> + Send>;

/// The threads that hash; they end when the store and its last upload are gone.
#[derive(Clone, Debug)]
pub(crate) struct Hashers {
    queue: mpsc::Sender<Weak<RunningHash>>,
    /// Bytes that wait in memory.
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
        Ok(Hashers {
            queue,
            waiting: Arc::default(),
        })
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
pub(crate) struct RunningHash {
    file: File,
    received: AtomicU64,
    is_queued: AtomicBool,
    progress: Mutex<Progress>,
    /// Bytes that were written and are still in memory, with where they begin, in their order.
    recent: Mutex<VecDeque<(u64, Shared)>>,
    /// Bytes that wait in memory, of all uploads.
    waiting: Arc<AtomicUsize>,
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

    /// The file has this many good bytes now.
    pub(crate) fn set_received(&self, received: u64) {
        self.received.store(received, Ordering::Release);
    }

    /// Lends the bytes that were written at `offset`, so that they need not be read back. Before they count as received.
    pub(crate) fn lend(&self, offset: u64, bytes: Shared) {
        let length = (*bytes).as_ref().len();
        let waiting = self.waiting.fetch_add(length, Ordering::Relaxed);
        if waiting + length <= MAX_WAITING {
            self.recent().push_back((offset, bytes));
        } else {
            self.waiting.fetch_sub(length, Ordering::Relaxed);
        }
    }

    /// The file was cut to this many bytes: what was hashed beyond them no longer counts.
    pub(crate) fn cut(&self, received: u64) {
        let mut progress = self.lock();
        self.set_received(received);
        while self.take_recent().is_some() {}
        if progress.hashed > received {
            *progress = Progress::default();
        }
        progress.written_back = progress.written_back.min(received);
    }

    /// Hashes what is left and answers for everything received.
    pub(crate) fn finish(&self) -> Result<Digest> {
        let mut progress = self.lock();
        self.write_back(&mut progress, 1);
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
                Ok(true) => self.write_back(&mut progress, WRITE_BACK_EVERY),
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

    /// The oldest bytes that wait in memory.
    fn take_recent(&self) -> Option<(u64, Shared)> {
        let taken = self.recent().pop_front();
        if let Some((_, bytes)) = &taken {
            let length = (**bytes).as_ref().len();
            self.waiting.fetch_sub(length, Ordering::Relaxed);
        }
        taken
    }

    fn recent(&self) -> MutexGuard<'_, VecDeque<(u64, Shared)>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the disk begin while bytes arrive and are hashed, so that the one who finishes waits for the last few only.
    ///
    /// Linux takes this advice as "start writing what is dirty". Unlike a sync it neither waits nor takes note of
    /// write errors, which the sync of the finished blob must still see.
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
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Hashes a whole file, and each of its chunks of this many bytes.
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

/// Reads a whole file; answers its size.
fn read_pieces(file: &File, mut take: impl FnMut(&[u8])) -> Result<u64> {
    let mut piece = vec![0; PIECE];
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
