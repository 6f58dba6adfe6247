//! Verifies stored bytes in the background: periodically, and soon after an upload without chunk hashes, so that
//! downloads can use the hashes computed here.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Weak},
    thread,
};

use blobs::{
    key::BlobKey,
    store::{BlobStore, Removed, Verified},
};
use crud::ChunkHashes;
use entity::artifact_blob;
use tokio::sync::{mpsc, oneshot};

use super::{ArtifactChange, Artifacts, chunk_hashes, key, limits};

/// The maximum number of queued new blobs. The periodic verification finds the others.
pub(super) const MAX_WAITING: usize = 64;
const CHUNK: NonZeroUsize =
    NonZeroUsize::new(limits::RECOMMENDED_CHUNK as usize).expect("it is not zero");

/// Verifies new blobs that were uploaded without chunk hashes, until the gateway is dropped.
pub async fn run(artifacts: Weak<Artifacts>, mut new: mpsc::Receiver<artifact_blob::Model>) {
    while let Some(blob) = new.recv().await {
        let Some(artifacts) = artifacts.upgrade() else {
            return;
        };
        match hash_chunks(&artifacts, blob).await {
            Ok(()) => {}
            Err(crud::Error::Closed) => return,
            Err(error) => tracing::warn!(%error, "new bytes cannot be looked at"),
        }
    }
}

/// Verifies a blob unless its chunk hashes are known, because the same bytes may have been uploaded before.
async fn hash_chunks(artifacts: &Artifacts, blob: artifact_blob::Model) -> Result<(), crud::Error> {
    match artifacts.store.artifacts().chunk_hashes(&blob.id).await? {
        Some(_) => Ok(()),
        None => verify(artifacts, blob).await,
    }
}

/// Verifies a blob and records its status, with chunk hashes if there are none yet.
pub(super) async fn verify(
    artifacts: &Artifacts,
    blob: artifact_blob::Model,
) -> Result<(), crud::Error> {
    let rows = artifacts.store.artifacts();
    let is_hashed = rows.chunk_hashes(&blob.id).await?.is_some();
    let Ok(key) = key(&blob.workspace_id, &blob.sha256) else {
        return Ok(());
    };
    let blobs = Arc::clone(&artifacts.blobs);
    let looked = unhurried(move || look_at(&*blobs, &key, is_hashed)).await;
    let (status, chunk_hashes) = match looked {
        Some(Ok(Some(looked))) => looked,
        Some(Ok(None)) | None => return Ok(()),
        Some(Err(error)) => {
            tracing::warn!(%error, "a blob cannot be looked at");
            return Ok(());
        }
    };
    let now = artifacts.sources.clock.now();
    let verified = rows.verified(&blob.id, status, chunk_hashes, now);
    for artifact in verified.await? {
        let change = if status == "ready" {
            tracing::info!(
                artifact = artifact.id,
                "the bytes of an artifact are good again"
            );
            ArtifactChange::Healed
        } else {
            tracing::error!(
                artifact = artifact.id,
                status,
                "the bytes of an artifact are damaged"
            );
            ArtifactChange::Damaged
        };
        let detail = rows.get(&artifact.workspace_id, &artifact.id, None).await?;
        let change = change(detail);
        artifacts.listener.tell(change).await;
    }
    Ok(())
}

/// Returns the status of a blob, and its chunk hashes if they are not known yet. Quarantines damaged bytes. Returns
/// `None` if another process has replaced or removed them meanwhile. Blocks.
fn look_at(
    blobs: &dyn BlobStore,
    key: &BlobKey,
    is_hashed: bool,
) -> Result<Option<(&'static str, Option<ChunkHashes>)>, blobs::Error> {
    let look = || {
        if is_hashed {
            Ok((blobs.verify(key)?, Vec::new()))
        } else {
            blobs.verify_chunks(key, CHUNK)
        }
    };
    let looked = match look()? {
        // A blob that is being replaced is missing for a moment, so it is checked twice.
        (Verified::Missing, _) => look()?,
        looked => looked,
    };
    match looked {
        (Verified::Intact, hashes) => Ok(Some(("ready", chunk_hashes::of_recommended(&hashes)))),
        (Verified::Missing, _) => Ok(Some(("missing", None))),
        (Verified::Damaged, _) => match blobs.quarantine(key)? {
            Removed::Removed => Ok(Some(("quarantined", None))),
            Removed::Kept | Removed::Missing => Ok(None),
        },
    }
}

/// Runs blocking work on a thread of its own, with the lowest priority where the system supports it.
async fn unhurried<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (answer, answered) = oneshot::channel();
    let thread = thread::Builder::new().name("verifier".to_owned());
    let started = thread.spawn(move || {
        // On Linux this sets the priority of the thread; on other systems it would affect the whole process.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::setpriority_process(None, 19);
        let _ = answer.send(work());
    });
    if let Err(error) = started {
        tracing::warn!(%error, "a thread that looks at bytes cannot be started");
    }
    answered.await.ok()
}

#[cfg(test)]
mod tests {
    use std::{fs::OpenOptions, io::Write as _, time::Duration};

    use super::*;
    use crate::testing::{TestHome, sha256_hex};

    fn bytes() -> Vec<u8> {
        (0..600_000u32).map(|number| (number / 7) as u8).collect()
    }

    fn hashes(bytes: &[u8], chunk: usize) -> ChunkHashes {
        ChunkHashes {
            chunk_bytes: i64::try_from(chunk).unwrap(),
            hashes: bytes.chunks(chunk).map(sha256_hex).collect(),
        }
    }

    #[tokio::test]
    async fn bytes_that_came_without_hashes_of_their_chunks_get_some() {
        let home = TestHome::open().await;
        let (artifact, blob) = home.upload(&bytes(), None).await;
        let artifacts = home.store.artifacts();
        let made = async {
            loop {
                if let Some(made) = artifacts.chunk_hashes(&blob).await.unwrap() {
                    return made;
                }
                tokio::task::yield_now().await;
            }
        };
        let made = tokio::time::timeout(Duration::from_secs(60), made).await;
        assert_eq!(made.unwrap(), hashes(&bytes(), 256 << 10));
        let found = artifacts.get("ws_a", &artifact, None).await.unwrap();
        assert_eq!(found.blob.status, "ready");
        assert!(found.blob.last_verified_at.is_some());
    }

    #[tokio::test]
    async fn hashes_that_came_with_the_bytes_stay() {
        let home = TestHome::open().await;
        let (artifact, blob) = home.upload(&bytes(), Some(70_000)).await;
        let artifacts = home.store.artifacts();
        let blob_row = || async { artifacts.get("ws_a", &artifact, None).await.unwrap().blob };
        hash_chunks(&home.artifacts, blob_row().await)
            .await
            .unwrap();
        assert_eq!(blob_row().await.last_verified_at, None, "nobody looked");
        verify(&home.artifacts, blob_row().await).await.unwrap();
        let kept = artifacts.chunk_hashes(&blob).await.unwrap();
        assert_eq!(kept, Some(hashes(&bytes(), 70_000)));
        assert!(blob_row().await.last_verified_at.is_some());
    }

    #[tokio::test]
    async fn damaged_bytes_get_no_hashes_and_are_put_aside() {
        let home = TestHome::open().await;
        let (artifact, blob) = home.upload(&bytes(), Some(70_000)).await;
        let file_path = home.path(&sha256_hex(bytes()));
        let mut file = OpenOptions::new().write(true).open(&file_path).unwrap();
        file.write_all(b"?").unwrap();
        let artifacts = home.store.artifacts();
        let found = artifacts.get("ws_a", &artifact, None).await.unwrap();
        verify(&home.artifacts, found.blob).await.unwrap();
        let found = artifacts.get("ws_a", &artifact, None).await.unwrap();
        assert_eq!(found.blob.status, "quarantined");
        assert_eq!(found.artifact.status, "quarantined");
        assert!(!file_path.exists());
        // The hashes of the intact bytes are kept for a later upload of the same content.
        let kept = artifacts.chunk_hashes(&blob).await.unwrap();
        assert_eq!(kept, Some(hashes(&bytes(), 70_000)));
    }

    #[tokio::test]
    async fn what_was_put_aside_is_not_missing() {
        let home = TestHome::open().await;
        let (artifact, blob) = home.upload(&bytes(), Some(70_000)).await;
        let artifacts = home.store.artifacts();
        let get = || async { artifacts.get("ws_a", &artifact, None).await.unwrap() };
        std::fs::remove_file(home.path(&sha256_hex(bytes()))).unwrap();
        // Another process was faster.
        let aside = artifacts.verified(&blob, "quarantined", None, 1).await;
        assert_eq!(aside.unwrap().len(), 1);
        verify(&home.artifacts, get().await.blob).await.unwrap();
        assert_eq!(get().await.blob.status, "quarantined");
        artifacts.verified(&blob, "ready", None, 1).await.unwrap();
        verify(&home.artifacts, get().await.blob).await.unwrap();
        assert_eq!(get().await.blob.status, "missing");
    }

    #[tokio::test]
    async fn bytes_that_nobody_knows_any_more_are_nobodys() {
        let home = TestHome::open().await;
        let artifacts = home.store.artifacts();
        let late = Some(hashes(&bytes(), 70_000));
        let verified = artifacts.verified("abl_gone", "ready", late, 1).await;
        assert_eq!(verified.unwrap(), []);
        assert_eq!(artifacts.chunk_hashes("abl_gone").await.unwrap(), None);
    }
}
