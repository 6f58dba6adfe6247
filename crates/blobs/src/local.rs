//! The blob store on the local disk, with one regular file per blob.
//!
//! ```text
//! <root>/workspaces/<workspace>/blobs/sha256/<aa>/<bb>/<hash>
//! <root>/workspaces/<workspace>/tmp/…
//! <root>/workspaces/<workspace>/quarantine/<hash>
//! <root>/upload_sessions/<workspace>/<upload>/payload.bin
//! ```
//!
//! A blob is complete and durable before it gets its final name, so a crash leaves at most a temporary file or a
//! payload behind, never a partial blob.

use std::{
    fs::{DirBuilder, File},
    io::Write,
    num::NonZeroUsize,
    os::unix::fs::{DirBuilderExt, MetadataExt as _},
    path::Path,
    process,
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use parking_lot::{Mutex, MutexGuard};
use rustix::fs::{Timespec, Timestamps, UTIME_OMIT};

use crate::{
    Error, Result,
    error::io_error,
    folder::{BlobFolder, RenameResult},
    hashing::{Hashers, hash_chunks, hash_file},
    key::{BlobKey, ContentHash, Digest, UploadSegment, WorkspaceSegment},
    stamp::{BlobStamp, VerifiedStamps},
    store::{
        BlobKeys, BlobReader, BlobStore, Committed, MAX_RANGE, PayloadHash, Removed, Verified,
    },
    upload::Upload,
};

const WORKSPACES: &str = "workspaces";
const UPLOADS: &str = "upload_sessions";
const PAYLOAD: &str = "payload.bin";
const TEMPORARY: &str = "tmp";
const QUARANTINE: &str = "quarantine";

/// The blob store on the local disk.
#[derive(Debug)]
pub struct LocalBlobs {
    root: BlobFolder,
    hashers: Hashers,
    /// Counter for the names of temporary files, so that two writers never use the same name.
    temporaries: AtomicU64,
    /// A second handle of the root. It is locked while a blob is found again and touched, and while an old one is
    /// removed: the two must exclude each other, also across processes.
    removal: Mutex<BlobFolder>,
    /// Stamps of files that were verified and have not changed since.
    verified: Mutex<VerifiedStamps>,
}

impl LocalBlobs {
    /// Opens the store and creates its directory if it is missing.
    pub fn open(root: &Path) -> Result<LocalBlobs> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(root)
            .map_err(io_error("create the artifact folder"))?;
        Ok(LocalBlobs {
            root: BlobFolder::open_root(root)?,
            removal: Mutex::new(BlobFolder::open_root(root)?),
            hashers: Hashers::start()?,
            temporaries: AtomicU64::new(0),
            verified: Mutex::default(),
        })
    }

    /// Lists the workspaces that have blobs or uploads.
    pub fn list_workspaces(&self) -> Result<Vec<WorkspaceSegment>> {
        let mut workspaces = Vec::new();
        for parent in [WORKSPACES, UPLOADS] {
            if let Some(folder) = self.root.child(parent)? {
                let names = folder.names()?;
                workspaces.extend(names.iter().flat_map(|name| WorkspaceSegment::new(name)));
            }
        }
        workspaces.sort();
        workspaces.dedup();
        Ok(workspaces)
    }

    /// Lists the uploads of a workspace that have a directory, finished or not.
    pub fn list_uploads(&self, workspace: &WorkspaceSegment) -> Result<Vec<UploadSegment>> {
        let Some(folder) = self.root.descend(&[UPLOADS, workspace.as_str()])? else {
            return Ok(Vec::new());
        };
        let names = folder.names()?;
        Ok(names
            .iter()
            .flat_map(|name| UploadSegment::new(name))
            .collect())
    }

    /// Removes an upload and its bytes. A missing upload is not an error.
    pub fn remove_upload(
        &self,
        workspace: &WorkspaceSegment,
        upload: &UploadSegment,
    ) -> Result<()> {
        let Some(uploads) = self.root.descend(&[UPLOADS, workspace.as_str()])? else {
            return Ok(());
        };
        let folder = match uploads.child(upload.as_str()) {
            Ok(Some(folder)) => folder,
            Ok(None) => return Ok(()),
            // A link or file was planted here: remove the entry itself, not its target.
            Err(Error::NotPlain { .. }) => {
                return uploads.remove_file(upload.as_str()).map(|_| ());
            }
            Err(error) => return Err(error),
        };
        folder.remove_file(PAYLOAD)?;
        uploads.remove_child(upload.as_str())
    }

    /// Removes temporary files last modified before `before`, which a crash left behind. Returns their number.
    pub fn remove_temporaries(
        &self,
        workspace: &WorkspaceSegment,
        before: SystemTime,
    ) -> Result<usize> {
        let names = [WORKSPACES, workspace.as_str(), TEMPORARY];
        let Some(folder) = self.root.descend(&names)? else {
            return Ok(0);
        };
        let mut removed = 0;
        for name in folder.names()? {
            let Some(file) = folder.open_file(&name)? else {
                continue;
            };
            if modified_at(&file)? < before && folder.remove_file(&name)? {
                removed += 1;
            }
        }
        Ok(removed)
    }

    pub(crate) fn hashers(&self) -> &Hashers {
        &self.hashers
    }

    /// Creates the payload file of a new upload.
    pub(crate) fn create_payload(
        &self,
        workspace: &WorkspaceSegment,
        upload: &UploadSegment,
    ) -> Result<File> {
        let uploads = self
            .root
            .descend_or_create(&[UPLOADS, workspace.as_str()])?;
        // A directory without a payload is the result of a crash between these two steps and can be reused.
        uploads.create_child(upload.as_str())?;
        let folder = uploads
            .child(upload.as_str())?
            .ok_or(Error::MissingUpload)?;
        folder.create_file(PAYLOAD)?.ok_or(Error::UploadExists)
    }

    /// Opens the payload of an existing upload. Returns `None` if it does not exist.
    pub(crate) fn open_payload(
        &self,
        workspace: &WorkspaceSegment,
        upload: &UploadSegment,
    ) -> Result<Option<(BlobFolder, File)>> {
        let names = [UPLOADS, workspace.as_str(), upload.as_str()];
        let Some(folder) = self.root.descend(&names)? else {
            return Ok(None);
        };
        let file = folder.open_file_for_writing(PAYLOAD)?;
        Ok(file.map(|file| (folder, file)))
    }

    /// Truncates an upload to `received` bytes. Does nothing if another process has meanwhile committed the upload,
    /// because the file is then a blob.
    pub fn cut_upload(
        &self,
        workspace: &WorkspaceSegment,
        upload: &UploadSegment,
        receiving: &mut Upload,
        received: u64,
    ) -> Result<()> {
        match self.hold_payload(workspace, upload)? {
            Some((_, held)) if receiving.is_of(&held)? => receiving.truncate(received),
            Some(_) | None => Ok(()),
        }
    }

    /// Opens and locks the payload of an upload. Until the file is dropped, no other caller can commit or truncate it.
    fn hold_payload(
        &self,
        workspace: &WorkspaceSegment,
        upload: &UploadSegment,
    ) -> Result<Option<(BlobFolder, File)>> {
        let Some((_, held)) = self.open_payload(workspace, upload)? else {
            return Ok(None);
        };
        held.lock().map_err(io_error("lock an upload"))?;
        // While this call waited for the lock, the payload may have been committed or removed.
        match self.open_payload(workspace, upload)? {
            Some((folder, found)) if is_same_file(&held, &found)? => Ok(Some((folder, held))),
            Some(_) | None => Ok(None),
        }
    }

    /// Moves a complete file to its final path, or removes it if the blob already exists with the same content.
    fn settle(
        &self,
        key: &BlobKey,
        size: u64,
        file: &File,
        source: &BlobFolder,
        name: &str,
    ) -> Result<Committed> {
        let [outer, inner, hash] = key.components();
        let mut was_known = false;
        let mut is_durable = false;
        loop {
            let found = self.find_again(key, size)?;
            was_known |= found != BlobCondition::Missing;
            if found == BlobCondition::Intact {
                source.remove_file(name)?;
                break;
            }
            if !is_durable {
                // An upload may have taken a day; for collection, the time at which it became a blob counts.
                touch(file)?;
                file.sync_all().map_err(io_error("make a blob durable"))?;
                is_durable = true;
            }
            let workspace = key.workspace().as_str();
            let target = self
                .root
                .descend_or_create(&[WORKSPACES, workspace, "blobs", "sha256", &outer, &inner])?;
            if found == BlobCondition::Damaged {
                // The intact bytes are at hand: quarantine the damaged ones and replace them. This happens immediately
                // before the move, so that the blob is missing only briefly.
                self.quarantine(key)?;
            }
            match source.move_new(name, &target, &hash)? {
                RenameResult::Moved => {
                    target.sync()?;
                    // These bytes were hashed on arrival, and only this process set the time of the file.
                    self.remember(key, BlobStamp::of(file)?);
                    break;
                }
                // Another thread committed the same content first.
                RenameResult::TargetExists => {}
            }
        }
        Ok(Committed {
            key: key.clone(),
            size,
            was_known,
        })
    }

    /// Compares a blob with its key. Returns the second result of `hash` for an intact blob, otherwise its default.
    fn compare<T: Default>(
        &self,
        key: &BlobKey,
        hash: impl FnOnce(&File) -> Result<(Digest, T)>,
    ) -> Result<(Verified, T)> {
        let verified = match self.open_blob(key) {
            Ok(Some(file)) => {
                let before = BlobStamp::of(&file)?;
                match hash(&file)? {
                    (digest, found) if digest.sha256 == key.sha256() => {
                        self.remember_settled(key, before, &file)?;
                        return Ok((Verified::Intact, found));
                    }
                    _ => Verified::Damaged,
                }
            }
            Err(Error::NotPlain { .. }) => Verified::Damaged,
            Ok(None) => Verified::Missing,
            Err(error) => return Err(error),
        };
        Ok((verified, T::default()))
    }

    /// Looks up a blob by content and, if it is intact, marks it as touched now.
    fn find_again(&self, key: &BlobKey, size: u64) -> Result<BlobCondition> {
        loop {
            let Some(file) = self.open_blob(key)? else {
                return Ok(BlobCondition::Missing);
            };
            if size_of(&file)? != size || !self.is_intact(key, &file)? {
                return Ok(BlobCondition::Damaged);
            }
            if self.touch_linked(&file)? {
                self.remember(key, BlobStamp::of(&file)?);
                return Ok(BlobCondition::Intact);
            }
            // The blob was collected while it was read.
        }
    }

    /// Marks a blob as used now, which protects it from collection for a while. Returns whether an intact blob of this
    /// size exists.
    pub fn keep(&self, key: &BlobKey, size: u64) -> Result<bool> {
        Ok(self.find_again(key, size)? == BlobCondition::Intact)
    }

    /// Returns whether the file has the hash of its key. Hashes it unless it is unchanged since it was last hashed.
    fn is_intact(&self, key: &BlobKey, file: &File) -> Result<bool> {
        let before = BlobStamp::of(file)?;
        if self.verified().contains(key, &before) {
            return Ok(true);
        }
        let is_intact = hash_file(file)?.sha256 == key.sha256();
        if is_intact {
            self.remember_settled(key, before, file)?;
        }
        Ok(is_intact)
    }

    /// Remembers a verified file if any change since `before` would have produced a different stamp.
    fn remember_settled(&self, key: &BlobKey, before: BlobStamp, file: &File) -> Result<()> {
        if before.is_settled(system_time()) && BlobStamp::of(file)? == before {
            self.remember(key, before);
        }
        Ok(())
    }

    fn remember(&self, key: &BlobKey, stamp: BlobStamp) {
        self.verified().insert(key, stamp);
    }

    fn verified(&self) -> MutexGuard<'_, VerifiedStamps> {
        self.verified.lock()
    }

    /// Marks a file as touched unless it was removed since it was opened. Returns whether it still has a name.
    fn touch_linked(&self, file: &File) -> Result<bool> {
        let _guard = self.lock_removal()?;
        let found = rustix::fs::fstat(file).map_err(io_error("read the metadata of a blob"))?;
        let is_linked = found.st_nlink > 0;
        if is_linked {
            touch(file)?;
        }
        Ok(is_linked)
    }

    fn blob_folder(&self, key: &BlobKey) -> Result<Option<BlobFolder>> {
        let [outer, inner, _] = key.components();
        let workspace = key.workspace().as_str();
        self.root
            .descend(&[WORKSPACES, workspace, "blobs", "sha256", &outer, &inner])
    }

    fn open_blob(&self, key: &BlobKey) -> Result<Option<File>> {
        let [_, _, hash] = key.components();
        match self.blob_folder(key)? {
            Some(folder) => folder.open_file(&hash),
            None => Ok(None),
        }
    }

    fn open_existing(&self, key: &BlobKey) -> Result<(File, u64)> {
        let file = self
            .open_blob(key)?
            .ok_or_else(|| Error::MissingBlob(key.clone()))?;
        let size = size_of(&file)?;
        Ok((file, size))
    }

    fn lock_removal(&self) -> Result<RemovalGuard<'_>> {
        let folder = self.removal.lock();
        folder.lock()?;
        Ok(RemovalGuard(folder))
    }
}

/// Holds the lock that excludes removals and re-commits of blobs by other threads and processes.
struct RemovalGuard<'a>(MutexGuard<'a, BlobFolder>);

impl Drop for RemovalGuard<'_> {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

pub(crate) fn is_same_file(one: &File, other: &File) -> Result<bool> {
    let of = |file: &File| {
        let found = file
            .metadata()
            .map_err(io_error("read the metadata of an upload"))?;
        Ok((found.dev(), found.ino()))
    };
    Ok(of(one)? == of(other)?)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlobCondition {
    Intact,
    Damaged,
    Missing,
}

impl BlobStore for LocalBlobs {
    fn commit_upload(
        &self,
        workspace: &WorkspaceSegment,
        upload: &UploadSegment,
        expected_size: u64,
        expected_sha256: ContentHash,
        payload: PayloadHash,
    ) -> Result<Committed> {
        let key = BlobKey::new(workspace.clone(), expected_sha256);
        let Some((folder, file)) = self.hold_payload(workspace, upload)? else {
            // An earlier commit may have been interrupted after its rename; then the blob exists.
            return match self.find_again(&key, expected_size)? {
                BlobCondition::Intact => {
                    self.remove_upload(workspace, upload)?;
                    Ok(Committed {
                        key,
                        size: expected_size,
                        was_known: true,
                    })
                }
                BlobCondition::Damaged | BlobCondition::Missing => Err(Error::MissingUpload),
            };
        };
        let size = size_of(&file)?;
        if size != expected_size {
            return Err(Error::SizeMismatch {
                expected: expected_size,
                actual: size,
            });
        }
        let actual = match payload {
            PayloadHash::Running(digest) if digest.size == size => digest.sha256,
            PayloadHash::Running(_) | PayloadHash::Reread => hash_file(&file)?.sha256,
        };
        if actual != expected_sha256 {
            return Err(Error::HashMismatch {
                expected: expected_sha256,
                actual,
            });
        }
        let committed = self.settle(&key, size, &file, &folder, PAYLOAD)?;
        self.remove_upload(workspace, upload)?;
        Ok(committed)
    }

    fn put(&self, workspace: &WorkspaceSegment, bytes: &[u8]) -> Result<Committed> {
        let key = BlobKey::new(workspace.clone(), ContentHash::of(bytes));
        let size = bytes.len() as u64;
        if matches!(self.find_again(&key, size)?, BlobCondition::Intact) {
            return Ok(Committed {
                key,
                size,
                was_known: true,
            });
        }
        let folder = self
            .root
            .descend_or_create(&[WORKSPACES, workspace.as_str(), TEMPORARY])?;
        let (name, mut file) = loop {
            // The process id separates processes that share the directory; leftovers of an earlier process are skipped.
            let count = self.temporaries.fetch_add(1, Ordering::Relaxed);
            let name = format!("put-{}-{count}", process::id());
            if let Some(file) = folder.create_file(&name)? {
                break (name, file);
            }
        };
        let settled = file
            .write_all(bytes)
            .map_err(io_error("write a blob"))
            .and_then(|()| self.settle(&key, size, &file, &folder, &name));
        if settled.is_err() {
            // Report the first error; a leftover file is collected later.
            let _ = folder.remove_file(&name);
        }
        settled
    }

    fn read_range(&self, key: &BlobKey, offset: u64, len: u64) -> Result<Vec<u8>> {
        if len > MAX_RANGE {
            return Err(Error::RangeTooLong {
                len,
                max: MAX_RANGE,
            });
        }
        let blob = self.open(key)?;
        let len = len.min(blob.size().saturating_sub(offset));
        let len = usize::try_from(len).expect("a range is at most one mebibyte");
        let mut bytes = Vec::new();
        if len > 0 {
            blob.append_range(offset, len, &mut bytes)
                .map_err(io_error("read a blob"))?;
        }
        Ok(bytes)
    }

    fn open(&self, key: &BlobKey) -> Result<BlobReader> {
        let (file, size) = self.open_existing(key)?;
        // Taken before hashing, so that any later write produces a different stamp.
        let stamp = BlobStamp::of(&file)?;
        if !self.is_intact(key, &file)? {
            return Err(Error::DamagedBlob(key.clone()));
        }
        Ok(BlobReader::new(file, size, key.clone(), stamp))
    }

    fn size(&self, key: &BlobKey) -> Result<u64> {
        self.open_existing(key).map(|(_, size)| size)
    }

    fn touched_at(&self, key: &BlobKey) -> Result<SystemTime> {
        let (file, _) = self.open_existing(key)?;
        modified_at(&file)
    }

    fn remove(&self, key: &BlobKey) -> Result<Removed> {
        let [_, _, hash] = key.components();
        let _guard = self.lock_removal()?;
        match self.blob_folder(key)? {
            Some(folder) if folder.remove_file(&hash)? => Ok(Removed::Removed),
            Some(_) | None => Ok(Removed::Missing),
        }
    }

    fn remove_untouched_since(&self, key: &BlobKey, before: SystemTime) -> Result<Removed> {
        let [_, _, hash] = key.components();
        let Some(folder) = self.blob_folder(key)? else {
            return Ok(Removed::Missing);
        };
        let _guard = self.lock_removal()?;
        let Some(file) = folder.open_file(&hash)? else {
            return Ok(Removed::Missing);
        };
        if modified_at(&file)? >= before {
            return Ok(Removed::Kept);
        }
        folder.remove_file(&hash)?;
        Ok(Removed::Removed)
    }

    fn verify(&self, key: &BlobKey) -> Result<Verified> {
        let (verified, ()) = self.compare(key, |file| Ok((hash_file(file)?, ())))?;
        Ok(verified)
    }

    fn verify_chunks(
        &self,
        key: &BlobKey,
        chunk: NonZeroUsize,
    ) -> Result<(Verified, Vec<ContentHash>)> {
        self.compare(key, |file| hash_chunks(file, chunk))
    }

    fn quarantine(&self, key: &BlobKey) -> Result<Removed> {
        let [_, _, hash] = key.components();
        // Another caller may have repaired the blob since it was found damaged; the lock prevents that from here on.
        let _guard = self.lock_removal()?;
        match self.verify(key)? {
            Verified::Damaged => {}
            Verified::Intact => return Ok(Removed::Kept),
            Verified::Missing => return Ok(Removed::Missing),
        }
        let Some(folder) = self.blob_folder(key)? else {
            return Ok(Removed::Missing);
        };
        let workspace = key.workspace().as_str();
        let quarantine = self
            .root
            .descend_or_create(&[WORKSPACES, workspace, QUARANTINE])?;
        match folder.move_over(&hash, &quarantine, &hash) {
            Ok(()) => {}
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Removed::Missing);
            }
            Err(error) => return Err(error),
        }
        quarantine.sync()?;
        folder.sync()?;
        Ok(Removed::Removed)
    }

    fn list(&self, workspace: &WorkspaceSegment) -> Result<BlobKeys> {
        let names = [WORKSPACES, workspace.as_str(), "blobs", "sha256"];
        let Some(folder) = self.root.descend(&names)? else {
            return Ok(Box::new(std::iter::empty()));
        };
        let workspace = workspace.clone();
        // One outer directory at a time, so that the list of a large store is not held in memory.
        let outer = folder.names()?.into_iter().filter(|name| is_shard(name));
        Ok(Box::new(outer.flat_map(move |name| {
            match keys_below(&folder, &name, &workspace) {
                Ok(keys) => keys.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            }
        })))
    }
}

/// Lists the blobs in one outer directory. Entries that are not named like a blob at this path are skipped.
fn keys_below(
    folder: &BlobFolder,
    outer: &str,
    workspace: &WorkspaceSegment,
) -> Result<Vec<BlobKey>> {
    let mut keys = Vec::new();
    let Some(outer_folder) = folder.child(outer)? else {
        return Ok(keys);
    };
    for inner in outer_folder.names()?.iter().filter(|name| is_shard(name)) {
        let Some(inner_folder) = outer_folder.child(inner)? else {
            continue;
        };
        for name in inner_folder.names()? {
            let storage_key = format!("sha256/{outer}/{inner}/{name}");
            keys.extend(BlobKey::from_storage_key(workspace.clone(), &storage_key));
        }
    }
    Ok(keys)
}

fn is_shard(name: &str) -> bool {
    name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn size_of(file: &File) -> Result<u64> {
    let metadata = file
        .metadata()
        .map_err(io_error("read the metadata of a file"))?;
    Ok(metadata.len())
}

fn modified_at(file: &File) -> Result<SystemTime> {
    file.metadata()
        .and_then(|metadata| metadata.modified())
        .map_err(io_error("read the metadata of a file"))
}

/// Sets the modification time of a file to now, with nanosecond precision. The kernel sets write times in whole ticks,
/// so a write right after this one gets a different time.
fn touch(file: &File) -> Result<()> {
    let now = system_time().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let times = Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: i64::try_from(now.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: now.subsec_nanos().into(),
        },
    };
    rustix::fs::futimens(file, &times).map_err(io_error("mark a blob as used"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "files carry the time of the system"
)]
fn system_time() -> SystemTime {
    SystemTime::now()
}
