//! Runs blocking work outside of the async threads.

use super::Error;

/// Runs blocking work on a thread made for it.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let worked = tokio::task::spawn_blocking(work).await;
    worked.map_err(Error::Panicked)
}
