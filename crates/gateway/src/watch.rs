//! Detects changes that other processes make in the home and notifies the clients of this process.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use crud::CrudStore;
use protocol::thread::ThreadTreeChangedNotification;
use rpc::{Closing, ConnectionId, Hub, Publication};
use sources::Clock;

use crate::{
    auth::{DesktopSessions, Grant},
    notify::{self, Notifier},
    rows,
};

/// The workspace state last published to the clients of this process, and the revocable grants of its connections.
pub(crate) struct Watch {
    services: WatchServices,
    published: Mutex<Published>,
    rejected_frames: AtomicU64,
}

/// The services that [`Watch`] uses.
pub(crate) struct WatchServices {
    pub(crate) store: CrudStore,
    pub(crate) hub: Arc<Hub>,
    pub(crate) notifier: Notifier,
    pub(crate) desktop_sessions: Arc<DesktopSessions>,
    pub(crate) clock: Arc<dyn Clock>,
}

#[derive(Debug, Default)]
struct Published {
    workspaces: BTreeMap<String, entity::workspace::Model>,
    /// The revocable grant of each connection: its token or its desktop session.
    grants: BTreeMap<ConnectionId, Grant>,
}

impl Watch {
    /// Creates the record from the workspaces that exist at startup; they are not published as changes.
    pub(crate) fn new(services: WatchServices, workspaces: &[entity::workspace::Model]) -> Self {
        let watch = Self {
            services,
            published: Mutex::default(),
            rejected_frames: AtomicU64::default(),
        };
        for row in workspaces {
            watch.told_all(row);
        }
        watch
    }

    /// Records a tree version that this process has published, so that it is not published again.
    pub(crate) fn told_tree(&self, workspace: &str, tree_version: u64) {
        if let Some(row) = self.published().workspaces.get_mut(workspace) {
            row.tree_version = row.tree_version.max(tree_version.cast_signed());
        }
    }

    /// Records a workspace change that this process has published, so that it is not published again.
    ///
    /// Keeps the recorded tree version: another process may have changed the tree in the meantime, and that change
    /// still has to be published.
    pub(crate) fn told_workspace(&self, row: &entity::workspace::Model) {
        let mut published = self.published();
        let before = published.workspaces.get(&row.id);
        let mut row = row.clone();
        row.tree_version = before.map_or(0, |before| before.tree_version);
        published.workspaces.insert(row.id.clone(), row);
    }

    /// Records a row as fully published and returns the previously recorded row.
    fn told_all(&self, row: &entity::workspace::Model) -> Option<entity::workspace::Model> {
        self.published()
            .workspaces
            .insert(row.id.clone(), row.clone())
    }

    pub(crate) fn joined(&self, connection: ConnectionId, grant: &Grant) {
        match grant {
            Grant::Home => {}
            Grant::Session(_) | Grant::Token(_) => {
                self.published().grants.insert(connection, grant.clone());
            }
        }
    }

    pub(crate) fn left(&self, connection: ConnectionId) {
        self.published().grants.remove(&connection);
    }

    pub(crate) fn count_rejected_frame(&self) {
        self.rejected_frames.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn rejected_frames(&self) -> u64 {
        self.rejected_frames.load(Ordering::Relaxed)
    }

    /// Returns whether a connection of the given desktop session is open.
    pub(crate) fn has_session(&self, id: &str) -> bool {
        let published = self.published();
        published.grants.values().any(|grant| match grant {
            Grant::Session(session) => session.as_str() == id,
            Grant::Home | Grant::Token(_) => false,
        })
    }

    fn published(&self) -> MutexGuard<'_, Published> {
        self.published
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes the workspaces and trees that changed since they were last published.
    async fn tell_workspaces(&self) -> Result<(), crud::Error> {
        for row in self.services.store.workspaces().list().await? {
            let before = self.told_all(&row);
            let shown =
                |row: &entity::workspace::Model| (row.name.clone(), row.is_active, row.is_current);
            let version = before.as_ref().map(|before| before.tree_version);
            let publications = [
                (before.as_ref().map(shown) != Some(shown(&row)))
                    .then(|| notify::workspace_changed(row.clone())),
                (version.unwrap_or(0) < row.tree_version).then(|| {
                    let payload = ThreadTreeChangedNotification {
                        workspace_id: rows::workspace_id(&row.id)?,
                        reason: Some("external".to_owned()),
                        tree_version: Some(row.tree_version.unsigned_abs()),
                    };
                    Ok(Publication::new(row.id.as_str(), &payload).coalesced())
                }),
            ];
            // Rows that cannot be converted were already reported when they were read.
            for publication in publications.into_iter().flatten().flatten() {
                self.services.notifier.publish(&publication).await;
            }
        }
        Ok(())
    }

    /// Closes the connections whose token was revoked or whose desktop session has ended.
    pub(crate) async fn close_revoked(&self) -> Result<(), crud::Error> {
        let in_use = self.published().grants.clone();
        if in_use.is_empty() {
            return Ok(());
        }
        let tokens = self.services.store.access_tokens().list().await?;
        let tokens: BTreeSet<String> = tokens
            .into_iter()
            .filter(|token| token.revoked_at.is_none())
            .map(|token| token.id)
            .collect();
        let now = self.services.clock.now();
        let sessions = self.services.desktop_sessions.list(now).await?;
        let sessions: BTreeSet<String> = sessions.into_iter().map(|session| session.id).collect();
        self.services
            .hub
            .close(Closing::ACCESS_REVOKED, |connection| {
                match in_use.get(&connection) {
                    Some(Grant::Token(id)) => !tokens.contains(id),
                    Some(Grant::Session(id)) => !sessions.contains(id.as_str()),
                    Some(Grant::Home) | None => false,
                }
            });
        Ok(())
    }
}

/// Publishes the changes of other processes whenever they write to the database, until the gateway is dropped.
pub(crate) async fn run(watch: Weak<Watch>) {
    let changes = watch
        .upgrade()
        .map(|watch| watch.services.store.foreign_changes());
    let Some(mut changes) = changes else {
        return;
    };
    while changes.changed().await.is_ok() {
        let Some(watch) = watch.upgrade() else {
            return;
        };
        let told = watch.tell_workspaces().await;
        if let Err(error) = told.and(watch.close_revoked().await) {
            tracing::warn!(%error, "changes of another process cannot be read");
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Watch")
    }
}
