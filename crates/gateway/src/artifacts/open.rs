//! The uploads this process has to do with: each one's file, and what the database last said about it.
//!
//! A place is taken here before the database is asked, and whoever ends an upload closes its place first. So a chunk
//! that meets the end of its upload either finds the place closed or no row, and never makes a file anew.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use blobs::{store::LocalBlobs, upload::Upload};
use entity::artifact_upload_session as session;

use super::{chunk_hashes::Collected, segments};

/// How long the database's word on an upload is good for: somebody may end it in another process of the home.
const GOOD_FOR: Duration = Duration::from_secs(1);

/// The places of all uploads, by their ids.
#[derive(Debug, Default)]
pub(super) struct OpenUploads(Mutex<BTreeMap<String, Arc<Place>>>);

/// The place of one upload.
#[derive(Debug, Default)]
pub(super) struct Place(Mutex<OpenUpload>);

/// What is known of an upload while its place is held.
#[derive(Debug, Default)]
pub(super) struct OpenUpload {
    /// Its file, once something was written.
    upload: Option<Upload>,
    /// No more chunks: it is an artifact, or gone.
    pub(super) is_closed: bool,
    /// The hashes that came with its chunks, as long as all of them came to this process with one.
    pub(super) chunk_hashes: Option<Collected>,
    /// When its life was last made longer in the database.
    pub(super) extended_at: i64,
    checked: Option<(Arc<session::Model>, Instant)>,
}

impl OpenUploads {
    /// The place of an upload, whether or not there is such an upload.
    pub(super) fn place(&self, upload_id: &str) -> Arc<Place> {
        let mut places = self.lock();
        if let Some(place) = places.get(upload_id) {
            return Arc::clone(place);
        }
        let place = Arc::<Place>::default();
        places.insert(upload_id.to_owned(), Arc::clone(&place));
        place
    }

    /// Gives a place back that turned out not to be one of an upload, unless others hold it too.
    pub(super) fn give_back(&self, upload_id: &str, place: &Arc<Place>) {
        let mut places = self.lock();
        let is_listed = places
            .get(upload_id)
            .is_some_and(|listed| Arc::ptr_eq(listed, place));
        // Ours and that of the list.
        if is_listed && Arc::strong_count(place) == 2 && place.lock().is_empty() {
            places.remove(upload_id);
        }
    }

    /// Ends the life of a place. What ends the upload itself must have happened before.
    pub(super) fn forget(&self, upload_id: &str) {
        self.lock().remove(upload_id);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Place>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    pub(super) fn lock(&self) -> MutexGuard<'_, OpenUpload> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the database said about the upload a moment ago, unless another process has touched its file since.
    pub(super) fn checked(
        &self,
        workspace_id: &str,
        owner: &str,
        now: i64,
    ) -> Option<Arc<session::Model>> {
        let mut open = self.lock();
        open.refresh();
        let (session, at) = open.checked.as_ref()?;
        let is_same = session.workspace_id == workspace_id
            && session.owner == owner
            && session.expires_at > now
            && at.elapsed() < GOOD_FOR;
        is_same.then(|| Arc::clone(session))
    }

    /// Notes what the database says about the upload.
    pub(super) fn note(&self, session: session::Model) -> Arc<session::Model> {
        let session = Arc::new(session);
        self.lock().checked = Some((Arc::clone(&session), Instant::now()));
        session
    }
}

impl OpenUpload {
    fn is_empty(&self) -> bool {
        self.upload.is_none() && !self.is_closed
    }

    /// Lets go of a file that another process has touched.
    fn refresh(&mut self) {
        if self.upload.as_ref().is_some_and(|file| !file.is_current()) {
            self.upload = None;
            self.chunk_hashes = None;
            self.checked = None;
        }
    }

    /// The database is asked again next time.
    pub(super) fn doubt(&mut self) {
        self.checked = None;
    }

    /// Nothing more is written, and the file is closed.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
        self.upload = None;
        self.chunk_hashes = None;
        self.checked = None;
    }

    /// The file of the upload, if something was received. Blocks.
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

    /// The file of the upload, made if it is missing. Blocks. The upload must not be closed.
    pub(super) fn file(
        &mut self,
        blobs: &LocalBlobs,
        session: &session::Model,
    ) -> Result<&mut Upload, blobs::Error> {
        if self.existing(blobs, session)?.is_none() {
            let (workspace, upload) = segments(session)?;
            let upload = Upload::create(blobs, &workspace, &upload)?;
            self.opened(upload, session);
            self.chunk_hashes = Some(Collected::default());
        }
        self.upload.as_mut().ok_or(blobs::Error::MissingUpload)
    }

    fn opened(&mut self, upload: Upload, session: &session::Model) {
        self.upload = Some(upload);
        self.extended_at = session.created_at;
    }
}
