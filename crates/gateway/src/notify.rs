//! Publishing: notifications get numbers that survive restarts, then go to whom they concern.

use crud::FIRST_NUMBERS;
use protocol::workspace::WorkspaceChangedNotification;
use rpc::{Audience, Failure, NeedsNumbers, Publication};

use crate::{Gateway, rows};

/// Numbers reserved at a time: one small write per so many notifications of a workspace.
const BLOCK: u64 = 1024;

/// Publishes, reserving numbers first where they are used up.
pub(crate) async fn publish(gateway: &Gateway, publication: &Publication) {
    while let Err(NeedsNumbers) = gateway.hub.publish(publication) {
        if let Err(error) = reserve(gateway, &publication.stream).await {
            // Notifications are hints; clients read the state anyway when they come back.
            tracing::warn!(%error, workspace = publication.stream, "a notification is lost");
            return;
        }
    }
}

/// Gives a workspace numbers that no other process and no earlier start has used.
pub(crate) async fn reserve(gateway: &Gateway, workspace: &str) -> Result<(), crud::Error> {
    let workspaces = gateway.store.workspaces();
    let first = workspaces
        .reserve_numbers(workspace, BLOCK.cast_signed())
        .await?;
    let first = first.unsigned_abs();
    gateway.hub.grant(workspace, first..first + BLOCK);
    Ok(())
}

/// Takes over the numbers that came with a workspace this process has just created.
pub(crate) fn grant_first(gateway: &Gateway, workspace: &str) {
    gateway
        .hub
        .grant(workspace, 1..FIRST_NUMBERS.unsigned_abs() + 1);
}

/// `workspace/changed` for everybody who may see the workspace.
pub(crate) fn workspace_changed(row: entity::workspace::Model) -> Result<Publication, Failure> {
    let stream = row.id.clone();
    let workspace = rows::workspace(row)?;
    let payload = WorkspaceChangedNotification { workspace };
    Ok(Publication::new(stream, &payload).to(Audience::Everyone))
}
