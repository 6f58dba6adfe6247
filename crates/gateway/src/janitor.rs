//! Forgets what nobody will come back for.

use std::{sync::Weak, time::Duration};

use crate::Gateway;

/// How long a thread without a turn and without a place is kept.
const DRAFT_SECONDS: i64 = 24 * 60 * 60;
const EVERY: Duration = Duration::from_secs(60);
/// Old drafts are looked for once in so many rounds.
const DRAFT_ROUNDS: u64 = 60;

/// Tidies up from time to time, for as long as the gateway lives.
pub(crate) async fn run(gateway: Weak<Gateway>) {
    let mut rounds = 0u64;
    // A start has better things to do first.
    tokio::time::sleep(EVERY).await;
    while let Some(gateway) = gateway.upgrade() {
        if rounds.is_multiple_of(DRAFT_ROUNDS) {
            purge_drafts(&gateway).await;
        }
        // Another process of the home may have died with a turn under way.
        if let Err(error) = gateway.recover_turns().await {
            tracing::warn!(%error, "turns of dead processes cannot be marked");
        }
        drop(gateway);
        rounds += 1;
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
