//! The open uploads of this process: the file of each upload and its cached database row.
//!
//! An entry is created here before the database is queried, and code that ends an upload closes its entry first. A
//! chunk that races with the end of its upload therefore finds a closed entry or no row, and never creates the file
//! again.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use blobs::{store::LocalBlobs, upload::Upload};
use entity::artifact_upload_session as session;

use super::{chunk_hashes::CollectedHashes, segments};

/// The time for which a cached row is valid. Another process of the home may end the upload.
const CACHED_FOR: Duration = Duration::from_secs(1);

/// The entries of all uploads, by upload id.
#[derive(Debug, Default)]
pub(super) struct OpenUploads(Mutex<BTreeMap<String, Arc<UploadEntry>>>);

/// The entry of one upload.
#[derive(Debug, Default)]
pub(super) struct UploadEntry(Mutex<OpenUpload>);

/// The state of one upload, accessible while its entry is locked.
#[derive(Debug, Default)]
pub(super) struct OpenUpload {
    /// The file; `None` until it is opened or created.
    upload: Option<Upload>,
    /// Whether the upload accepts no more chunks, because it is complete or removed.
    pub(super) is_closed: bool,
    /// The hashes sent with the chunks. `None` unless this process received all chunks with a hash.
    pub(super) chunk_hashes: Option<CollectedHashes>,
    /// When the expiry was last extended in the database, in Unix seconds.
    pub(super) extended_at: i64,
    cached: Option<(Arc<session::Model>, Instant)>,
}

impl OpenUploads {
    /// Returns the entry of an upload id, whether or not the upload exists.
    pub(super) fn entry(&self, upload_id: &str) -> Arc<UploadEntry> {
        let mut entries = self.lock();
        if let Some(entry) = entries.get(upload_id) {
            return Arc::clone(entry);
        }
        let entry = Arc::<UploadEntry>::default();
        entries.insert(upload_id.to_owned(), Arc::clone(&entry));
        entry
    }

    /// Removes an entry without a file that is not closed, unless it is in use elsewhere.
    pub(super) fn release(&self, upload_id: &str, entry: &Arc<UploadEntry>) {
        let mut entries = self.lock();
        let is_listed = entries
            .get(upload_id)
            .is_some_and(|listed| Arc::ptr_eq(listed, entry));
        // The reference of the caller and that of the map.
        if is_listed && Arc::strong_count(entry) == 2 && entry.lock().is_empty() {
            entries.remove(upload_id);
        }
    }

    /// Removes an entry. The upload itself must have ended before.
    pub(super) fn forget(&self, upload_id: &str) {
        self.lock().remove(upload_id);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<UploadEntry>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UploadEntry {
    pub(super) fn lock(&self) -> MutexGuard<'_, OpenUpload> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cached row of the upload if it is recent, belongs to the owner, and no other process has changed the
    /// file since.
    pub(super) fn cached(
        &self,
        workspace_id: &str,
        owner: &str,
        now: i64,
    ) -> Option<Arc<session::Model>> {
        let mut open = self.lock();
        open.refresh();
        let (session, at) = open.cached.as_ref()?;
        let is_same = session.workspace_id == workspace_id
            && session.owner == owner
            && session.expires_at > now
            && at.elapsed() < CACHED_FOR;
        is_same.then(|| Arc::clone(session))
    }

    /// Caches the row of the upload.
    pub(super) fn cache(&self, session: session::Model) -> Arc<session::Model> {
        let session = Arc::new(session);
        self.lock().cached = Some((Arc::clone(&session), Instant::now()));
        session
    }
}

impl OpenUpload {
    fn is_empty(&self) -> bool {
        self.upload.is_none() && !self.is_closed
    }

    /// Closes a file that another process has changed, and drops the cached state.
    fn refresh(&mut self) {
        if self.upload.as_ref().is_some_and(|file| !file.is_current()) {
            self.upload = None;
            self.chunk_hashes = None;
            self.cached = None;
        }
    }

    /// Drops the cached row, so that the next chunk reads it from the database.
    pub(super) fn invalidate(&mut self) {
        self.cached = None;
    }

    /// Closes the upload to further chunks and closes its file.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        self.upload = None;
        self.chunk_hashes = None;
        self.cached = None;
    }

    /// Returns the file of the upload, or `None` if nothing was received. Blocks.
    pub(super) fn existing(
        &mut self,
        blobs: &LocalBlobs,
        session: &session::Model,
    ) -> Result<Option<&mut Upload>, blobs::Error> {
        self.refresh();
        if self.upload.is_none() && !self.is_closed {
            let (workspace, upload) = segments(session)?;
            match Upload::resume(blobs, &workspace, &upload) {
                Ok(upload) => self.opened(upload, session),
                Err(blobs::Error::MissingUpload) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.upload.as_mut())
    }

    /// Returns the file of the upload and creates it if it is missing. The upload must not be closed. Blocks.
    pub(super) fn file(
        &mut self,
        blobs: &LocalBlobs,
        session: &session::Model,
    ) -> Result<&mut Upload, blobs::Error> {
        if self.existing(blobs, session)?.is_none() {
            let (workspace, upload) = segments(session)?;
            let upload = Upload::create(blobs, &workspace, &upload)?;
            self.opened(upload, session);
            self.chunk_hashes = Some(CollectedHashes::default());
        }
        self.upload.as_mut().ok_or(blobs::Error::MissingUpload)
    }

    fn opened(&mut self, upload: Upload, session: &session::Model) {
        self.upload = Some(upload);
        self.extended_at = session.created_at;
    }
}
