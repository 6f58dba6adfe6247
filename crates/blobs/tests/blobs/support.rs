//! A store in a temporary directory.

use std::path::PathBuf;

use blobs::{
    key::{BlobKey, ContentHash, UploadSegment, WorkspaceSegment},
    store::LocalBlobs,
    upload::Upload,
};
use tempfile::TempDir;

pub(crate) struct Home {
    pub(crate) folder: TempDir,
    pub(crate) store: LocalBlobs,
    pub(crate) workspace: WorkspaceSegment,
}

pub(crate) fn home() -> Home {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let store = LocalBlobs::open(&folder.path().join("artifacts")).expect("the store opens");
    Home {
        folder,
        store,
        workspace: workspace("ws_1"),
    }
}

impl Home {
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join("artifacts").join(below)
    }

    pub(crate) fn workspace_path(&self, below: &str) -> PathBuf {
        self.path("workspaces/ws_1").join(below)
    }

    pub(crate) fn key(&self, content: &[u8]) -> BlobKey {
        BlobKey::new(self.workspace.clone(), ContentHash::of(content))
    }

    pub(crate) fn blob_path(&self, content: &[u8]) -> PathBuf {
        self.workspace_path("blobs")
            .join(self.key(content).storage_key())
    }

    pub(crate) fn payload_path(&self, upload: &str) -> PathBuf {
        self.path("upload_sessions/ws_1")
            .join(upload)
            .join("payload.bin")
    }

    pub(crate) fn begin(&self, id: &str) -> Upload {
        Upload::create(&self.store, &self.workspace, &upload(id)).expect("the upload begins")
    }

    pub(crate) fn resume(&self, id: &str) -> Upload {
        Upload::resume(&self.store, &self.workspace, &upload(id)).expect("the upload resumes")
    }
}

pub(crate) fn workspace(text: &str) -> WorkspaceSegment {
    WorkspaceSegment::new(text).expect("the test names a workspace")
}

pub(crate) fn upload(text: &str) -> UploadSegment {
    UploadSegment::new(text).expect("the test names an upload")
}
