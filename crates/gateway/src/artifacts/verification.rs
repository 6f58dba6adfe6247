//! Bytes are looked at again, while the processors have nothing better to do: from time to time, and soon after they
//! came without hashes of their chunks, so that downloads find some.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Weak},
    thread,
};

use blobs::store::{BlobStore as _, Verified};
use crud::ChunkHashes;
use entity::artifact_blob;
use tokio::sync::{mpsc, oneshot};

use super::{chunk_hashes, key};
use crate::Gateway;

/// New bytes that may wait. Those beyond are found in time, with the old ones.
pub(super) const MAX_WAITING: usize = 64;

/// Looks at new bytes that nobody knows the hashes of the chunks of, for as long as the gateway lives.
pub(crate) async fn run(gateway: Weak<Gateway>, mut new: mpsc::Receiver<artifact_blob::Model>) {
    while let Some(blob) = new.recv().await {
        let Some(gateway) = gateway.upgrade() else {
            return;
        };
        let verified = match gateway.store.artifacts().chunk_hashes(&blob.id).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => verify(&gateway, blob).await,
            Err(error) => Err(error),
        };
        if let Err(error) = verified {
            tracing::warn!(%error, "new bytes cannot be looked at");
        }
    }
}

/// Looks at the bytes and writes down what they are like. Damaged ones are put aside.
pub(super) async fn verify(
    gateway: &Arc<Gateway>,
    blob: artifact_blob::Model,
) -> Result<(), crud::Error> {
    let artifacts = gateway.store.artifacts();
    let kept = artifacts.chunk_hashes(&blob.id).await?;
    let chunk = chunk_hashes::size_of(kept.as_ref());
    let (worker, id) = (Arc::clone(gateway), blob.id.clone());
    let looked = unhurried(move || look_at(&worker, &blob, chunk)).await;
    let Some((status, chunk_hashes)) = looked.flatten() else {
        return Ok(());
    };
    let now = gateway.sources.clock.now();
    for artifact in artifacts.verified(&id, status, chunk_hashes, now).await? {
        tracing::error!(
            artifact = artifact.id,
            status,
            "the bytes of an artifact are damaged"
        );
    }
    Ok(())
}

/// What bytes are like, and the hashes of their chunks. Blocks.
fn look_at(
    gateway: &Gateway,
    blob: &artifact_blob::Model,
    chunk: NonZeroUsize,
) -> Option<(&'static str, Option<ChunkHashes>)> {
    let key = key(&blob.workspace_id, &blob.sha256).ok()?;
    match gateway.artifacts.blobs().verify_chunks(&key, chunk) {
        Ok((Verified::Intact, hashes)) => Some(("ready", chunk_hashes::of_chunks(chunk, &hashes))),
        Ok((Verified::Damaged, _)) => {
            if let Err(error) = gateway.artifacts.blobs().quarantine(&key) {
                tracing::warn!(%error, "a damaged blob cannot be put aside");
            }
            Some(("quarantined", None))
        }
        Ok((Verified::Missing, _)) => Some(("missing", None)),
        Err(error) => {
            tracing::warn!(%error, "a blob cannot be looked at");
            None
        }
    }
}

/// Does work that may block on a thread that makes way for all others.
async fn unhurried<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (answer, answered) = oneshot::channel();
    let thread = thread::Builder::new().name("verifier".to_owned());
    let started = thread.spawn(move || {
        // Of this thread; elsewhere it would be that of the whole process.
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
    use crate::{
        Home,
        artifacts::testing::{opened, path, upload},
        sha256_hex,
    };

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
        let folder = tempfile::tempdir().unwrap();
        let (gateway, client) = opened(&Home::open(folder.path()).unwrap()).await;
        let (artifact, blob) = upload(&gateway, &client, &bytes(), None).await;
        let artifacts = gateway.store.artifacts();
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
    async fn hashes_that_came_with_the_bytes_are_compared_and_keep_their_size() {
        let folder = tempfile::tempdir().unwrap();
        let (gateway, client) = opened(&Home::open(folder.path()).unwrap()).await;
        let (artifact, blob) = upload(&gateway, &client, &bytes(), Some(70_000)).await;
        let artifacts = gateway.store.artifacts();
        let wrong = ChunkHashes {
            hashes: "0".repeat(9 * 64),
            ..hashes(&bytes(), 70_000)
        };
        let broken = artifacts.verified(&blob, "ready", Some(wrong), 1).await;
        assert_eq!(broken.unwrap(), []);
        let found = artifacts.get("ws_a", &artifact, None).await.unwrap();
        verify(&gateway, found.blob).await.unwrap();
        let kept = artifacts.chunk_hashes(&blob).await.unwrap();
        assert_eq!(kept, Some(hashes(&bytes(), 70_000)));
    }

    #[tokio::test]
    async fn damaged_bytes_get_no_hashes_and_are_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let (gateway, client) = opened(&home).await;
        let (artifact, blob) = upload(&gateway, &client, &bytes(), Some(70_000)).await;
        let place = path(&home, &sha256_hex(bytes()));
        let mut file = OpenOptions::new().write(true).open(&place).unwrap();
        file.write_all(b"?").unwrap();
        let artifacts = gateway.store.artifacts();
        let found = artifacts.get("ws_a", &artifact, None).await.unwrap();
        verify(&gateway, found.blob).await.unwrap();
        let found = artifacts.get("ws_a", &artifact, None).await.unwrap();
        assert_eq!(found.blob.status, "quarantined");
        assert_eq!(found.artifact.status, "quarantined");
        assert!(!place.exists());
        // Those of the good bytes, for whoever brings them again.
        let kept = artifacts.chunk_hashes(&blob).await.unwrap();
        assert_eq!(kept, Some(hashes(&bytes(), 70_000)));
    }

    #[tokio::test]
    async fn bytes_that_nobody_knows_any_more_are_nobodys() {
        let folder = tempfile::tempdir().unwrap();
        let (gateway, _client) = opened(&Home::open(folder.path()).unwrap()).await;
        let artifacts = gateway.store.artifacts();
        let late = Some(hashes(&bytes(), 70_000));
        let verified = artifacts.verified("abl_gone", "ready", late, 1).await;
        assert_eq!(verified.unwrap(), []);
        assert_eq!(artifacts.chunk_hashes("abl_gone").await.unwrap(), None);
    }
}
