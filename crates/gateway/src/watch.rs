//! Notices what other processes write to the home, and tells our clients within a moment.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use protocol::thread::ThreadTreeChangedNotification;
use rpc::{Closing, ConnectionId, Publication};

use crate::{Gateway, auth::Grant, notify, rows};

/// What our clients have been told, and what they are here by.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    known: Mutex<Known>,
    rejected_frames: AtomicU64,
}

#[derive(Debug, Default)]
struct Known {
    workspaces: BTreeMap<String, entity::workspace::Model>,
    /// What each connection has its rights from, where that can be taken back.
    grants: BTreeMap<ConnectionId, Grant>,
}

impl Watch {
    /// Nothing of what is there already is news.
    pub(crate) fn new(workspaces: &[entity::workspace::Model]) -> Self {
        let watch = Self::default();
        for row in workspaces {
            watch.told_all(row);
        }
        watch
    }

    /// Our own change of a tree needs no second telling.
    pub(crate) fn told_tree(&self, workspace: &str, tree_version: u64) {
        if let Some(row) = self.known().workspaces.get_mut(workspace) {
            row.tree_version = row.tree_version.max(tree_version.cast_signed());
        }
    }

    /// Our own change of a workspace needs no second telling. Its tree may: another process can have changed
    /// it since we looked, and the row carries that version too.
    pub(crate) fn told_workspace(&self, row: &entity::workspace::Model) {
        let mut known = self.known();
        let before = known.workspaces.get(&row.id);
        let mut row = row.clone();
        row.tree_version = before.map_or(0, |before| before.tree_version);
        known.workspaces.insert(row.id.clone(), row);
    }

    /// Everything there is to tell of a row is told. Answers what was known before.
    fn told_all(&self, row: &entity::workspace::Model) -> Option<entity::workspace::Model> {
        self.known().workspaces.insert(row.id.clone(), row.clone())
    }

    pub(crate) fn joined(&self, connection: ConnectionId, grant: &Grant) {
        match grant {
            Grant::Home => {}
            Grant::Session(_) | Grant::Token(_) => {
                self.known().grants.insert(connection, grant.clone());
            }
        }
    }

    pub(crate) fn left(&self, connection: ConnectionId) {
        self.known().grants.remove(&connection);
    }

    pub(crate) fn count_rejected_frame(&self) {
        self.rejected_frames.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn rejected_frames(&self) -> u64 {
        self.rejected_frames.load(Ordering::Relaxed)
    }

    /// Whether a connection is open in the browser of a session.
    pub(crate) fn has_session(&self, id: &str) -> bool {
        let known = self.known();
        known.grants.values().any(|grant| match grant {
            Grant::Session(session) => session.as_str() == id,
            Grant::Home | Grant::Token(_) => false,
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks whenever another process has written, for as long as the gateway lives.
pub(crate) async fn run(gateway: Weak<Gateway>) {
    let Some(mut changes) = gateway
        .upgrade()
        .map(|gateway| gateway.store.foreign_changes())
    else {
        return;
    };
    while changes.changed().await.is_ok() {
        let Some(gateway) = gateway.upgrade() else {
            return;
        };
        let told = tell_workspaces(&gateway).await;
        if let Err(error) = told.and(close_revoked(&gateway).await) {
            tracing::warn!(%error, "what another process wrote cannot be read");
        }
    }
}

async fn tell_workspaces(gateway: &Gateway) -> Result<(), crud::Error> {
    for row in gateway.store.workspaces().list().await? {
        let before = gateway.watch.told_all(&row);
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
        // A row that cannot be shown has been reported when it was read.
        for publication in publications.into_iter().flatten().flatten() {
            notify::publish(gateway, &publication).await;
        }
    }
    Ok(())
}

/// Ends the connections whose token or desktop session has ended.
pub(crate) async fn close_revoked(gateway: &Gateway) -> Result<(), crud::Error> {
    let in_use = gateway.watch.known().grants.clone();
    if in_use.is_empty() {
        return Ok(());
    }
    let tokens = gateway.store.access_tokens().list().await?;
    let tokens: BTreeSet<String> = tokens
        .into_iter()
        .filter(|token| token.revoked_at.is_none())
        .map(|token| token.id)
        .collect();
    let now = gateway.sources.clock.now();
    let sessions = gateway.desktop_sessions.list(now).await?;
    let sessions: BTreeSet<String> = sessions.into_iter().map(|session| session.id).collect();
    gateway.hub.close(Closing::ACCESS_REVOKED, |connection| {
        match in_use.get(&connection) {
            Some(Grant::Token(id)) => !tokens.contains(id),
            Some(Grant::Session(id)) => !sessions.contains(id.as_str()),
            Some(Grant::Home) | None => false,
        }
    });
    Ok(())
}
