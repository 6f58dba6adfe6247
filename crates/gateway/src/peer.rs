//! One connection of the gateway: its principal, its subscriptions, its transfers and its outgoing queue.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use blobs::store::BlobReader;
use protocol::{ArtifactId, ArtifactVersionId, DownloadId, ThreadId, UploadId, WorkspaceId};
use rpc::{Bytes, ConnectionId, Failure, FailureKind, Outbox, Request, Service};

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
    /// How relative paths of company folders are handled.
    relative_paths: RelativePaths,
    /// Identifies this connection across all processes. Drafts created on it carry this key.
    pub(crate) key: String,
    outbox: Arc<Outbox>,
    /// Binary frames that wait to be written to their uploads.
    frames: Intake,
    transfers: Mutex<Transfers>,
}

/// How a connection handles a relative path of a company folder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RelativePaths {
    /// Rejects it, because the client and the gateway have different current directories.
    Refused,
    /// Resolves it against the current directory, which a stdio server inherits from the client that started it.
    FromCurrentFolder,
}

/// The uploads and downloads of one connection.
#[derive(Debug, Default)]
struct Transfers {
    uploads: BTreeSet<UploadId>,
    /// The number of uploads that are being started and have no id yet.
    starting: usize,
    downloads: BTreeMap<DownloadId, Download>,
}

/// A reserved slot for an upload that is being started. Dropping it releases the slot.
pub(crate) struct StartingUpload(Arc<Peer>);

impl StartingUpload {
    /// Registers the upload as open until [`Peer::upload_closed`] is called.
    pub(crate) fn opened(self, upload: &UploadId) {
        self.0.transfers().uploads.insert(upload.clone());
    }
}

impl Drop for StartingUpload {
    fn drop(&mut self) {
        self.0.transfers().starting -= 1;
    }
}

/// An open download of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Download {
    pub(crate) workspace_id: WorkspaceId,
    pub(crate) artifact_id: ArtifactId,
    pub(crate) version_id: ArtifactVersionId,
    pub(crate) size: u64,
    /// The open blob. It stays readable if the artifact is deleted meanwhile.
    pub(crate) blob: Arc<BlobReader>,
    /// The database row of the blob at the start of the download.
    pub(crate) blob_row: entity::artifact_blob::Model,
    /// The hashes of the chunks, or `None` if they are not known.
    pub(crate) chunk_hashes: Option<Arc<crud::ChunkHashes>>,
    /// When the workspace was last confirmed to exist, in Unix seconds.
    pub(crate) checked_at: i64,
    /// When the download expires, in Unix seconds.
    pub(crate) expires_at: i64,
    pub(crate) progress: Arc<DownloadProgress>,
}

/// The number of bytes sent by a download, and the time of the last progress notification.
#[derive(Debug, Default)]
pub(crate) struct DownloadProgress(Mutex<(u64, Option<Instant>)>);

impl DownloadProgress {
    /// Adds `length` sent bytes. Returns the total if a progress notification is due.
    pub(crate) fn sent(&self, length: u64, size: u64) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (sent, told_at) = &mut *state;
        // A client may request a chunk more than once.
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

    /// Rejects a path in the param `field` that contains a NUL character, or that the gateway could resolve to another
    /// directory than the client means.
    pub(crate) fn check_path(&self, field: &str, dir: &str) -> Result<(), Failure> {
        let path = Path::new(dir);
        if dir.contains('\0') {
            let sentence = format!("{dir:?} has a NUL character, which no path can have");
            return Err(Failure::param(format!("/{field}"), sentence));
        }
        // Empty paths are rejected by the validation of the params.
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

    /// Waits until the binary frames received before this call have been processed.
    pub(crate) async fn frames_settled(&self) {
        self.frames.settled().await;
    }

    /// Reserves a slot for one more upload on this connection. Returns `None` if `limit` uploads are open or starting.
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

    /// Registers a download. Returns `false` if its workspace has too many open downloads on this connection.
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

    /// Records that the workspace of a download exists.
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

    /// Subscribes to the notifications of a workspace. Returns whether the subscription is new.
    pub(crate) fn follow(&self, workspace: &WorkspaceId) -> bool {
        self.follow_outputs(workspace);
        self.gateway
            .hub
            .subscribe(self.connection, workspace.as_str())
    }

    /// Subscribes to notifications about run outputs of a workspace, if the principal may see them.
    pub(crate) fn follow_outputs(&self, workspace: &WorkspaceId) {
        if self.principal.sees_run_outputs() {
            let topic = outputs_topic(workspace.as_str());
            self.gateway.hub.subscribe(self.connection, &topic);
        }
    }

    /// Ends the subscription to a workspace.
    pub(crate) fn unfollow(&self, workspace: &WorkspaceId) {
        let outputs = outputs_topic(workspace.as_str());
        for topic in [workspace.as_str(), &outputs] {
            self.gateway.hub.unsubscribe(self.connection, topic);
        }
    }

    /// Subscribes to the notifications of a thread. Returns whether the subscription is new.
    pub(crate) fn follow_thread(&self, thread: &ThreadId) -> bool {
        self.gateway
            .hub
            .subscribe(self.connection, &thread_topic(thread))
    }
}

/// Returns the hub topic for run outputs of a workspace.
pub(crate) fn outputs_topic(workspace: &str) -> String {
    format!("outputs {workspace}")
}

/// Returns the hub topic of a thread.
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
        // The outbox holds the response, so that notifications for the caller are written together with it.
        self.outbox.hold_behind(frame, answer.text).await;
        match answer.failure {
            // The response is queued; the effects of the request run after it.
            None => caused.carry_out(&self).await,
            Some(FailureKind::UnknownWorkspace) => caused.unfollow(&self),
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
