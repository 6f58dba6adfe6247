//! Publishes notifications with sequence numbers that stay unique across restarts and processes.

use crud::FIRST_NUMBERS;
use protocol::workspace::WorkspaceChangedNotification;
use rpc::{Audience, Failure, NeedsNumbers, Publication};

use crate::{Gateway, rows};

/// The number of sequence numbers reserved at a time. Each reservation is one small database write per workspace.
const BLOCK: u64 = 1024;

/// Publishes a notification, first reserving sequence numbers if none are left.
pub(crate) async fn publish(gateway: &Gateway, publication: &Publication) {
    while let Err(NeedsNumbers) = gateway.hub.publish(publication) {
        if let Err(error) = reserve(gateway, &publication.stream).await {
            // Notifications are hints: clients read the current state again when they reconnect.
            tracing::warn!(%error, workspace = publication.stream, "a notification is lost");
            return;
        }
    }
}

/// Reserves sequence numbers of a workspace that no other process and no earlier start has used.
pub(crate) async fn reserve(gateway: &Gateway, workspace: &str) -> Result<(), crud::Error> {
    let workspaces = gateway.store.workspaces();
    let first = workspaces
        .reserve_numbers(workspace, BLOCK.cast_signed())
        .await?;
    let first = first.unsigned_abs();
    gateway.hub.grant(workspace, first..first + BLOCK);
    Ok(())
}

/// Uses the sequence numbers that are reserved together with the creation of a workspace by this process.
pub(crate) fn grant_first(gateway: &Gateway, workspace: &str) {
    gateway
        .hub
        .grant(workspace, 1..FIRST_NUMBERS.unsigned_abs() + 1);
}

/// Builds the `workspace/changed` notification for every connection that may see the workspace.
pub(crate) fn workspace_changed(row: entity::workspace::Model) -> Result<Publication, Failure> {
    let stream = row.id.clone();
    let workspace = rows::workspace(row)?;
    let payload = WorkspaceChangedNotification { workspace };
    Ok(Publication::new(stream, &payload).to(Audience::Everyone))
}
