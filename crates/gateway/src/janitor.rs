//! Forgets what nobody will come back for.

use std::{sync::Weak, time::Duration};

use crate::Gateway;

/// How long a thread without a turn and without a place is kept.
const DRAFT_SECONDS: i64 = 24 * 60 * 60;
const EVERY: Duration = Duration::from_secs(60 * 60);
/// A start has better things to do first.
const FIRST: Duration = Duration::from_secs(60);

/// Tidies up from time to time, for as long as the gateway lives.
pub(crate) async fn run(gateway: Weak<Gateway>) {
    tokio::time::sleep(FIRST).await;
    while let Some(gateway) = gateway.upgrade() {
        purge_drafts(&gateway).await;
        drop(gateway);
        tokio::time::sleep(EVERY).await;
    }
}

async fn purge_drafts(gateway: &Gateway) {
    let before = gateway.sources.clock.now() - DRAFT_SECONDS;
    match gateway.store.threads().purge_drafts(before).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "forgot old drafts"),
        Err(error) => tracing::warn!(%error, "old drafts cannot be forgotten"),
    }
}
