//! Renders projections (previews and extracted text) of artifacts in child processes.

use std::{
    ffi::OsString,
    sync::{Arc, Weak},
    time::Duration,
};

use blobs::{
    key::ContentHash,
    projection::{Projection, ProjectionError, ProjectionKind, Workers},
    store::BlobStore as _,
};
use crud::{ProjectionResult, ProjectionWork};

use super::{ArtifactChange, Artifacts, blocking::blocking, key};

/// The maximum number of projections processed at a time.
const BATCH: u64 = 16;
/// The polling interval, because another process of the home may have left pending projections.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Renders pending projections until the gateway is dropped.
pub async fn run(artifacts: Weak<Artifacts>, worker: Option<Vec<OsString>>) {
    let Some((program, arguments)) = worker.as_deref().and_then(<[_]>::split_first) else {
        return;
    };
    let arguments: Vec<&str> = arguments
        .iter()
        .filter_map(|argument| argument.to_str())
        .collect();
    let workers = Arc::new(Workers::new(program, &arguments));
    if let Some(artifacts) = artifacts.upgrade() {
        outdate(&artifacts).await;
    }
    loop {
        {
            let Some(artifacts) = artifacts.upgrade() else {
                return;
            };
            while make_batch(&artifacts, &workers).await {}
        }
        let Some(artifacts) = artifacts.upgrade() else {
            return;
        };
        let waiting = tokio::time::timeout(LOOK_EVERY, artifacts.projections.notified());
        let _ = waiting.await;
    }
}

/// Marks projections made by an older extractor as stale, so that they are rendered again.
async fn outdate(artifacts: &Artifacts) {
    let (rows, now) = (artifacts.store.artifacts(), artifacts.sources.clock.now());
    for kind in ProjectionKind::ALL {
        let outdated = rows
            .outdate_projections(kind.as_str(), kind.extractor(), now)
            .await;
        if let Err(error) = outdated {
            tracing::warn!(%error, "old projections cannot be looked for");
        }
    }
}

/// Renders a batch of pending projections. Returns whether there may be more.
async fn make_batch(artifacts: &Arc<Artifacts>, workers: &Arc<Workers>) -> bool {
    let pending = match artifacts.store.artifacts().pending_projections(BATCH).await {
        Ok(pending) => pending,
        Err(error) => {
            tracing::warn!(%error, "projections cannot be looked for");
            return false;
        }
    };
    let found = pending.len();
    let made = pending
        .into_iter()
        .map(|work| make(Arc::clone(artifacts), Arc::clone(workers), work));
    let all_stored = futures_util::future::join_all(made)
        .await
        .into_iter()
        .all(|stored| stored);
    // A projection that could not be stored stays pending and is found again later.
    found > 0 && all_stored
}

/// Renders one projection and notifies the subscribers. Returns whether the result was stored.
async fn make(artifacts: Arc<Artifacts>, workers: Arc<Workers>, work: ProjectionWork) -> bool {
    let (rows, maker) = (artifacts.store.artifacts(), Arc::clone(&artifacts));
    let id = work.projection.id.clone();
    let made = blocking(move || project(&maker, &workers, &work)).await;
    let result = made.unwrap_or_else(|_| ProjectionResult::Failed {
        class: "crashed".to_owned(),
    });
    let now = artifacts.sources.clock.now();
    match rows.finish_projection(&id, result, now).await {
        Ok(row) => {
            artifacts.projected.notify_waiters();
            artifacts
                .listener
                .tell(ArtifactChange::Projected(row))
                .await;
            true
        }
        Err(error) => {
            tracing::warn!(%error, "a projection cannot be stored");
            false
        }
    }
}

/// Renders one projection. Blocks until the worker process has exited.
fn project(artifacts: &Artifacts, workers: &Workers, work: &ProjectionWork) -> ProjectionResult {
    let failed = |class: &str| ProjectionResult::Failed {
        class: class.to_owned(),
    };
    let Some(kind) = ProjectionKind::parse(&work.projection.projection_kind) else {
        return failed("unknown_kind");
    };
    let store = &artifacts.blobs;
    let source =
        key(&work.source.workspace_id, &work.source.sha256).and_then(|key| store.open(&key));
    let Ok(source) = source else {
        return failed("missing");
    };
    let projection = match workers.run(kind, source) {
        Ok(projection) => projection,
        Err(ProjectionError { class, .. }) => return failed(class),
    };
    let Projection {
        text,
        bytes,
        mime,
        metadata,
    } = projection;
    let metadata = serde_json::Value::Object(metadata).to_string();
    if let Some(text) = text {
        return ProjectionResult::Text {
            sha256: ContentHash::of(text.as_bytes()).to_string(),
            text,
            mime_type: mime,
            metadata,
        };
    }
    let bytes = bytes.unwrap_or_default();
    let stored = key(&work.source.workspace_id, &work.source.sha256)
        .and_then(|key| store.put(key.workspace(), &bytes));
    match stored {
        Ok(stored) => ProjectionResult::Blob {
            new_id: format!("abl_{}", artifacts.sources.ids.suffix()),
            sha256: stored.key.sha256().to_string(),
            size_bytes: i64::try_from(stored.size).unwrap_or(i64::MAX),
            mime_type: mime,
            metadata,
        },
        Err(error) => {
            tracing::warn!(%error, "the bytes of a projection cannot be stored");
            failed("not_stored")
        }
    }
}
