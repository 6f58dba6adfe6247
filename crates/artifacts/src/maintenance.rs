//! Background maintenance of artifacts: removes expired uploads and purged artifacts, and verifies stored bytes.

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
    time::{Duration, SystemTime},
};

use blobs::{
    key::ContentHash,
    store::{BlobStore as _, LocalBlobs},
};
use entity::artifact_blob;

use super::{Artifacts, blocking::blocking, key, verification};

const EVERY: Duration = Duration::from_secs(10 * 60);
/// The time for which a deleted artifact can be restored, in seconds.
const KEEP_DELETED: i64 = 30 * 24 * 3600;
/// The time for which unreferenced blobs are kept, in seconds.
const KEEP_BLOBS: i64 = 24 * 3600;
/// The interval between two verifications of a blob, in seconds.
const VERIFY_EVERY: i64 = 7 * 24 * 3600;
/// The number of rounds between two comparisons of the files with the database.
const COLLECT_ROUNDS: u64 = 24 * 6;
/// The maximum number of items processed in one round.
const BATCH: u64 = 64;

/// Runs the maintenance every ten minutes until the gateway is dropped.
pub async fn run(artifacts: Weak<Artifacts>) {
    for number in 0u64.. {
        // Delays the first round so that it does not slow down the start.
        tokio::time::sleep(EVERY).await;
        let Some(artifacts) = artifacts.upgrade() else {
            return;
        };
        if let Err(error) = round(&artifacts).await {
            tracing::warn!(%error, "artifacts cannot be tidied up");
        }
        if number % COLLECT_ROUNDS == 0
            && let Err(error) = collect(&artifacts).await
        {
            tracing::warn!(%error, "files of artifacts cannot be collected");
        }
    }
}

async fn round(artifacts: &Arc<Artifacts>) -> Result<(), crud::Error> {
    let (rows, now) = (artifacts.store.artifacts(), artifacts.sources.clock.now());
    for session in rows.expired_uploads(now).await? {
        let (discarding, id) = (Arc::clone(artifacts), session.id.clone());
        let discarded = blocking(move || discarding.discard(&session)).await;
        if matches!(discarded, Ok(Ok(()))) {
            rows.remove_upload(&id).await?;
            artifacts.discarded(&id);
        }
    }
    rows.purge(now - KEEP_DELETED, BATCH).await?;
    for blob in rows.forget_blobs(now - KEEP_BLOBS, BATCH).await? {
        let blobs = Arc::clone(&artifacts.blobs);
        let _ = blocking(move || remove(&blobs, &blob)).await;
    }
    for blob in rows.least_verified(now - VERIFY_EVERY, BATCH).await? {
        verification::verify(artifacts, blob).await?;
    }
    Ok(())
}

/// Removes files without a database row: a process may have died between creating a file and recording it.
///
/// Files in creation are safe. The file of an upload is created after its row, and the files are listed before the rows
/// are read. A blob is touched directly before its row is written, and only blobs untouched for a day are removed.
async fn collect(artifacts: &Artifacts) -> Result<(), crud::Error> {
    let rows = artifacts.store.artifacts();
    let blobs = Arc::clone(&artifacts.blobs);
    let workspaces = blocking(move || blobs.list_workspaces()).await;
    let Ok(Ok(workspaces)) = workspaces else {
        tracing::warn!("the folders of artifacts cannot be listed");
        return Ok(());
    };
    for workspace in workspaces {
        let (blobs, of) = (Arc::clone(&artifacts.blobs), workspace.clone());
        let uploads = blocking(move || blobs.list_uploads(&of)).await;
        let uploads = uploads.ok().and_then(Result::ok).unwrap_or_default();
        let ids = uploads.iter().map(|upload| upload.as_str().to_owned());
        let known = rows.known_uploads(ids.collect()).await?;
        let hashes = rows.blob_hashes(workspace.as_str()).await?;
        let blobs = Arc::clone(&artifacts.blobs);
        let swept = blocking(move || {
            for upload in uploads
                .iter()
                .filter(|upload| !known.contains(upload.as_str()))
            {
                blobs.remove_upload(&workspace, upload)?;
            }
            let live = hashes.iter().map(|hash| ContentHash::parse(hash));
            let live = live.collect::<Result<BTreeSet<_>, _>>()?;
            let (now, min_age) = (
                system_time(),
                Duration::from_secs(KEEP_BLOBS.unsigned_abs()),
            );
            blobs.remove_temporaries(&workspace, now - min_age)?;
            blobs::collect::collect(&*blobs, &workspace, &live, now, min_age)
        })
        .await;
        match swept {
            Ok(Ok(collected)) if collected.removed_blobs == 0 => {}
            Ok(Ok(collected)) => tracing::info!(?collected, "removed files nothing refers to"),
            Ok(Err(error)) => tracing::warn!(%error, "a workspace cannot be collected"),
            Err(error) => tracing::warn!(%error, "a workspace cannot be collected"),
        }
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "files carry the time of the system"
)]
fn system_time() -> SystemTime {
    SystemTime::now()
}

/// Removes the file of an unreferenced blob, unless the same bytes were uploaded again recently. Blocks.
fn remove(blobs: &LocalBlobs, blob: &artifact_blob::Model) {
    let before = system_time() - Duration::from_secs(KEEP_BLOBS.unsigned_abs());
    let removed = key(&blob.workspace_id, &blob.sha256)
        .and_then(|key| blobs.remove_untouched_since(&key, before));
    if let Err(error) = removed {
        tracing::warn!(%error, "the file of a blob cannot be removed");
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, path::PathBuf};

    use blobs::key::{BlobKey, UploadSegment, WorkspaceSegment};

    use super::*;
    use crate::testing::{TestHome, sha256_hex};

    fn make_old(path: &PathBuf) {
        let file = File::options().write(true).open(path).unwrap();
        let day = Duration::from_secs(KEEP_BLOBS.unsigned_abs() + 60);
        file.set_modified(system_time() - day).unwrap();
    }

    #[tokio::test]
    async fn the_hashes_of_chunks_go_with_their_bytes() {
        let home = TestHome::open().await;
        let (artifact, blob) = home.upload(&[7; 100_000], Some(70_000)).await;
        let artifacts = home.store.artifacts();
        assert!(artifacts.chunk_hashes(&blob).await.unwrap().is_some());

        artifacts.delete("ws_a", &artifact, 1).await.unwrap();
        assert_eq!(artifacts.purge(2, BATCH).await.unwrap(), 1);
        let forgotten = artifacts.forget_blobs(i64::MAX, BATCH).await.unwrap();
        assert_eq!(forgotten.len(), 1);
        assert_eq!(artifacts.chunk_hashes(&blob).await.unwrap(), None);
    }

    #[tokio::test]
    async fn files_nobody_knows_go_and_all_others_stay() {
        let home = TestHome::open().await;
        let workspace = WorkspaceSegment::new("ws_a").unwrap();
        let blobs = &home.artifacts.blobs;
        let put = |bytes: &[u8]| -> BlobKey { blobs.put(&workspace, bytes).unwrap().key };

        // The bytes of an artifact, the bytes left by a dead process, and bytes whose row is about to be written.
        put(b"known");
        let session = home.start("known", b"known").await;
        home.finish(session).await;
        let [known, orphan, young, found_again] =
            [b"known".as_slice(), b"orphan", b"young", b"found again"].map(|bytes| {
                put(bytes);
                home.path(&sha256_hex(bytes))
            });
        for old in [&known, &orphan, &found_again] {
            make_old(old);
        }
        let again = super::key("ws_a", &sha256_hex(b"found again")).unwrap();
        assert!(blobs.keep(&again, 11).unwrap());
        // An upload in progress, and the file of an upload that no longer exists.
        let open = home.start("open", b"open").await;
        for id in [open.id.as_str(), "upl_gone"] {
            let id = UploadSegment::new(id).unwrap();
            blobs::upload::Upload::create(blobs, &workspace, &id).unwrap();
        }

        collect(&home.artifacts).await.unwrap();
        let exist = [&known, &orphan, &young, &found_again].map(|path| path.exists());
        assert_eq!(exist, [true, false, true, true]);
        let left = blobs.list_uploads(&workspace).unwrap();
        let left: Vec<_> = left.iter().map(|id| id.as_str().to_owned()).collect();
        assert_eq!(left, [open.id.as_str()]);
    }
}
