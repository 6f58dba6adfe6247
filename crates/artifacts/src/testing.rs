//! Test helpers: the artifacts of a temporary home with the workspace `ws_a`.

use std::{
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
};

use blobs::{key::ContentHash, store::LocalBlobs};
use crud::CrudStore;
use entity::artifact_upload_session as session;
use sources::Sources;
use tempfile::TempDir;

use super::{
    ArtifactChange, ArtifactListener, ArtifactOptions, Artifacts, Chunk, DeclaredHash, limits,
    run_verification,
};

const OWNER: &str = "owner";

/// The artifacts of a temporary home. New blobs are verified in the background.
pub(super) struct TestHome {
    folder: TempDir,
    pub(super) store: CrudStore,
    pub(super) artifacts: Arc<Artifacts>,
}

/// Ignores all changes.
#[derive(Debug)]
struct Silent;

impl ArtifactListener for Silent {
    fn tell(&self, _change: ArtifactChange) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
    }
}

pub(super) fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    ContentHash::of(bytes.as_ref()).to_string()
}

impl TestHome {
    pub(super) async fn open() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let options = crud::Options::new(1, |sentence| panic!("{sentence}"));
        let store = CrudStore::open(folder.path(), &options).expect("a database");
        let created = store.workspaces().create("ws_a", None, 1).await;
        created.expect("a workspace");
        let blobs = LocalBlobs::open(&folder.path().join("artifacts")).expect("a blob store");
        let (artifacts, unverified) = Artifacts::new(ArtifactOptions {
            store: store.clone(),
            blobs,
            sources: Sources::system(),
            listener: Arc::new(Silent),
            quota: limits::QUOTA,
            makes_projections: false,
        });
        tokio::spawn(run_verification(Arc::downgrade(&artifacts), unverified));
        Self {
            folder,
            store,
            artifacts,
        }
    }

    /// Starts the upload of a file.
    pub(super) async fn start(&self, name: &str, bytes: &[u8]) -> session::Model {
        let sources = Sources::system();
        let now = sources.clock.now();
        let session = session::Model {
            id: format!("upl_{}", sources.ids.suffix()),
            workspace_id: "ws_a".to_owned(),
            owner: OWNER.to_owned(),
            client_attachment_id: name.to_owned(),
            thread_id: None,
            planned_turn_id: None,
            file_name: name.to_owned(),
            mime_type: None,
            size_bytes: i64::try_from(bytes.len()).expect("a small file"),
            sha256: sha256_hex(bytes),
            source_kind: "api".to_owned(),
            status: "receiving".to_owned(),
            artifact_id: None,
            created_at: now,
            expires_at: now + limits::SESSION_SECONDS,
            version_of: None,
            version_id: None,
        };
        let started = self.artifacts.start_upload(session).await;
        started.expect("there is room").session
    }

    /// Finishes an upload. Returns the id of the artifact and the id of its blob.
    pub(super) async fn finish(&self, session: session::Model) -> (String, String) {
        let finished = self.artifacts.finish_upload(session, OWNER).await;
        let detail = finished.expect("the upload is complete").detail;
        (detail.artifact.id, detail.blob.id)
    }

    /// Uploads bytes, in hashed chunks of the given size or otherwise in 1 MiB chunks without hashes. Returns the id of
    /// the artifact and the id of its blob.
    pub(super) async fn upload(
        &self,
        bytes: &[u8],
        hashed_chunk: Option<usize>,
    ) -> (String, String) {
        let session = self.start("a.bin", bytes).await;
        let mut offset = 0;
        for bytes in bytes.chunks(hashed_chunk.unwrap_or(1 << 20)) {
            let declared = hashed_chunk.map(|_| DeclaredHash {
                sha256: sha256_hex(bytes),
                source: "of the test",
            });
            let chunk = Chunk {
                workspace_id: "ws_a".to_owned(),
                upload_id: session.id.clone(),
                owner: OWNER.into(),
                offset,
                bytes: bytes.to_vec().into(),
                declared,
            };
            let appended = self.artifacts.append_chunk(chunk).await;
            appended.expect("no panic").expect("the chunk fits");
            offset += bytes.len() as u64;
        }
        self.finish(session).await
    }

    /// Returns the path of the file of a blob.
    pub(super) fn path(&self, sha256: &str) -> PathBuf {
        let (outer, inner) = (&sha256[..2], &sha256[2..4]);
        let blobs = Path::new("artifacts/workspaces/ws_a/blobs/sha256");
        let blobs = self.folder.path().join(blobs);
        blobs.join(outer).join(inner).join(sha256)
    }
}
