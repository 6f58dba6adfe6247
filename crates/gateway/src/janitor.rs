//! Background maintenance of the database: removes old drafts, expired trash and expired desktop sessions, and marks
//! turns of dead processes as interrupted.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use agent::Agent;
use crud::CrudStore;
use protocol::{
    Id as _, Method as _, WorkspaceId, thread::ThreadTreeChangedNotification, trash::TrashPurge,
};
use rpc::Publication;
use sources::Clock;

use crate::{Home, auth::DesktopSessions, notify::Notifier, watch::Watch};

/// The time after which a thread with neither a turn nor a placement is deleted.
const DRAFT_SECONDS: i64 = 24 * 60 * 60;
/// The retention time of items in the trash: 30 days.
pub(crate) const TRASH_SECONDS: i64 = 30 * 24 * 60 * 60;
/// The number of trash items that are purged in one transaction.
const TRASH_BATCH: u64 = 100;
const EVERY: Duration = Duration::from_secs(60);
/// The number of maintenance rounds between two purges of drafts and trash.
const DRAFT_ROUNDS: u64 = 60;

/// Runs the maintenance once a minute until the gateway is dropped.
pub(crate) async fn run(janitor: Weak<Janitor>) {
    let mut rounds = 0u64;
    // Delays the first round so that it does not slow down the start.
    tokio::time::sleep(EVERY).await;
    while let Some(janitor) = janitor.upgrade() {
        if rounds.is_multiple_of(DRAFT_ROUNDS) {
            janitor.purge_drafts().await;
            janitor.purge_trash().await;
        }
        // Another process of the home may have died during a turn.
        if let Err(error) = janitor.recover_turns().await {
            tracing::warn!(%error, "turns of dead processes cannot be marked");
        }
        janitor.tend_desktop_sessions().await;
        drop(janitor);
        rounds += 1;
        tokio::time::sleep(EVERY).await;
    }
}

/// The maintenance of the database of one home.
pub(crate) struct Janitor {
    pub(crate) store: CrudStore,
    pub(crate) notifier: Notifier,
    pub(crate) watch: Arc<Watch>,
    pub(crate) desktop_sessions: Arc<DesktopSessions>,
    pub(crate) agent: Agent,
    pub(crate) clock: Arc<dyn Clock>,
    /// The home directory, used to check which other processes are alive.
    pub(crate) home: Home,
}

impl Janitor {
    /// Marks the turns of processes that have exited as interrupted and returns their number.
    pub(crate) async fn recover_turns(&self) -> Result<usize, agent::Error> {
        self.agent.recover(|owner| self.home.is_alive(owner)).await
    }

    /// Permanently deletes items that have been in the trash for 30 days.
    pub(crate) async fn purge_trash(&self) {
        let before = self.clock.now() - TRASH_SECONDS;
        loop {
            let purged = self.store.trash().purge_expired(before, TRASH_BATCH).await;
            let (count, changed) = match purged {
                Ok(purged) => purged,
                Err(error) => {
                    tracing::warn!(%error, "expired items of the trash cannot be purged");
                    return;
                }
            };
            for (workspace, tree_version) in changed {
                self.tell_purged(&workspace, tree_version).await;
            }
            if count < TRASH_BATCH {
                return;
            }
        }
    }

    /// Extends the desktop sessions that are in use, deletes those that have expired and closes their connections.
    pub(crate) async fn tend_desktop_sessions(&self) {
        let is_in_use = |id: &str| self.watch.has_session(id);
        let now = self.clock.now();
        let tended = self.desktop_sessions.tend(is_in_use, now).await;
        if let Err(error) = tended.and(self.watch.close_revoked().await) {
            tracing::warn!(%error, "expired desktop sessions cannot be ended");
        }
    }

    async fn tell_purged(&self, workspace: &str, tree_version: u64) {
        let Ok(workspace_id) = WorkspaceId::parse(workspace) else {
            return;
        };
        self.watch.told_tree(workspace, tree_version);
        let payload = ThreadTreeChangedNotification {
            workspace_id,
            reason: Some(TrashPurge::NAME.to_owned()),
            tree_version: Some(tree_version),
        };
        let publication = Publication::new(workspace, &payload).coalesced();
        self.notifier.publish(&publication).await;
    }

    async fn purge_drafts(&self) {
        let before = self.clock.now() - DRAFT_SECONDS;
        match self.store.threads().purge_drafts(before).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "deleted expired drafts"),
            Err(error) => tracing::warn!(%error, "expired drafts cannot be deleted"),
        }
    }
}

impl std::fmt::Debug for Janitor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Janitor")
    }
}
