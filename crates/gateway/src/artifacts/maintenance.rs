//! What happens to artifacts while nobody looks: uploads expire, deleted ones go, bytes are checked.

use std::{
    sync::{Arc, Weak},
    time::{Duration, SystemTime},
};

use blobs::store::{BlobStore as _, Verified};
use entity::artifact_blob;

use super::key;
use crate::Gateway;

const EVERY: Duration = Duration::from_secs(10 * 60);
/// Deleted artifacts can be restored for this long.
const KEEP_DELETED: i64 = 30 * 24 * 3600;
/// Bytes that nothing refers to are kept for this long.
const KEEP_BLOBS: i64 = 24 * 3600;
/// Bytes are looked at this often.
const VERIFY_EVERY: i64 = 7 * 24 * 3600;
/// Things done in one round.
const BATCH: u64 = 64;

/// Tidies up from time to time, for as long as the gateway lives.
pub(crate) async fn run(gateway: Weak<Gateway>) {
    loop {
        // A start has better things to do first.
        tokio::time::sleep(EVERY).await;
        let Some(gateway) = gateway.upgrade() else {
            return;
        };
        if let Err(error) = round(&gateway).await {
            tracing::warn!(%error, "artifacts cannot be tidied up");
        }
    }
}

async fn round(gateway: &Arc<Gateway>) -> Result<(), crud::Error> {
    let (artifacts, now) = (gateway.store.artifacts(), gateway.sources.clock.now());
    for session in artifacts.expired_uploads(now).await? {
        let (worker, id) = (Arc::clone(gateway), session.id.clone());
        let discarded =
            tokio::task::spawn_blocking(move || worker.artifacts.discard(&session)).await;
        if matches!(discarded, Ok(Ok(()))) {
            artifacts.remove_upload(&id).await?;
            gateway.artifacts.discarded(&id);
        }
    }
    artifacts.purge(now - KEEP_DELETED, BATCH).await?;
    for blob in artifacts.forget_blobs(now - KEEP_BLOBS, BATCH).await? {
        let worker = Arc::clone(gateway);
        let _ = tokio::task::spawn_blocking(move || remove(&worker, &blob)).await;
    }
    for blob in artifacts.least_verified(now - VERIFY_EVERY, BATCH).await? {
        let (worker, id) = (Arc::clone(gateway), blob.id.clone());
        let status = tokio::task::spawn_blocking(move || verify(&worker, &blob)).await;
        if let Ok(Some(status)) = status {
            for artifact in artifacts.verified(&id, status, now).await? {
                tracing::error!(
                    artifact = artifact.id,
                    status,
                    "the bytes of an artifact are damaged"
                );
            }
        }
    }
    Ok(())
}

/// Removes a file that nothing refers to, unless somebody has just uploaded the same bytes again. Blocks.
fn remove(gateway: &Gateway, blob: &artifact_blob::Model) {
    #[expect(
        clippy::disallowed_methods,
        reason = "files carry the time of the system"
    )]
    let before = SystemTime::now() - Duration::from_secs(KEEP_BLOBS.unsigned_abs());
    let removed = key(&blob.workspace_id, &blob.sha256).and_then(|key| {
        gateway
            .artifacts
            .blobs()
            .remove_untouched_since(&key, before)
    });
    if let Err(error) = removed {
        tracing::warn!(%error, "the file of a blob cannot be removed");
    }
}

/// Looks at the bytes; damaged ones are put aside. Blocks.
fn verify(gateway: &Gateway, blob: &artifact_blob::Model) -> Option<&'static str> {
    let key = key(&blob.workspace_id, &blob.sha256).ok()?;
    match gateway.artifacts.blobs().verify(&key) {
        Ok(Verified::Intact) => Some("ready"),
        Ok(Verified::Damaged) => {
            if let Err(error) = gateway.artifacts.blobs().quarantine(&key) {
                tracing::warn!(%error, "a damaged blob cannot be put aside");
            }
            Some("quarantined")
        }
        Ok(Verified::Missing) => Some("missing"),
        Err(error) => {
            tracing::warn!(%error, "a blob cannot be looked at");
            None
        }
    }
}
