//! Publishes notifications with sequence numbers that stay unique across restarts and processes.

use std::sync::Arc;

use crud::{CrudStore, FIRST_NUMBERS};
use protocol::{ThreadId, workspace::WorkspaceChangedNotification};
use rpc::{Audience, Failure, Hub, NeedsNumbers, Publication};

use crate::rows;

/// The number of sequence numbers reserved at a time. Each reservation is one small database write per workspace.
const BLOCK: u64 = 1024;

/// Publishes notifications to the connections of this process. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Notifier {
    /// Reserves sequence numbers.
    store: CrudStore,
    /// Distributes the notifications.
    hub: Arc<Hub>,
}

impl Notifier {
    pub(crate) fn new(store: CrudStore, hub: Arc<Hub>) -> Self {
        Self { store, hub }
    }

    /// Publishes a notification, first reserving sequence numbers if none are left.
    pub(crate) async fn publish(&self, publication: &Publication) {
        while let Err(NeedsNumbers) = self.hub.publish(publication) {
            if let Err(error) = self.reserve(&publication.stream).await {
                // Notifications are hints: clients read the current state again when they reconnect.
                tracing::warn!(%error, workspace = publication.stream, "a notification is lost");
                return;
            }
        }
    }

    /// Reserves sequence numbers of a workspace that no other process and no earlier start has used.
    pub(crate) async fn reserve(&self, workspace: &str) -> Result<(), crud::Error> {
        let workspaces = self.store.workspaces();
        let first = workspaces
            .reserve_numbers(workspace, BLOCK.cast_signed())
            .await?;
        let first = first.unsigned_abs();
        self.hub.grant(workspace, first..first + BLOCK);
        Ok(())
    }

    /// Uses the sequence numbers that are reserved together with the creation of a workspace by this process.
    pub(crate) fn grant_first(&self, workspace: &str) {
        let first = 1..FIRST_NUMBERS.unsigned_abs() + 1;
        self.hub.grant(workspace, first);
    }
}

/// Builds the `workspace/changed` notification for every connection that may see the workspace.
pub(crate) fn workspace_changed(row: entity::workspace::Model) -> Result<Publication, Failure> {
    let stream = row.id.clone();
    let workspace = rows::workspace(row)?;
    let payload = WorkspaceChangedNotification { workspace };
    Ok(Publication::new(stream, &payload).to(Audience::Everyone))
}

/// Returns the hub topic for run outputs of a workspace.
pub(crate) fn outputs_topic(workspace: &str) -> String {
    format!("outputs {workspace}")
}

/// Returns the hub topic of a thread.
pub(crate) fn thread_topic(thread: &ThreadId) -> String {
    format!("thread {thread}")
}
