//! Builds and publishes the notifications about artifacts.

use std::{collections::BTreeSet, future::Future, pin::Pin, sync::Arc};

use artifacts::{ArtifactChange, ArtifactListener};
use crud::{ArtifactDetail, FinishedUpload};
use entity::artifact_projection;
use protocol::{
    Notification, ThreadId,
    artifact::{
        ArtifactCreatedNotification, ArtifactProjectionUpdatedNotification, ArtifactRef,
        ArtifactSummary, ArtifactUpdatedNotification, ThreadArtifactsChangedNotification,
    },
};
use rpc::{Audience, Failure, Publication};
use sources::Clock;

use crate::{
    notify::{Notifier, outputs_topic},
    rows,
};

/// Notifies clients of the changes that background tasks make to artifacts.
#[derive(Clone)]
pub(crate) struct ArtifactNotifications {
    notifier: Notifier,
    clock: Arc<dyn Clock>,
}

impl ArtifactNotifications {
    pub(crate) fn new(notifier: Notifier, clock: Arc<dyn Clock>) -> Self {
        Self { notifier, clock }
    }

    /// Publishes the notifications of a completed artifact and returns its reference.
    pub(crate) async fn publish_finished(
        &self,
        finished: FinishedUpload,
    ) -> Result<ArtifactRef, Failure> {
        let (artifact, publications) = announce(self.clock.now(), finished)?;
        for publication in &publications {
            self.notifier.publish(publication).await;
        }
        Ok(artifact)
    }

    async fn publish_change(&self, change: ArtifactChange) {
        let publications = match change {
            ArtifactChange::Healed(detail) => updated(self.clock.now(), detail, "healed"),
            ArtifactChange::Damaged(detail) => updated(self.clock.now(), detail, "damaged"),
            ArtifactChange::Projected(row) => {
                // Rows that cannot be converted were already reported when they were read.
                let Ok(payload) = projection_updated(&row) else {
                    return;
                };
                let stream = payload.workspace_id.as_str();
                Ok(vec![Publication::new(stream, &payload)])
            }
        };
        match publications {
            Ok(publications) => {
                for publication in &publications {
                    self.notifier.publish(publication).await;
                }
            }
            Err(failure) => tracing::warn!(?failure, "a changed artifact cannot be announced"),
        }
    }
}

impl ArtifactListener for ArtifactNotifications {
    fn tell(&self, change: ArtifactChange) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.publish_change(change))
    }
}

impl std::fmt::Debug for ArtifactNotifications {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ArtifactNotifications")
    }
}

/// Returns the reference of a completed artifact, and the notifications for a new artifact, a new version and healed
/// artifacts.
///
/// All subscribers of the workspace receive them, because file lists are shown outside of the thread too.
pub(crate) fn announce(
    now: i64,
    finished: FinishedUpload,
) -> Result<(ArtifactRef, Vec<Publication>), Failure> {
    let is_first = finished.detail.version.version_number == 1;
    let thread = finished.detail.artifact.primary_thread_id.clone();
    let bindings = finished.detail.bindings.iter();
    let reason = bindings
        .map(|binding| binding.binding_kind.as_str())
        .find(|kind| ["task_result", "agent_output"].contains(kind))
        .unwrap_or("user_upload")
        .to_owned();
    let is_output = crud::is_run_output(&finished.detail.artifact);
    let summary = rows::artifact_summary(finished.detail)?;
    let artifact = summary.artifact.clone();
    if !finished.is_new {
        return Ok((artifact, Vec::new()));
    }
    let mut publications = Vec::new();
    if is_first {
        let workspace_id = summary.workspace_id.clone();
        let created = ArtifactCreatedNotification {
            workspace_id: workspace_id.clone(),
            artifact: summary,
        };
        publications.push(about(workspace_id.as_str(), is_output, &created));
        if let Some(thread) = thread {
            let thread_id = rows::thread_id(&thread)?;
            let changed = changed(now, &created.artifact, thread_id, &reason);
            publications.push(changed);
        }
    } else {
        publications.extend(updates(now, summary, is_output, "new_version"));
    }
    for healed in finished.healed {
        publications.extend(updated(now, healed, "healed")?);
    }
    Ok((artifact, publications))
}

/// Returns the notifications of a changed artifact: for itself and for the lists of the threads it is bound to.
fn updated(now: i64, detail: ArtifactDetail, reason: &str) -> Result<Vec<Publication>, Failure> {
    let is_output = crud::is_run_output(&detail.artifact);
    let summary = rows::artifact_summary(detail)?;
    Ok(updates(now, summary, is_output, reason))
}

/// A notification about an artifact, for those who may see it.
pub(crate) fn about<N: Notification>(workspace: &str, is_output: bool, payload: &N) -> Publication {
    let publication = Publication::new(workspace, payload);
    if is_output {
        publication.to(Audience::Topic(outputs_topic(workspace)))
    } else {
        publication
    }
}

fn updates(now: i64, summary: ArtifactSummary, is_output: bool, reason: &str) -> Vec<Publication> {
    let bound = summary.bindings.iter();
    let bound: BTreeSet<ThreadId> = bound.filter_map(|bound| bound.thread_id.clone()).collect();
    let workspace_id = summary.workspace_id.clone();
    let updated = ArtifactUpdatedNotification {
        workspace_id: workspace_id.clone(),
        artifact: summary,
    };
    let mut publications = vec![about(workspace_id.as_str(), is_output, &updated)];
    for thread in bound {
        publications.push(changed(now, &updated.artifact, thread, reason));
    }
    publications
}

/// Returns the notification that an artifact changed the list of a thread.
fn changed(now: i64, summary: &ArtifactSummary, thread_id: ThreadId, reason: &str) -> Publication {
    let changed = ThreadArtifactsChangedNotification {
        workspace_id: summary.workspace_id.clone(),
        thread_id,
        artifact_ids: vec![summary.artifact.artifact_id.clone()],
        reason: reason.to_owned(),
        generated_at: now,
    };
    Publication::new(summary.workspace_id.as_str(), &changed)
}

fn projection_updated(
    row: &artifact_projection::Model,
) -> Result<ArtifactProjectionUpdatedNotification, Failure> {
    Ok(ArtifactProjectionUpdatedNotification {
        workspace_id: rows::workspace_id(&row.workspace_id)?,
        artifact_id: rows::artifact_id(&row.artifact_id)?,
        version_id: rows::version_id(&row.artifact_version_id)?,
        projection_kind: rows::parsed(&row.projection_kind)?,
        status: rows::parsed(&row.status)?,
        updated_at: row.updated_at,
    })
}
