//! One connection as the gateway sees it: who is there, what it follows, where its answers wait.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use blobs::store::BlobReader;
use protocol::{ArtifactId, ArtifactVersionId, DownloadId, ThreadId, UploadId, WorkspaceId};
use rpc::{Bytes, ConnectionId, Failure, Kind, Outbox, Request, Service};

use crate::{
    Context, Gateway, Principal,
    artifacts::{Intake, limits},
    sources::random_text,
};

/// One connected client.
#[derive(Debug)]
pub struct Peer {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) connection: ConnectionId,
    pub(crate) principal: Principal,
    /// What relative paths of company folders mean.
    relative_paths: RelativePaths,
    /// Names this connection among those of all processes; its drafts carry it.
    pub(crate) key: String,
    outbox: Arc<Outbox>,
    /// Binary frames on their way to their uploads.
    frames: Intake,
    transfers: Mutex<Transfers>,
}

/// What a relative path of a company folder means on a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RelativePaths {
    /// Nothing: the client and the gateway have different current folders.
    Refused,
    /// A folder below the current one, which a stdio server has from the client that started it.
    FromCurrentFolder,
}

/// What this connection uploads and downloads.
#[derive(Debug, Default)]
struct Transfers {
    uploads: BTreeSet<UploadId>,
    /// Uploads that are being started and have no id yet.
    starting: usize,
    downloads: BTreeMap<DownloadId, Download>,
}

/// The place of an upload that is being started; it is free again when this is dropped.
pub(crate) struct StartingUpload(Arc<Peer>);

impl StartingUpload {
    /// The upload is open until [`Peer::upload_closed`].
    pub(crate) fn opened(self, upload: &UploadId) {
        self.0.transfers().uploads.insert(upload.clone());
    }
}

impl Drop for StartingUpload {
    fn drop(&mut self) {
        self.0.transfers().starting -= 1;
    }
}

/// A download of this connection.
#[derive(Clone, Debug)]
pub(crate) struct Download {
    pub(crate) workspace_id: WorkspaceId,
    pub(crate) artifact_id: ArtifactId,
    pub(crate) version_id: ArtifactVersionId,
    pub(crate) size: u64,
    /// Open, and therefore readable whatever happens to the artifact.
    pub(crate) blob: Arc<BlobReader>,
    /// What the database knew of these bytes when the download was started.
    pub(crate) blob_row: entity::artifact_blob::Model,
    /// The hashes of its chunks, if they are known.
    pub(crate) chunk_hashes: Option<Arc<crud::ChunkHashes>>,
    /// When the workspace was last seen to be there, in Unix seconds.
    pub(crate) checked_at: i64,
    /// Unix seconds.
    pub(crate) expires_at: i64,
    pub(crate) progress: Arc<DownloadProgress>,
}

/// How far a download has come.
#[derive(Debug, Default)]
pub(crate) struct DownloadProgress(Mutex<(u64, Option<Instant>)>);

impl DownloadProgress {
    /// Counts bytes that are sent. Answers how many there are by now if it is time to tell.
    pub(crate) fn sent(&self, length: u64, size: u64) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (sent, told_at) = &mut *state;
        // A chunk may be asked for twice.
        *sent = sent.saturating_add(length).min(size);
        let is_time = told_at.is_none_or(|told_at| told_at.elapsed() >= limits::PROGRESS_EVERY);
        is_time.then(|| {
            *told_at = Some(Instant::now());
            *sent
        })
    }
}

impl Peer {
    pub(crate) fn new(
        gateway: Arc<Gateway>,
        principal: Principal,
        relative_paths: RelativePaths,
    ) -> Arc<Self> {
        let connection = ConnectionId::next();
        let outbox = Arc::new(Outbox::default());
        let limits = principal.clone();
        let sees = move |workspace: &str| limits.may_see(workspace);
        gateway.hub.join(connection, Arc::clone(&outbox), sees);
        gateway.watch.joined(connection, principal.grant());
        Arc::new(Self {
            gateway,
            connection,
            principal,
            relative_paths,
            key: format!("con_{}", random_text(18)),
            outbox,
            frames: Intake::default(),
            transfers: Mutex::default(),
        })
    }

    /// Refuses a path in the param `field` that would not mean the folder the client has in mind.
    pub(crate) fn check_path(&self, field: &str, dir: &str) -> Result<(), Failure> {
        let path = Path::new(dir);
        if dir.contains('\0') {
            let sentence = format!("{dir:?} has a NUL character, which no path can have");
            return Err(Failure::param(format!("/{field}"), sentence));
        }
        // What is empty is refused as such elsewhere.
        if path.is_absolute() || dir.is_empty() {
            return Ok(());
        }
        let expected = "expected an absolute path, such as `/home/you/acme`";
        let why = if dir.starts_with('~') {
            "is not resolved by the gateway, which may run as another user"
        } else {
            match self.relative_paths {
                RelativePaths::FromCurrentFolder => return Ok(()),
                RelativePaths::Refused => {
                    "is relative, and the gateway has another current folder than its clients"
                }
            }
        };
        Err(Failure::param(
            format!("/{field}"),
            format!("`{dir}` {why}: {expected}"),
        ))
    }

    /// Waits until the binary frames that came before have been taken.
    pub(crate) async fn frames_settled(&self) {
        self.frames.settled().await;
    }

    /// Reserves a place for one more upload of this connection, unless it has `limit` of them.
    pub(crate) fn starting_upload(self: &Arc<Self>, limit: usize) -> Option<StartingUpload> {
        let mut transfers = self.transfers();
        if transfers.uploads.len() + transfers.starting >= limit {
            return None;
        }
        transfers.starting += 1;
        Some(StartingUpload(Arc::clone(self)))
    }

    pub(crate) fn upload_closed(&self, upload: &UploadId) {
        self.transfers().uploads.remove(upload);
    }

    /// Adds a download, unless its workspace has too many on this connection.
    pub(crate) fn download_opened(&self, id: &DownloadId, download: Download, now: i64) -> bool {
        let mut transfers = self.transfers();
        transfers.downloads.retain(|_, open| open.expires_at > now);
        let open = transfers
            .downloads
            .values()
            .filter(|open| open.workspace_id == download.workspace_id);
        let has_room = open.count() < limits::MAX_DOWNLOADS as usize;
        if has_room {
            transfers.downloads.insert(id.clone(), download);
        }
        has_room
    }

    pub(crate) fn download(&self, id: &DownloadId, now: i64) -> Option<Download> {
        let transfers = self.transfers();
        let found = transfers
            .downloads
            .get(id)
            .filter(|open| open.expires_at > now);
        found.cloned()
    }

    /// Notes that the workspace of a download is there.
    pub(crate) fn download_checked(&self, id: &DownloadId, now: i64) {
        if let Some(download) = self.transfers().downloads.get_mut(id) {
            download.checked_at = now;
        }
    }

    pub(crate) fn download_closed(&self, id: &DownloadId) {
        self.transfers().downloads.remove(id);
    }

    fn transfers(&self) -> MutexGuard<'_, Transfers> {
        self.transfers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives the notifications of a workspace from now on. Answers whether that is new.
    pub(crate) fn follow(&self, workspace: &WorkspaceId) -> bool {
        self.gateway
            .hub
            .subscribe(self.connection, workspace.as_str())
    }

    /// Receives them no longer.
    pub(crate) fn unfollow(&self, workspace: &WorkspaceId) {
        self.gateway
            .hub
            .unsubscribe(self.connection, workspace.as_str());
    }

    /// Receives the notifications of a thread from now on. Answers whether that is new.
    pub(crate) fn follow_thread(&self, thread: &ThreadId) -> bool {
        self.gateway
            .hub
            .subscribe(self.connection, &thread_topic(thread))
    }
}

/// The name of a thread among the topics of the hub.
pub(crate) fn thread_topic(thread: &ThreadId) -> String {
    format!("thread {thread}")
}

impl Service for Peer {
    fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    async fn serve(self: Arc<Self>, request: Request) {
        let ctx = Context::new(Arc::clone(&self));
        let caused = ctx.caused();
        let answer = self.gateway.router().answer(ctx, &request).await;
        let frame = caused.frame().filter(|_| answer.failure.is_none());
        // What the caller is told at once goes out with its answer.
        self.outbox.hold_behind(frame, answer.text).await;
        match answer.failure {
            // The caller's answer is on its way; now everybody is told.
            None => caused.carry_out(&self).await,
            Some(Kind::UnknownWorkspace) => caused.unfollow(&self),
            Some(_) => {}
        }
        self.outbox.release();
    }

    async fn binary(&self, frame: Bytes) {
        let owner = self.principal.author();
        self.frames
            .take(&self.gateway, &self.outbox, owner, frame)
            .await;
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.gateway.hub.leave(self.connection);
        self.gateway.watch.left(self.connection);
        self.gateway.company_events.left(self.connection);
    }
}
